// A family of gemm's launches: tiles of B by the copy engine.
#include "gpu/gemm/families/mapped_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_MAPPED(template)

}  // namespace gemm
}  // namespace plumb
