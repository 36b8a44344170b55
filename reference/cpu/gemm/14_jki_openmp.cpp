// gemm, host 14: rung 04 with the columns dealt out to OpenMP threads.
//
// Change    the outermost loop is parallel: a thread owns whole columns of C.
// Traffic   as rung 04.
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
  scale_rows(C, p.beta, 0, C.rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < C.cols; ++j) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const T b = B(k, j);
      for (std::int64_t i = 0; i < C.rows; ++i) C(i, j) += p.alpha * (A(i, k) * b);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "14_jki_openmp", (run<T>, {}, by_columns<T>), float, double);

}  // namespace
}  // namespace plumb
