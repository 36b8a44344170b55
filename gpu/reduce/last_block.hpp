// The kernel of rung 9, which rung 13 takes with grids of several sizes. Header only.
#pragma once
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace reduce {

// `finished` is 0 between runs: the last block puts it back.
template <class Op, class T>
__global__ void __launch_bounds__(kPassThreads)
    reduce_last_block(const in_t<T>* x /* (n) */, Index n, scalar_t<T>* partial /* (blocks) */,
                      unsigned* finished /* (1) */, out_t<T>* result /* (1) */) {
  using S = scalar_t<T>;
  __shared__ S scratch[kPassThreads / 32];
  __shared__ bool last;
  Plain<Op, S> mine = Plain<Op, S>::nothing();
  take_share<Plain<Op, S>, true>(mine, x, n);
  const S value = join_block<Op, kPassThreads>(mine.value(), scratch);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = value;
    __threadfence();  // the partial result before the count that announces it
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
    __threadfence();  // and the count before the others' partial results
  }
  __syncthreads();
  if (!last) return;  // the whole block
  Plain<Op, S> all = Plain<Op, S>::nothing();
  for (Index i = threadIdx.x; i < static_cast<Index>(gridDim.x); i += kPassThreads)
    all.add(__ldcg(partial + i));  // past the L1
  const S total = join_block<Op, kPassThreads>(all.value(), scratch);
  if (threadIdx.x == 0) *result = stored<out_t<T>>(total), *finished = 0;
}

template <class Op, class T>
void run_last_block(Index blocks, unsigned* finished, const In<T>& in, const Out<T>& out, Context& context) {
  auto* partial =
      static_cast<scalar_t<T>*>(context.workspace(blocks * static_cast<Index>(sizeof(scalar_t<T>))));
  launch(reduce_last_block<Op, T>, blocks, kPassThreads, 0, context.stream, in.x.data, in.x.size, partial,
         finished, out.result.data);
}

/// A count of finished blocks, 0.
inline unsigned* new_count(Context& context) {
  auto* finished = static_cast<unsigned*>(context.workspace(sizeof(unsigned)));
  device_fill(finished, 0, sizeof(unsigned), context.stream);
  return finished;
}

}  // namespace reduce
}  // namespace plumb
