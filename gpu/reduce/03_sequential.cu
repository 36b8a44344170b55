// reduce, rung 3: sequential addressing.
//
// Change    the tree folds the upper half onto the lower, so a warp reads neighbouring words.
// Traffic   as rung 1.
// Fails at  half of the threads do nothing after loading. Rung 4 answers that.
// Source    M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 3.
#include "gpu/reduce/common.hpp"

namespace plumb {
namespace {

using namespace reduce;

constexpr int kThreads = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_sequential(const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T s[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + t;
  s[t] = i < n ? x[i] : Op::template nothing<T>();
  __syncthreads();
  for (int d = kThreads / 2; d > 0; d /= 2) {
    if (t < d) s[t] = Op::join(s[t], s[t + d]);
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_passes<T>(p.kind == Reduce::Kind::sum ? reduce_sequential<Sum, T> : reduce_sequential<Max, T>,
                      kThreads, kThreads, in, out, context);
}

PLUMB_REGISTER(Reduce, "03_sequential", run, float, double);

}  // namespace
}  // namespace plumb
