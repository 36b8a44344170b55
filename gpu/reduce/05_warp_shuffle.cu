// reduce, rung 5: the last steps by shuffle.
//
// Change    below 64 elements one warp folds in registers: no barrier, no shared memory. (In 2007 by volatile
//           reads and lockstep, which stopped being legal with independent thread scheduling.)
// Traffic   as rung 4.
// Fails at  one or two elements per thread: the fixed cost of a block is paid 2 n / 512 times. Rung 6 answers
//           that.
// Source    M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 5, with shuffles.
#include "gpu/reduce/common.hpp"

namespace plumb {
namespace {

using namespace reduce;

constexpr int kThreads = 256;

template <class Op, class T>
__global__ void __launch_bounds__(kThreads)
    reduce_warp_shuffle(const T* x /* (n) */, Index n, T* partial /* (blocks) */) {
  __shared__ T s[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  const Index i = static_cast<Index>(blockIdx.x) * (2 * kThreads) + t;
  const T first = i < n ? x[i] : Op::template nothing<T>();
  s[t] = Op::join(first, i + kThreads < n ? x[i + kThreads] : Op::template nothing<T>());
  __syncthreads();
  for (int d = kThreads / 2; d >= 32; d /= 2) {
    if (t < d) s[t] = Op::join(s[t], s[t + d]);
    __syncthreads();
  }
  if (t < 32) {
    const T value = join_lanes<Op>(s[t]);
    if (t == 0) partial[blockIdx.x] = value;
  }
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_passes<T>(p.kind == Reduce::Kind::sum ? reduce_warp_shuffle<Sum, T> : reduce_warp_shuffle<Max, T>,
                      2 * kThreads, kThreads, in, out, context);
}

PLUMB_REGISTER(Reduce, "05_warp_shuffle", run, float, double);

}  // namespace
}  // namespace plumb
