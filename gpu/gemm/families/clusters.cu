// A family of gemm's launches (families.hpp): a cluster of blocks for each tile.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_RUN_CLUSTERS(template, Quartered, float)
#define PLUMB_DEFINE(S) PLUMB_GEMM_RUN_CLUSTERS(template, S, double)
PLUMB_GEMM_CLUSTERS_F64(PLUMB_DEFINE)
#undef PLUMB_DEFINE

}  // namespace gemm
}  // namespace plumb
