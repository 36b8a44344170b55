// skinny_gemm, rung 4: the row of X in registers.
//
// Change    a thread loads 64 elements of its row once and uses them for all columns; longer rows in pieces,
//           Y carrying the sums. 128 fp64 elements at once would need 256 registers, which a thread does not
//           have.
// Traffic   X once per 16 columns; Y once per 64 of K.
// Fails at  its own registers: few warps fit, and each of the 64 loads still touches 32 lines. Rung 5 holds
//           sums instead.
// Source    the ladder's own step.
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace {

using namespace skinny;

constexpr int kPiece = 64;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_row_in_registers(In<T> in, Out<T> out) {
  __shared__ T w[kPiece][kCols];
  const Index row = row_of_thread(), j0 = static_cast<Index>(blockIdx.y) * kCols, depth = in.W.rows;
  const bool mine = row < out.Y.rows;
  const int columns = out.Y.cols - j0 < kCols ? static_cast<int>(out.Y.cols - j0) : kCols;
  for (Index k0 = 0; k0 < depth || k0 == 0;
       k0 += kPiece) {  // once even where there is nothing to sum: zeros are written
    __syncthreads();
    stage_w(w, in, k0, j0);
    __syncthreads();
    if (!mine) continue;
    T x[kPiece];
#pragma unroll
    for (int k = 0; k < kPiece; ++k) x[k] = k0 + k < depth ? in.X(row, k0 + k) : T(0);
    for (int j = 0; j < columns; ++j) {
      T sum = k0 == 0 ? T(0) : out.Y(row, j0 + j);
#pragma unroll
      for (int k = 0; k < kPiece; ++k) sum += x[k] * w[k][j];
      out.Y(row, j0 + j) = sum;
    }
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch_rows<T>(skinny_row_in_registers<T>, in, out, kCols, context);
}

PLUMB_REGISTER(SkinnyGemm, "04_row_in_registers", run, float, double);

}  // namespace
}  // namespace plumb
