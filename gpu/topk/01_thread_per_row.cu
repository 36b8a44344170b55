// topk, rung 1: one thread per row; what is larger than the last one kept goes to its place among those kept.
//
// Change    first rung: the row loop is the grid.
// Traffic   x once; the kept elements, which stand in the outputs, as often as they are shifted.
// Limits    loads of neighbouring threads lie a row apart; up to k moves per element where a row ascends.
// Fails at  few rows, wide ones, and large k.
// Source    the definition: insertion sort.
#include "gpu/topk/common.hpp"

namespace plumb {
namespace {

using namespace topk;

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) topk_thread_per_row(In<T> in, Out<T> out) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= in.x.rows) return;
  const Index k = out.values.cols;
  Index kept = 0;
  key_t<in_t<T>> last = 0;  // of the k that are kept
  for (Index j = 0; j < in.x.cols; ++j) {
    const in_t<T> x = in.x(i, j);
    const auto key = key_of(x);
    if (kept == k && key <= last) continue;
    Index p = kept < k ? kept++ : k - 1;
    for (; p > 0 && key > key_of(out.values(i, p - 1)); --p) {
      out.values(i, p) = out.values(i, p - 1);
      out.indices(i, p) = out.indices(i, p - 1);
    }
    out.values(i, p) = x;
    out.indices(i, p) = static_cast<std::int32_t>(j);
    last = key_of(out.values(i, kept - 1));
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(topk_thread_per_row<T>, ceil_div(in.x.rows, kThreads), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(TopK, "01_thread_per_row", run, float, double, f16, bf16);

}  // namespace
}  // namespace plumb
