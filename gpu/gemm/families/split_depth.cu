// A family of gemm's launches (families.hpp): tiles of 32 x 32, the depth of each divided among blocks.
#include "gpu/gemm/families.hpp"

namespace plumb {
namespace gemm {

PLUMB_GEMM_RUN_SPLIT_DEPTH(template, float)
PLUMB_GEMM_RUN_SPLIT_DEPTH(template, double)

}  // namespace gemm
}  // namespace plumb
