// gemm, host 06: sum, columns, rows.
//
// Change    rung 05 with the inner loops exchanged.
// Traffic   the whole of C per k, down its columns.
// Limits    one core; one cache line per element of C, m n k times.
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
  scale_rows(C, p.beta, 0, C.rows);
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t j = 0; j < C.cols; ++j) {
      const T b = B(k, j);
      for (std::int64_t i = 0; i < C.rows; ++i) C(i, j) += p.alpha * (A(i, k) * b);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "06_kji", (run<T>, {}, one_core<T>), float, double);

}  // namespace
}  // namespace plumb
