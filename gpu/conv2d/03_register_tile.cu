// conv2d, rung 3: 8 x 32 outputs of 32 filters by a block, 4 rows of 8 filters by a thread.
//
// Change    reuse in both directions: 4 pixels and 8 weights, loaded into registers, serve 32 multiply-adds.
//           Weights are staged beside the pixels, the filters of a tap next to each other, so that a warp
//           reads 8 of them in two broadcasts. Several channels are staged at once.
// Traffic   a pixel is read k / 32 times and once more per halo, a weight once per tile. 6 shared loads for
//           32 multiply-adds.
// Fails at  outputs that do not fill tiles of 8 x 32: 14 x 14 uses 38 % of its threads. Rung 4 tiles the
//           pixels of all images as one row. Windows whose tile does not fit shared memory are unsupported.
// Source    V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC'08 (register
//           tiles).
#include "gpu/conv2d/families/register_tile_family.hpp"

namespace plumb {
namespace {

using namespace conv2d::register_tile;

PLUMB_REGISTER_WITH(Conv2d, "03_register_tile", (run_register_tile<T>, {}, supports_register_tile<T>), float,
                    double);

}  // namespace
}  // namespace plumb
