// skinny_gemm, host 01: a dot product per element of Y.
//
// Change    first rung: the definition.
// Traffic   compulsory bytes of X; W from the first-level cache, down its columns.
// Limits    one core; the chain of dependent adds.
// Fails at  nothing, slowly.
#include "reference/core/values.hpp"
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
         const SkinnyGemm::Out<T, Space::host>& out, Context&) {
  const auto X = in.X, W = in.W;
  const auto Y = out.Y;
  for (std::int64_t i = 0; i < Y.rows; ++i) {
    for (std::int64_t j = 0; j < Y.cols; ++j) {
      scalar_t<T> sum = 0;
      for (std::int64_t k = 0; k < X.cols; ++k) sum += value(X(i, k)) * value(W(k, j));
      Y(i, j) = stored<out_t<T>>(sum);
    }
  }
}

PLUMB_REGISTER(SkinnyGemm, "01_row_dot", run, float, double, f16, bf16, f16_f32, bf16_f32, e4m3_f16,
               e4m3_bf16, e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
