// A family of gemm's launches (families.hpp): the depth of tiles in parts, fp64.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

#define PLUMB_DEFINE(S) PLUMB_GEMM_RUN_DIVIDED(template, S, double)
PLUMB_GEMM_DIVIDED_F64(PLUMB_DEFINE)
#undef PLUMB_DEFINE

}  // namespace gemm
}  // namespace plumb
