// spmv, rung 22: long rows are cut into tiles, all others go by groups of lanes, in one launch.
//
// Change    rung 4 for rows of fewer than 2048 entries, four of them in flight per group; longer ones in
//           tiles of 2048 entries, whose sums the block that finishes last adds up. prepare() finds the
//           long rows. An arrow of a million rows, fp32: 14.9 us, rung 8 28.5, cuSPARSE 22.1 (H200).
// Traffic   compulsory bytes; a partial sum and a count per tile.
// Fails at  rows of many lengths below 2048, where groups wait for their longest. Rungs 8 and 21 answer
//           that.
// Source    CSR-Adaptive, Greathouse and Daga, SC'14, for the classes; the last block's sum is that of
//           threadFenceReduction in the CUDA samples.
#include "gpu/spmv/kernels/long_rows.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  return new LongRowsPlan<T>(prepare_long_rows(in, row_ptr, kLongShape, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<LongRowsPlan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_long_rows(*static_cast<const LongRowsPlan<T>*>(context.plan), p, in, out, context);
}

PLUMB_REGISTER_WITH(Spmv, "22_long_rows", (run<T>, {}, nullptr, prepare<T>, release<T>), float, double, f16,
                    bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
