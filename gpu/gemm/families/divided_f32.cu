// A family of gemm's launches: the depth of tiles in parts, fp32.
#include "gpu/gemm/families/divided_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_DIVIDED_F32(template)

}  // namespace gemm
}  // namespace plumb
