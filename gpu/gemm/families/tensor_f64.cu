// A family of gemm's launches (families.hpp): a block for each tile, fp64 on tensor cores.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

#define PLUMB_DEFINE(S) PLUMB_GEMM_RUN_TENSOR(template, S)
PLUMB_GEMM_TENSOR(PLUMB_DEFINE)
#undef PLUMB_DEFINE

}  // namespace gemm
}  // namespace plumb
