// skinny_gemm, host 03: W transposed once, dot products in SIMD lanes.
//
// Change    a column of W becomes contiguous, so that the sum over k runs in vector lanes.
// Traffic   as rung 01; W is written and read once more.
// Limits    two loads per multiply-add, and the sum over lanes at the end of each element.
// Fails at  small k: the sum over lanes takes all the time.
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
         const SkinnyGemm::Out<T, Space::host>& out, Context& context) {
  const auto X = in.X, W = in.W;
  const auto Y = out.Y;
  const std::int64_t depth = X.cols;
  auto* wt =
      static_cast<T*>(context.workspace(depth * W.cols * static_cast<std::int64_t>(sizeof(T))));  // (n, k)
  for (std::int64_t j = 0; j < W.cols; ++j) {
    for (std::int64_t k = 0; k < depth; ++k) wt[j * depth + k] = W(k, j);
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < Y.rows; ++i) {
    const T* x = X.data + i * X.ld;
    for (std::int64_t j = 0; j < Y.cols; ++j) {
      const T* w = wt + j * depth;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t k = 0; k < depth; ++k) sum += x[k] * w[k];
      Y(i, j) = sum;
    }
  }
}

PLUMB_REGISTER(SkinnyGemm, "03_w_transposed", run, float, double);

}  // namespace
}  // namespace plumb
