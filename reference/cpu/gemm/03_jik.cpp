// gemm, host 03: columns, rows, sum.
//
// Change    rung 01 with the outer loops exchanged: a column of B is read again for every row of A.
// Traffic   a column of B stays in the cache while it fits; A streams through once per column.
// Limits    one core; the chain of dependent adds.
// Fails at  C is written down its columns.
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
  for (std::int64_t j = 0; j < C.cols; ++j) {
    for (std::int64_t i = 0; i < C.rows; ++i) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += A(i, k) * B(k, j);
      C(i, j) = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * C(i, j);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "03_jik", (run<T>, {}, one_core<T>), float, double);

}  // namespace
}  // namespace plumb
