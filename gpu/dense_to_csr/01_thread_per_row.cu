// dense_to_csr, rung 1: one thread per row counts; a scan makes row pointers; one thread per row writes.
//
// Change    first rung: count, scan, fill, each by rows.
// Traffic   x twice, a sector of 32 bytes per element each time unless the L1 keeps it: neighbouring threads
//           read one row apart.
// Fails at  few rows, and wide ones. Rung 2 answers that.
// Source    the definition; Blelloch, "Prefix Sums and Their Applications" (1990), for counting before
//           writing.
#include "gpu/common/scan.hpp"
#include "gpu/dense_to_csr/common.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

template <class T>
__global__ void __launch_bounds__(kThreads) dense_to_csr_thread_counts(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  int count = 0;
  for (Index j = 0; j < in.x.cols; ++j) count += in.x.data[i * in.x.ld + j] != T(0);
  out.row_ptr.data[i + 1] = count;
}

template <class T>
__global__ void __launch_bounds__(kThreads) dense_to_csr_thread_fills(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  Index at = out.row_ptr.data[i];
  for (Index j = 0; j < in.x.cols; ++j) {
    const T v = in.x.data[i * in.x.ld + j];
    if (!(v != T(0))) continue;
    out.col.data[at] = static_cast<std::int32_t>(j);
    out.val.data[at] = v;
    ++at;
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = ceil_div(in.x.rows, kThreads);
  launch(dense_to_csr_thread_counts<T>, blocks, kThreads, 0, context.stream, in, out);
  scan_counts(out.row_ptr.data, in.x.rows, context);
  launch(dense_to_csr_thread_fills<T>, blocks, kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(DenseToCsr, "01_thread_per_row", run, float, double);

}  // namespace
}  // namespace plumb
