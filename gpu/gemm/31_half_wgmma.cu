// requires: sm_90a, tensor_map
// gemm, rung 31: 16-bit operands by wgmma, tiles by the copy engine.
//
// Change    groups of four warps multiply 64 x 128 tiles straight from shared memory (wgmma), in place of warps that first load fragments;
//           one thread of a group of its own starts all copies (tensor maps, swizzled), so that those who multiply compute no address, and
//           barriers in shared memory hand stages over: nobody waits for the whole block. B lies as it came, elements of N together: wgmma
//           takes 16-bit operands turned. Sums leave through shared memory, by the copy engine too.
// Traffic   A is read n / 128 times, B m / 128 times, C written once. Operands whose rows do not lie on 16 bytes are copied first.
// Limits    the tensor cores, while a block's sums leave: nobody multiplies on its multiprocessor then.
// Fails at  chips other than compute capability 9.0. Tiles of 128 x 128 read 32 bytes of the second-level cache per clock and multiprocessor
//           more than it gives. Rung 32 answers both.
// Source    PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "cp.async.bulk.tensor".
#include "gpu/device/memory.hpp"
#include "gpu/gemm/kernels/half_tiles.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  half::run_tiles<half::Shape<T, 2, 128, 1, 5>>(p, in, out, half::Blocks::one_each, 1, context);
}

PLUMB_REGISTER_WITH(Gemm, "31_half_wgmma", (run<T>, Traits{}.needs_sm(90), half::supports<T>), f16, bf16,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
