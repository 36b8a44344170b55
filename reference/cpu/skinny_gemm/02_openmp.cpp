// skinny_gemm, host 02: rows dealt out to OpenMP threads.
//
// Change    the row loop is parallel, schedule(static).
// Traffic   as rung 01.
// Limits    the chain of dependent adds, on every core.
// Fails at  fewer rows than cores.
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
         const SkinnyGemm::Out<T, Space::host>& out, Context&) {
  const auto X = in.X, W = in.W;
  const auto Y = out.Y;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < Y.rows; ++i) {
    for (std::int64_t j = 0; j < Y.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < X.cols; ++k) sum += X(i, k) * W(k, j);
      Y(i, j) = sum;
    }
  }
}

PLUMB_REGISTER(SkinnyGemm, "02_openmp", run, float, double);

}  // namespace
}  // namespace plumb
