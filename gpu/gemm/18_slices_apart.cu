// gemm, rung 18: rung 12's 64 x 128 tiles, the slices of their depth apart from each other (fp32).
//
// Change    the four groups of two warps that share a tile's depth have each its own quarter of it, its own
//           three stages of 16 and its own barrier of 64 threads: a warp waits for at most one other warp,
//           where the eight warps of rung 12 synchronise every 8 steps of K. B comes by 8 bytes where its rows lie on 8 only,
//           copies of whole stages are free of conditions on K, and at the end all slices put their sums down
//           at once and all threads add them, in the order of the depth, and write whole rows of C.
// Traffic   that of rung 12.
// Fails at  rows of B that are not on 8 bytes (as rung 12 then: 64.7 us here with copies of one element);
//           more tiles than multiprocessors: 2044 takes 394 us, 0.89 of cuBLAS. Rung 15 chooses.
// Source    CUTLASS, "Efficient GEMM in CUDA", sliced-K; PTX ISA, "bar.sync".
#include "gpu/gemm/families/slices_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

// sm_80 has not the shared memory
const Register<Gemm, float, Space::device> f32{"18_slices_apart", run_slices, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
