// A family of gemm's launches: tiles whose columns fit C, fp64.
#include "gpu/gemm/families/fitted_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_FITTED(template, double)
PLUMB_GEMM_FITTED_ROWS(template)

}  // namespace gemm
}  // namespace plumb
