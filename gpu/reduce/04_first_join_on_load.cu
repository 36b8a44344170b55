// reduce, rung 4: the first join happens on the way into shared memory.
//
// Change    each thread loads two elements, so half as many blocks do the same work.
// Traffic   as rung 1, with half the partial results.
// Fails at  the last six steps: one warp works, and all eight wait at barriers. Rung 5 answers that.
// Source    M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 4.
#include "gpu/reduce/common.hpp"

namespace plumb {
namespace {

using namespace reduce;

constexpr int kThreads = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_first_join_on_load(const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T s[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const Index i = static_cast<Index>(blockIdx.x) * (2 * kThreads) + t;
  const T first = i < n ? x[i] : Op::template nothing<T>();
  s[t] = Op::join(first, i + kThreads < n ? x[i + kThreads] : Op::template nothing<T>());
  __syncthreads();
  for (int d = kThreads / 2; d > 0; d /= 2) {
    if (t < d) s[t] = Op::join(s[t], s[t + d]);
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_passes<T>(
      p.kind == Reduce::Kind::sum ? reduce_first_join_on_load<Sum, T> : reduce_first_join_on_load<Max, T>,
      2 * kThreads, kThreads, in, out, context);
}

PLUMB_REGISTER(Reduce, "04_first_join_on_load", run, float, double);

}  // namespace
}  // namespace plumb
