// gemm, host 04: columns, sum, rows.
//
// Change    the row loop is innermost: a column of A is scaled and added to a column of C. Good for
//           column-major, bad here.
// Traffic   one cache line per element of A and of C.
// Limits    one core; two walks down columns at once.
// Fails at  every size past the cache: with 06 the slowest order of the six.
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
  for (std::int64_t j = 0; j < C.cols; ++j) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const T b = B(k, j);
      for (std::int64_t i = 0; i < C.rows; ++i) C(i, j) += p.alpha * (A(i, k) * b);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "04_jki", (run<T>, {}, one_core<T>), float, double);

}  // namespace
}  // namespace plumb
