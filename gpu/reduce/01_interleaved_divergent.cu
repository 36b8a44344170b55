// reduce, rung 1: interleaved addressing, every 2^k-th thread works.
//
// Change    first rung: one element per thread, a tree in shared memory whose active threads lie 2^k apart.
// Traffic   x once, then n / 256 partial results per pass.
// Fails at  divergence: after the first steps every warp still runs, with fewer and fewer active lanes. Rung 2
//           answers that.
// Source    M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 1.
#include "gpu/reduce/common.hpp"

namespace plumb {
namespace {

using namespace reduce;

constexpr int kThreads = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_interleaved_divergent(const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T s[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + t;
  s[t] = i < n ? x[i] : Op::template nothing<T>();
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {
    if (t % (2 * d) == 0) s[t] = Op::join(s[t], s[t + d]);
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_passes<T>(p.kind == Reduce::Kind::sum ? reduce_interleaved_divergent<Sum, T>
                                                  : reduce_interleaved_divergent<Max, T>,
                      kThreads, kThreads, in, out, context);
}

PLUMB_REGISTER(Reduce, "01_interleaved_divergent", run, float, double);

}  // namespace
}  // namespace plumb
