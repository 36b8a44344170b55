// A family of gemm's launches: a block for each tile, fp32.
#include "gpu/gemm/families/multistage_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_MULTISTAGE(template)

}  // namespace gemm
}  // namespace plumb
