// gemm, host 16: rung 06 with the columns dealt out to OpenMP threads inside each step of the sum.
//
// Change    as rung 15, on columns: the sum loop stays serial, the column loop is shared.
// Traffic   as rung 06, a share per thread; neighbouring threads write one cache line where their columns meet.
// Fails at  every size past the cache.
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
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < C.rows; ++i) scale_rows(C, p.beta, i, i + 1);
    for (std::int64_t k = 0; k < depth; ++k) {
      // nowait: equal static loops of one region have equal shares, so columns stay with their thread after
      // the barrier above
#pragma omp for schedule(static) nowait
      for (std::int64_t j = 0; j < C.cols; ++j) {
        const T b = B(k, j);
        for (std::int64_t i = 0; i < C.rows; ++i) C(i, j) += p.alpha * (A(i, k) * b);
      }
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "16_kji_openmp", (run<T>, {}, by_columns<T>), float, double);

}  // namespace
}  // namespace plumb
