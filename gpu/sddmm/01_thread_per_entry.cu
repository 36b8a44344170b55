// sddmm, rung 1: one thread per entry, which finds its row by binary search.
//
// Change    first rung: the parallel loop is the loop over entries, nothing else.
// Traffic   2 k elements per entry. Neighbouring threads read rows of Y far apart, one element each at a
//           time: a sector of 32 bytes per element until the L1 keeps it for the next ones.
// Fails at  everything with k > 8 or so: 32 sectors per load. Rung 3 answers that.
// Source    the definition.
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
__global__ void __launch_bounds__(kThreads) sddmm_thread_per_entry(In<T> in, Out<T> out) {
  const Index e = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (e >= in.A.nnz) return;
  const in_t<T>* x = in.X.data + row_of(in.A.row_ptr, 0, in.A.rows, e) * in.X.ld;
  const in_t<T>* y = in.Y.data + in.A.col[e] * in.Y.ld;
  scalar_t<T> sum = 0;
  for (Index k = 0; k < in.X.cols; ++k) sum += value(x[k]) * value(y[k]);
  out.s.data[e] = stored<out_t<T>>(sum);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_thread_per_entry<T>, ceil_div(in.A.nnz, kThreads), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(Sddmm, "01_thread_per_entry", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
