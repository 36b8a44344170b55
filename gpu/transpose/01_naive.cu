// transpose, rung 1: one thread per element.
//
// Change    first rung: reads run along a row of A, writes down a column of B.
// Traffic   compulsory reads, coalesced; each 4- or 8-byte write touches a 32-byte sector of its own.
// Limits    16 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 per SM.
// Fails at  the writes: 32 sectors per warp. Rung 2 answers that.
// Source    G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
#include "gpu/device/kernel.hpp"
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads)
    transpose_naive(DenseView<const T, Space::device> A /* (rows, cols) */,
                    DenseView<T, Space::device> B /* (cols, rows) */) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= A.rows * A.cols) return;
  const std::int64_t i = at / A.cols, j = at % A.cols;
  B(j, i) = A(i, j);
}

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  launch(transpose_naive<T>, (in.A.rows * in.A.cols + kThreads - 1) / kThreads, kThreads, 0, context.stream,
         in.A, out.B);
}

const Register<Transpose, float, Space::device> f32{"01_naive", run<float>};
const Register<Transpose, double, Space::device> f64{"01_naive", run<double>};

}  // namespace
}  // namespace plumb
