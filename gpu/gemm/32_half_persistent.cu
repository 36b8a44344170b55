// requires: sm_90a, tensor_map
// gemm, rung 32: 16-bit operands, tiles of 128 x 256, as many blocks as multiprocessors, in pairs.
//
// Change    a block takes one tile after the other: while its sums leave, the copies of its next tile come. Tiles are twice as wide, and the two
//           blocks of a cluster have tiles below each other: each copies half of B's part for both (multicast). Tiles are taken in bands,
//           so that what is in work at a time is about a square of C.
// Traffic   A is read n / 256 times, B m / 256 times from the second-level cache, C written once.
// Limits    the tensor cores, and at large sizes the chip's power.
// Fails at  fewer tiles than multiprocessors; a last round with few tiles. Rung 33 answers that.
// Source    PTX ISA, "cp.async.bulk.tensor", multicast; CUTLASS, "Efficient GEMM in CUDA", warp specialisation.
#include "gpu/device/memory.hpp"
#include "gpu/gemm/kernels/half_tiles.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  half::run_tiles<half::Shape<T, 2, 256, 2, 4>>(p, in, out, half::Blocks::resident, 1, context);
}

PLUMB_REGISTER_WITH(Gemm, "32_half_persistent", (run<T>, Traits{}.needs_sm(90), half::supports<T>), f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
