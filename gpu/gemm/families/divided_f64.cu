// A family of gemm's launches: the depth of tiles in parts, fp64.
#include "gpu/gemm/families/divided_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_DIVIDED_F64(template)

}  // namespace gemm
}  // namespace plumb
