// transpose, host 01: two loops.
//
// Change    first rung: the definition.
// Traffic   A by rows; B down its columns, one cache line per element.
// Limits    one core; the writes.
// Fails at  rows a power of two apart: the lines of a column evict each other.
#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::host>& in,
         const Transpose::Out<T, Space::host>& out, Context&) {
  const auto A = in.A;
  const auto B = out.B;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t j = 0; j < A.cols; ++j) B(j, i) = A(i, j);
  }
}

PLUMB_REGISTER(Transpose, "01_naive", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
