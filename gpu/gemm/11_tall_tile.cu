// gemm, rung 11: rung 10 in tiles of 256 x 128, one block of eight warps per multiprocessor (fp32).
//
// Change    the tile alone: the same warps, all behind one barrier instead of two.
// Traffic   three quarters of rung 10's: A is read n / 128 times, B m / 256 times.
// Fails at  half as many tiles for the same multiprocessors: the last round is emptier (3135: 325 tiles in 3
//           rounds of 132, where rung 10 has 625 in 5 half as long). fp64 sums of this size do not fit in
//           registers; rung 14 is the answer there.
// Source    as rung 10.
#include "gpu/gemm/kernels/multistage.hpp"

namespace plumb {
namespace {

using namespace gemm;

const Register<Gemm, float, Space::device> f32{"11_tall_tile", run_multistage<float, Tall>,
                                               Traits{}.needs_sm(80)};

}  // namespace
}  // namespace plumb
