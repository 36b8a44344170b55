// A family of gemm's launches: tiles whose columns fit C, fp32.
#include "gpu/gemm/families/fitted_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_FITTED(template, float)
PLUMB_GEMM_THIN_ROWS(template)

}  // namespace gemm
}  // namespace plumb
