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
// Limits    fp32 / fp64: spmv_column_block 61 / 59 registers, 33152 / 33408 bytes of static shared memory;
//           spmv_fill_ranges 32 / 31 registers, 128 bytes of static shared memory, 4 / 0 bytes spilled per
//           thread; spmv_join_segments 32 registers; spmv_order_joins 32 registers; spmv_sort_by_block 32
//           registers; spmv_count_by_block 29 registers; scan_tiles 27 registers, 128 bytes of static shared
//           memory; scan_totals 24 registers, 128 bytes of static shared memory; spmv_list_joins 20
//           registers, 128 bytes of static shared memory; spmv_gather_joins 16 registers; spmv_count_heads 14
//           registers; scan_add_totals 10 registers; spmv_block_begins 10 registers (sm_90, nvcc 13.0, ptxas
//           -v). One block of 1,024 threads per SM; its slice of x is in dynamic shared memory.
// Measured  H200, warm, against cuSPARSE's better algorithm: mip1-like 2.3x, uniform 1.7x, power law 1.7x, R-MAT
//           1.4x in fp32; 1.8, 1.6, 1.1, 1.1x in fp64, where a slice holds half the columns and segments are
//           shorter. Stores of segments lane by lane touched a sector each: through shared memory in whole lines
//           the power law went from 24.8 to 22.9 us, the arrow from 37.8 to 26.1.
//           prepare() on an H100: 0.5 ms for small matrices, 1.8 ms for 16 M entries of a million rows in fp64. The same
//           conversion on the host took some hundred milliseconds.
// Fails at  matrices with hardly more entries than segments (few per row, scattered over many blocks), and small
//           ones, where two launches are dear.
// Source    column blocking: Im, Yelick and Vuduc, IJHPCA 2004 (SPARSITY); segmented sums over flags: Blelloch, Heroux
//           and Zagha 1993. The combination is ours.
#include "gpu/spmv/to_column_blocks.hpp"

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

const Register<Spmv, float, Space::device> f32{"21_column_blocks", run<float>,    {}, nullptr,
                                               prepare<float>,     release<float>};
const Register<Spmv, double, Space::device> f64{"21_column_blocks", run<double>,    {}, nullptr,
                                                prepare<double>,    release<double>};

}  // namespace
}  // namespace plumb
