// A family of gemm's launches: slices of the depth apart.
#include "gpu/gemm/families/slices_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_SLICES(template)

}  // namespace gemm
}  // namespace plumb
