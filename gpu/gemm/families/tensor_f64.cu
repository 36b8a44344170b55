// A family of gemm's launches: a block for each tile, fp64 on tensor cores.
#include "gpu/gemm/families/tensor_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_TENSOR(template)

}  // namespace gemm
}  // namespace plumb
