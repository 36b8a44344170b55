// bias_relu, rung 2: a thread keeps its column and walks down the rows.
//
// Change    the bias is loaded once per thread, and no division is left: the next row is one addition away.
// Traffic   compulsory bytes, coalesced where rows are wide.
// Limits    fp32 / fp64: 26 / 28 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 per SM.
// Fails at  rows narrower than a warp: lanes beyond the last column idle. Rung 3 answers that.
// Source    grid-stride loops: M. Harris, "CUDA Pro Tip" (2013).
#include "gpu/bias_relu/common.hpp"

namespace plumb {
namespace {

using namespace bias_relu;

constexpr int kColumns = 32, kRows = 8;
constexpr int kRowsPerThread = 8;
constexpr Index kMostDown = 65535;  // of a grid's y extent

template <class T>
__global__ void __launch_bounds__(kColumns* kRows)
    bias_relu_column_per_thread(Problem<T> p, In<T> in, Out<T> out) {
  const Index j = static_cast<Index>(blockIdx.x) * kColumns + threadIdx.x;
  if (j >= in.x.cols) return;
  const T b = in.b.size > 0 ? in.b[j] : p.bias;
  const Index stride = static_cast<Index>(gridDim.y) * kRows;
  for (Index i = static_cast<Index>(blockIdx.y) * kRows + threadIdx.y; i < in.x.rows; i += stride) {
    out.y(i, j) = activate(in.x(i, j), b, p.cap);
  }
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index across = ceil_div(in.x.cols, kColumns), down = ceil_div(in.x.rows, kRows * kRowsPerThread);
  if (across == 0 || down == 0) return;
  launch(bias_relu_column_per_thread<T>,
         Grid(static_cast<unsigned>(across), static_cast<unsigned>(down < kMostDown ? down : kMostDown)),
         dim3(kColumns, kRows), 0, context.stream, p, in, out);
}

const Register<BiasRelu, float, Space::device> f32{"02_column_per_thread", run<float>};
const Register<BiasRelu, double, Space::device> f64{"02_column_per_thread", run<double>};

}  // namespace
}  // namespace plumb
