// spmv, rung 21: columns in blocks whose part of x is held in shared memory; 16-bit columns; converted on the device in prepare().
//
// Change    every rung before gathers x from L1 and L2, where a lone 4-byte request costs as much as a line: 160 G
//           requests per second on an H200, which is what scattered matrices wait for. Here the entries of a block of
//           columns lie together, a thread block copies the block's part of x to shared memory once, coalesced, and
//           gathers there; a column is then 16 bits, and row_ptr a bit per entry. What a row has in one block of
//           columns is a segment; segments are summed in registers and by a segmented scan, cut only at the ends of
//           warps, and joined per row by a second kernel, always in the same order.
// Traffic   per entry the value, 2 bytes of column and 1/8 of flag (CSR: 4 of column); per segment a value written
//           and read; x once per thread block, which holds 224 KiB of it.
// Limits    One block of 1,024 threads per SM; its slice of x is in dynamic shared memory.
// Fails at  matrices with hardly more entries than segments (few per row, scattered over many blocks), and small
//           ones, where two launches are dear.
// Source    column blocking: Im, Yelick and Vuduc, IJHPCA 2004 (SPARSITY); segmented sums over flags: Blelloch, Heroux
//           and Zagha 1993. The combination is ours.
#include "gpu/spmv/kernels/to_column_blocks.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return new ColumnBlocks<T>(prepare_column_blocks(in, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<ColumnBlocks<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_column_blocks(*static_cast<const ColumnBlocks<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "21_column_blocks", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double,
                    f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
