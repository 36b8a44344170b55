// A family of gemm's launches (families.hpp): tiles of B by the copy engine, and slices of the depth apart.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

#define PLUMB_DEFINE(S) PLUMB_GEMM_RUN_MAPPED(template, S)
PLUMB_GEMM_MAPPED(PLUMB_DEFINE)
#undef PLUMB_DEFINE
PLUMB_GEMM_RUN_SLICES(template, Slices)

}  // namespace gemm
}  // namespace plumb
