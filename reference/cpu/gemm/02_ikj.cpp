// gemm, host 02: rows, sum, columns.
//
// Change    the column loop is innermost: a row of B is scaled and added to a row of C.
// Traffic   everything by rows, so that the compiler vectorises; C passes through the cache once per k.
// Limits    one core; two loads and a store per multiply-add. alpha is applied to products: worked into A, it
//           would turn a subnormal into 0, and Inf beside it into NaN.
// Fails at  rows of C longer than the first-level cache.
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
  for (std::int64_t i = 0; i < C.rows; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const T a = A(i, k);
      for (std::int64_t j = 0; j < C.cols; ++j) C(i, j) += p.alpha * (a * B(k, j));
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "02_ikj", (run<T>, {}, one_core<T>), float, double);

}  // namespace
}  // namespace plumb
