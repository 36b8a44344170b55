// spmv, rung 1: one thread per row ("scalar CSR").
//
// Change    first rung: the parallel loop is the row loop, nothing else.
// Traffic   compulsory bytes, but uncoalesced: neighbouring threads read col and val one row apart, a sector
//           for each.
// Fails at  rows of more than a few entries (each load of a warp touches 32 sectors) and skewed rows (a warp
//           takes as long as its longest row). Rungs 3 and 9 answer the first, rungs 7, 8 and 12 the second.
// Source    Bell and Garland, SC'09 (scalar CSR kernel).
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) spmv_thread_per_row(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.A.rows) return;
  const Index end = in.A.row_ptr[i + 1];
  scalar_t<T> sum = 0;
  for (Index k = in.A.row_ptr[i]; k < end; ++k) sum += product(in, k);
  finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmv_thread_per_row<T>, ceil_div(in.A.rows, kThreads), kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER(Spmv, "01_thread_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
