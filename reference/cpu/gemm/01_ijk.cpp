// gemm, host 01: rows, columns, sum.
//
// Change    first rung: the definition, one dot product per element of C.
// Traffic   A by rows; B by columns, one cache line per element once B outgrows the cache.
// Limits    one core; the walk down B's columns, and the chain of dependent adds.
// Fails at  nothing, slowly. Rung 02 exchanges two loops.
#include "reference/core/values.hpp"
#include "reference/cpu/gemm/loops.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context&) {
  using V = scalar_t<T>;
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < C.rows; ++i) {
    for (std::int64_t j = 0; j < C.cols; ++j) {
      V sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) sum += value(A(i, k)) * value(B(k, j));
      C(i, j) = stored<out_t<T>>(p.beta == V(0) ? p.alpha * sum : p.alpha * sum + p.beta * value(C(i, j)));
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "01_ijk", (run<T>, {}, one_core<T>), float, double, f16, bf16, f16_f32, bf16_f32,
                    e4m3_f16, e4m3_bf16, e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
