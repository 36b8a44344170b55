// skinny_gemm, rung 3: W in shared memory.
//
// Change    each block stages W, 128 rows and 16 columns of it at a time, so that its loads leave the path
//           that X uses. Where K has more than 128, Y carries the sums from one panel to the next. Threads
//           past the last row stay for the barriers.
// Traffic   as rung 2 for X and Y; W once per block.
// Fails at  X, still read once per column. Rung 4 answers that.
// Source    CUDA C++ Programming Guide, "Shared Memory".
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_w_in_shared(In<T> in, Out<T> out) {
  __shared__ T w[kPanel][kCols];
  const Index row = row_of_thread(), j0 = static_cast<Index>(blockIdx.y) * kCols, depth = in.W.rows;
  const bool mine = row < out.Y.rows;
  const int columns = out.Y.cols - j0 < kCols ? static_cast<int>(out.Y.cols - j0) : kCols;
  for (Index k0 = 0; k0 < depth || k0 == 0;
       k0 += kPanel) {  // once even where there is nothing to sum: zeros are written
    __syncthreads();
    stage_w(w, in, k0, j0);
    __syncthreads();
    const int end = depth - k0 < kPanel ? static_cast<int>(depth - k0) : kPanel;
    for (int j = 0; mine && j < columns; ++j) {
      T sum = k0 == 0 ? T(0) : out.Y(row, j0 + j);
      for (int k = 0; k < end; ++k) sum += in.X(row, k0 + k) * w[k][j];
      out.Y(row, j0 + j) = sum;
    }
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch_rows<T>(skinny_w_in_shared<T>, in, out, kCols, context);
}

PLUMB_REGISTER(SkinnyGemm, "03_w_in_shared", run, float, double);

}  // namespace
}  // namespace plumb
