// reduce, rung 9: one launch; the last block to finish folds the partial results.
//
// Change    a counter tells a block that all others have stored theirs; it reads them in their own order, so
//           the answer is reproducible though the launch is one.
// Traffic   as rung 7.
// Limits    fp32 / fp64: 32 registers, 33 / 65 bytes of static shared memory, no spills (sm_90, nvcc 13.0,
//           ptxas -v). 8 blocks of 256 per SM.
// Fails at  nothing by size; the counter must be zero at the start, which costs a 4-byte fill.
// Source    CUDA samples, "threadFenceReduction"; CUDA C++ Programming Guide, "Memory Fence Functions".
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace {

using namespace reduce;

template <class Op, class T>
__global__ void __launch_bounds__(kPassThreads)
    reduce_last_block(const T* x /* (n) */, Index n, T* partial /* (blocks) */, unsigned* finished /* (1) */,
                      T* result /* (1) */) {
  __shared__ T scratch[kPassThreads / 32];
  __shared__ bool last;
  Plain<Op, T> mine = Plain<Op, T>::nothing();
  take_share<Plain<Op, T>, true>(mine, x, n);
  const T value = join_block<Op, kPassThreads>(mine.value(), scratch);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = value;
    __threadfence();  // the partial result before the count that announces it
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
    __threadfence();  // and the count before the others' partial results
  }
  __syncthreads();
  if (!last) return;  // the whole block
  Plain<Op, T> all = Plain<Op, T>::nothing();
  for (Index i = threadIdx.x; i < static_cast<Index>(gridDim.x); i += kPassThreads)
    all.add(__ldcg(partial + i));  // past the L1
  const T total = join_block<Op, kPassThreads>(all.value(), scratch);
  if (threadIdx.x == 0) *result = total;
}

template <class Op, class T>
void run_as(const In<T>& in, const Out<T>& out, Context& context) {
  const Index blocks = pass_blocks(in.x.size, static_cast<int>(16 / sizeof(T)));
  auto* partial = static_cast<T*>(context.workspace(blocks * static_cast<Index>(sizeof(T))));
  auto* finished = static_cast<unsigned*>(context.workspace(sizeof(unsigned)));
  device_fill(finished, 0, sizeof(unsigned), context.stream);
  launch(reduce_last_block<Op, T>, blocks, kPassThreads, 0, context.stream, in.x.data, in.x.size, partial,
         finished, out.result.data);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (p.kind == Reduce::Kind::sum)
    run_as<Sum>(in, out, context);
  else
    run_as<Max>(in, out, context);
}

const Register<Reduce, float, Space::device> f32{"09_last_block", run<float>};
const Register<Reduce, double, Space::device> f64{"09_last_block", run<double>};

}  // namespace
}  // namespace plumb
