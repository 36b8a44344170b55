// gemm, host 01: rows, columns, sum.
//
// Change    first rung: the definition, one dot product per element of C.
// Traffic   A by rows; B by columns, one cache line per element once B outgrows the cache.
// Limits    one core; the walk down B's columns, and the chain of dependent adds.
// Fails at  nothing, slowly. Rung 02 exchanges two loops.
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
  for (std::int64_t i = 0; i < C.rows; ++i) {
    for (std::int64_t j = 0; j < C.cols; ++j) {
      T sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += A(i, k) * B(k, j);
      C(i, j) = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * C(i, j);
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "01_ijk", (run<T>, {}, one_core<T>), float, double);

}  // namespace
}  // namespace plumb
