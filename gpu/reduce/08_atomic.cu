// reduce, rung 8: one atomic operation per block instead of a second pass.
//
// Change    blocks add their result to the answer as they finish, in whatever order that is.
// Traffic   as rung 7, without partial results.
// Fails at  reproducibility: the order of the blocks is the order of the additions. And, in fp32, subnormal
//           sums, which atomicAdd in global memory flushes to 0. Both are declared.
// Source    CUDA C++ Programming Guide, "Atomic Functions"; the maximum by compare-and-swap, as shown there.
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace {

using namespace reduce;

// The start value has its own launch: a block of the main kernel that wrote it could come after another's
// addition.
template <class Op, class T>
__global__ void reduce_atomic_start(T* result /* (1) */) {
  *result = Op::template nothing<T>();
}

PLUMB_DEVICE unsigned bits_of(float x) { return __float_as_uint(x); }
PLUMB_DEVICE unsigned long long bits_of(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}
PLUMB_DEVICE float value_of(unsigned bits) { return __uint_as_float(bits); }
PLUMB_DEVICE double value_of(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

template <class T>
PLUMB_DEVICE void join_atomically(Sum, T* result, T value) {
  atomicAdd(result, value);
}

template <class T>
PLUMB_DEVICE void join_atomically(Max, T* result, T value) {
  using Bits = decltype(bits_of(value));
  auto* word = reinterpret_cast<Bits*>(result);
  Bits seen = bits_of(Max::nothing<T>());
  while (true) {
    const Bits wanted = bits_of(Max::join(value_of(seen), value));
    const Bits before = atomicCAS(word, seen, wanted);
    if (before == seen) return;
    seen = before;
  }
}

template <class Op, class T>
__global__ void __launch_bounds__(kPassThreads)
    reduce_atomic(const T* x /* (n) */, Index n, T* result /* (1) */) {
  __shared__ T scratch[kPassThreads / 32];
  Plain<Op, T> mine = Plain<Op, T>::nothing();
  take_share<Plain<Op, T>, true>(mine, x, n);
  const T value = join_block<Op, kPassThreads>(mine.value(), scratch);
  if (threadIdx.x == 0) join_atomically(Op{}, result, value);
}

template <class Op, class T>
void run_as(const In<T>& in, const Out<T>& out, Context& context) {
  launch(reduce_atomic_start<Op, T>, 1, 1, 0, context.stream, out.result.data);
  const Index blocks = in.x.size == 0 ? 0 : pass_blocks(in.x.size, static_cast<int>(16 / sizeof(T)));
  launch(reduce_atomic<Op, T>, blocks, kPassThreads, 0, context.stream, in.x.data, in.x.size,
         out.result.data);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  if (p.kind == Reduce::Kind::sum)
    run_as<Sum>(in, out, context);
  else
    run_as<Max>(in, out, context);
}

const Register<Reduce, float, Space::device> f32{"08_atomic", run<float>,
                                                 Traits{}.not_reproducible().flushes_subnormals()};
const Register<Reduce, double, Space::device> f64{"08_atomic", run<double>, Traits{}.not_reproducible()};

}  // namespace
}  // namespace plumb
