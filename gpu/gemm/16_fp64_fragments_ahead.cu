// gemm, rung 16: rung 14 in tiles of 128 x 64, fragments loaded a step ahead (fp64).
//
// Change    half the tile: a warp's sums take 64 registers instead of 128, and the room goes to a second
//           set of fragments, loaded while the tensor cores work on the first. Two warps on a scheduler are
//           too few to cover a load that each of them waits for. The smaller tile also fills the last round
//           better: 128 tiles at 1022, for 132 multiprocessors.
// Traffic   A is read n / 64 times, B m / 128 times: half as much again as rung 14's, from the second-level
//           cache.
// Fails at  C of a few tiles, as rung 12.
// Source    as rung 14.
#include "gpu/gemm/families/tensor_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Tile = Fp64Tile;

const Register<Gemm, double, Space::device> f64{
    "16_fp64_fragments_ahead", run_tensor<double, Tile, FragmentsAhead>, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
