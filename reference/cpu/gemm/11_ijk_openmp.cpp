// gemm, host 11: rung 01 with the rows dealt out to OpenMP threads.
//
// Change    the outermost loop is parallel: a thread owns whole rows of C.
// Traffic   as rung 01, B read by every thread.
// Fails at  fewer rows than cores.
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
  for (std::int64_t i = 0; i < C.rows; ++i) {
    for (std::int64_t j = 0; j < C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += A(i, k) * B(k, j);
      C(i, j) = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * C(i, j);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "11_ijk_openmp", (run<T>, {}, by_columns<T>), float, double);

}  // namespace
}  // namespace plumb
