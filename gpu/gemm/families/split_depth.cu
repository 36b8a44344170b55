// A family of gemm's launches: tiles of 32 x 32, the depth of each divided among blocks.
#include "gpu/gemm/families/split_depth_family.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_SPLIT_DEPTH(template)

}  // namespace gemm
}  // namespace plumb
