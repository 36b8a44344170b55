// gemm, rung 10: tiles copied asynchronously to shared memory, four stages, two blocks of 128 x 128 per
// multiprocessor.
//
// Change    cp.async: a copy in flight holds no register, three tiles of 16 deep are in flight at once, and
//           the registers that this frees make a 16 x 8 tile per thread: 6 shared loads for 128 multiply-adds
//           (fp64: 8 x 8). A is turned by copies of one element, which need no alignment; B comes by 16 bytes
//           where its rows allow it, and by elements where they do not. Two blocks of four warps: one
//           computes while the other stands at its barrier.
// Traffic   A is read n / 128 times, B m / 128 times, mostly from the second-level cache: blocks go in bands
//           of eight rows of tiles.
// Fails at  sizes whose tiles do not fill the last round of the multiprocessors: 64 tiles at 1022, for 132 of
//           them. Rung 12 answers.
// Source    A. Kerr et al., CUTLASS, "Efficient GEMM in CUDA"; PTX ISA, "cp.async".
#include "gpu/gemm/kernels/multistage.hpp"

namespace plumb {
namespace {

using namespace gemm;

PLUMB_REGISTER_WITH(Gemm, "10_cp_async_multistage", (run_multistage<T, Square<T>>, Traits{}.needs_sm(80)),
                    float, double);

}  // namespace
}  // namespace plumb
