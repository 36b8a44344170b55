// gemm, host 05: sum, rows, columns.
//
// Change    the sum loop is outermost: one outer product per k, added to the whole of C.
// Traffic   B once; the whole of C in and out per k.
// Limits    one core; the traffic of C.
// Fails at  C larger than the cache.
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
    for (std::int64_t i = 0; i < C.rows; ++i) {
      const T a = A(i, k);
      for (std::int64_t j = 0; j < C.cols; ++j) C(i, j) += p.alpha * (a * B(k, j));
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "05_kij", (run<T>, {}, one_core<T>), float, double);

}  // namespace
}  // namespace plumb
