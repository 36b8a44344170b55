// bias_relu, rung 1: one thread per element.
//
// Change    first rung: element numbers are taken apart into row and column by a 64-bit division.
// Traffic   compulsory bytes, coalesced; the bias from the cache.
// Limits    18 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 per SM.
// Fails at  the division: some 70 instructions per element beside one load and one store. Rung 2 answers
//           that.
// Source    the definition.
#include "gpu/bias_relu/common.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) bias_relu_thread_per_element(Problem<T> p, In<T> in, Out<T> out) {
  const Index at = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= in.x.rows * in.x.cols) return;
  const Index i = at / in.x.cols, j = at % in.x.cols;
  out.y(i, j) = activate(in.x(i, j), in.b.size > 0 ? in.b[j] : p.bias, p.cap);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(bias_relu_thread_per_element<T>, ceil_div(in.x.rows * in.x.cols, kThreads), kThreads, 0,
         context.stream, p, in, out);
}

const Register<BiasRelu, float, Space::device> f32{"01_thread_per_element", run<float>};
const Register<BiasRelu, double, Space::device> f64{"01_thread_per_element", run<double>};

}  // namespace
}  // namespace plumb
