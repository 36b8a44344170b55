// A family of gemm's launches (families.hpp): the depth of tiles in parts, fp32.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

#define PLUMB_DEFINE(S) PLUMB_GEMM_RUN_DIVIDED(template, S, float)
PLUMB_GEMM_DIVIDED_F32(PLUMB_DEFINE)
#undef PLUMB_DEFINE

}  // namespace gemm
}  // namespace plumb
