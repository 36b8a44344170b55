// A family of gemm's launches: a cluster of blocks for each tile.
#include "gpu/gemm/families/clusters_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_CLUSTERS_F32(template)
PLUMB_GEMM_CLUSTERS_F64(template)

}  // namespace gemm
}  // namespace plumb
