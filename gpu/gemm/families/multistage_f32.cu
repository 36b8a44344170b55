// A family of gemm's launches (families.hpp): a block for each tile, fp32.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

#define PLUMB_DEFINE(S) PLUMB_GEMM_RUN_MULTISTAGE(template, S)
PLUMB_GEMM_MULTISTAGE(PLUMB_DEFINE)
#undef PLUMB_DEFINE

}  // namespace gemm
}  // namespace plumb
