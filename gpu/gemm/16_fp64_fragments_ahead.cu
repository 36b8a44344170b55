// gemm, rung 16: rung 14 in tiles of 128 x 64, fragments loaded a step ahead (fp64).
//
// Change    half the tile: a warp's sums take 64 registers instead of 128, and the room goes to a second
//           set of fragments, loaded while the tensor cores work on the first. Two warps on a scheduler are
//           too few to cover a load that each of them waits for. The smaller tile also fills the last round
//           better: 128 tiles at 1022, for 132 multiprocessors.
// Traffic   A is read n / 64 times, B m / 128 times: half as much again as rung 14's, from the second-level
//           cache.
// Limits    fp64: 180 to 194 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 1 block of 256 threads per
//           SM, 132 KiB of dynamic shared memory. H200, TFLOP/s at 1022, 2044, 3135, 4088, 6132, 8176: 44.7,
//           49.5, 45.9, 49.8, 49.7, 50.7, and up to 58.7 at 4088 on a chip that kept its clock: from 2044 on
//           power is the limit. The faster of cuBLAS's forms in those runs: 43.2, 53.7, 40.8, 59.2, 54.6,
//           55.8, in its default mode (pedantic, which it was once set beside: 41 to 48). Rung 14 takes 1.1
//           to 1.3 times as long.
// Fails at  C of a few tiles, as rung 12.
// Source    as rung 14.
#include "gpu/gemm/tensor_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Tile = Fp64Tile;

const Register<Gemm, double, Space::device> f64{
    "16_fp64_fragments_ahead", run_tensor<double, Tile, FragmentsAhead>, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
