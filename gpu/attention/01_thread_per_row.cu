// attention, rung 1: one thread per row.
//
// Change    first rung: the row loop is the grid.
// Traffic   k and v once for each query, from the cache; o is kept in memory, and rescaled there.
// Fails at  everything but few keys: o is read and written for each key.
// Source    the definition.
#include "gpu/common/functions.hpp"
#include "gpu/common/rung.hpp"
#include "reference/ops/attention.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_thread_per_row(Attention::Problem<T> p, Attention::In<T, Space::device> in,
                             Attention::Out<T, Space::device> out) {
  const Index row = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= p.g * p.r * p.n) return;
  const Index first = row / (p.r * p.n) * p.m;  // of the group's keys
  T max = T(0), sum = T(0);
  for (Index d = 0; d < p.d; ++d) out.o(row, d) = T(0);
  for (Index j = 0; j < p.m; ++j) {
    T score = T(0);
    for (Index d = 0; d < p.d; ++d) score += in.q(row, d) * in.k(first + j, d);
    score *= p.scale;
    const T risen = j == 0 || score > max ? score : max;
    const T rescale = j == 0 ? T(0) : exp_of(max - risen), weight = exp_of(score - risen);
    sum = sum * rescale + weight, max = risen;
    for (Index d = 0; d < p.d; ++d) out.o(row, d) = out.o(row, d) * rescale + weight * in.v(first + j, d);
  }
  for (Index d = 0; d < p.d; ++d) out.o(row, d) /= sum;
}

template <class T>
void run(const Attention::Problem<T>& p, const Attention::In<T, Space::device>& in,
         const Attention::Out<T, Space::device>& out, Context& context) {
  launch(attention_thread_per_row<T>, ceil_div(p.g * p.r * p.n, kThreads), kThreads, 0, context.stream, p, in,
         out);
}

PLUMB_REGISTER(Attention, "01_thread_per_row", run, float, double);

}  // namespace
}  // namespace plumb
