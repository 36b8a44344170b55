// gemm, rung 7: rung 6 with 128-bit loads.
//
// Change    global loads of A and B move 16 bytes each, a quarter (fp64: half) of the instructions.
// Traffic   that of rung 6.
// Fails at  leading dimensions and bases that are no multiples of 16 bytes: those it does not take. Every
//           tile still waits for its own loads between two barriers: rung 9 answers that; shared loads stay
//           narrow: rung 8 answers that.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/gemm/kernels/register_tile.hpp"

namespace plumb {
namespace {

using namespace gemm;

PLUMB_REGISTER_WITH(Gemm, "07_vector_loads", (run_register_tile<T, ByVector>, Traits{}.align(16)), float,
                    double);

}  // namespace
}  // namespace plumb
