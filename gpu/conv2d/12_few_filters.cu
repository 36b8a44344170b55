// conv2d, rung 12: few filters of one pixel, in one pass over the images.
//
// Change    the tiles of rungs 6 to 11 have 16 filters or more, and are mostly empty where there are four. Here a lane has a vector of outputs
//           and up to 16 filters in registers, a warp a share of the channels: it reads rows of X as they lie, once, and weights from shared
//           memory. The warps' sums are added in their order, through shared memory.
// Traffic   X k / 16 times, once up to 16 filters; F for each 32 (64, 128) outputs, from the second-level cache.
// Fails at  many filters: X is read again for each 16, and a weight from shared memory serves one to four products. Few outputs: a block
//           has 32 or more of them, and all channels.
// Source    G. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008, for the panel that stays in registers.
#include "gpu/conv2d/families/few_filters_family.hpp"

namespace plumb {
namespace {

using namespace conv2d;

PLUMB_REGISTER_WITH(Conv2d, "12_few_filters",
                    (few_filters::run_few_filters<T>, Traits{}.needs_sm(80), supports_pixels<T>), float,
                    double);

}  // namespace
}  // namespace plumb
