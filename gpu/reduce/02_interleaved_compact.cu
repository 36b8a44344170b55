// reduce, rung 2: interleaved addressing, the first threads work.
//
// Change    the same tree with its work on the lowest threads, so whole warps fall idle.
// Traffic   as rung 1.
// Fails at  bank conflicts: the lanes of a warp read 2^k apart in shared memory. Rung 3 answers that.
// Source    M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 2.
#include "gpu/reduce/common.hpp"

namespace plumb {
namespace {

using namespace reduce;

constexpr int kThreads = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_interleaved_compact(const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T s[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + t;
  s[t] = i < n ? x[i] : Op::template nothing<T>();
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {
    const int at = 2 * d * t;
    if (at + d < kThreads) s[at] = Op::join(s[at], s[at + d]);
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_passes<T>(
      p.kind == Reduce::Kind::sum ? reduce_interleaved_compact<Sum, T> : reduce_interleaved_compact<Max, T>,
      kThreads, kThreads, in, out, context);
}

PLUMB_REGISTER(Reduce, "02_interleaved_compact", run, float, double);

}  // namespace
}  // namespace plumb
