// gemm, host 12: rung 02 with the rows dealt out to OpenMP threads.
//
// Change    the outermost loop is parallel: a thread owns whole rows of C, and scales them itself.
// Traffic   as rung 02, B read by every thread.
// Limits    B's way from the shared cache.
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
    scale_rows(C, p.beta, i, i + 1);
    for (std::int64_t k = 0; k < depth; ++k) {
      const T a = A(i, k);
      for (std::int64_t j = 0; j < C.cols; ++j) C(i, j) += p.alpha * (a * B(k, j));
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "12_ikj_openmp", (run<T>, {}, by_rows<T>), float, double);

}  // namespace
}  // namespace plumb
