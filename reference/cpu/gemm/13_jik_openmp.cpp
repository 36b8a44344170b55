// gemm, host 13: rung 03 with the columns dealt out to OpenMP threads.
//
// Change    the outermost loop is parallel: a thread owns whole columns of C.
// Traffic   as rung 03; neighbouring threads write one cache line where their columns meet.
// Fails at  fewer columns than cores.
#include "reference/cpu/gemm/loops.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  const std::int64_t depth = depth_of(p, in);
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < C.cols; ++j) {
    for (std::int64_t i = 0; i < C.rows; ++i) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += A(i, k) * B(k, j);
      C(i, j) = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * C(i, j);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "13_jik_openmp", (run<T>, {}, by_columns<T>), float, double);

}  // namespace
}  // namespace plumb
