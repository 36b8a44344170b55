// skinny_gemm, rung 1: one thread per row, sums in global memory.
//
// Change    first rung: the row loop is the grid; Y itself is the accumulator, as in the loops one writes
//           first.
// Traffic   Y is read and written k times; X once per element, but a row apart between lanes; W from the
//           cache.
// Fails at  everything: 2 k n accesses of Y per row. Rung 2 answers that.
// Source    the definition.
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_baseline(In<T> in, Out<T> out) {
  const Index row = row_of_thread();
  if (row >= out.Y.rows) return;
  for (Index j = 0; j < out.Y.cols; ++j) out.Y(row, j) = T(0);
  for (Index k = 0; k < in.X.cols; ++k) {
    for (Index j = 0; j < out.Y.cols; ++j) out.Y(row, j) += in.X(row, k) * in.W(k, j);
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(skinny_baseline<T>, out.Y.cols == 0 ? Index{0} : ceil_div(out.Y.rows, kThreads), kThreads, 0,
         context.stream, in, out);
}

PLUMB_REGISTER(SkinnyGemm, "01_baseline", run, float, double);

}  // namespace
}  // namespace plumb
