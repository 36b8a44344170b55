// gemv, host 01: a dot product per row.
//
// Change    first rung: the definition.
// Traffic   compulsory bytes of A; x from the cache.
// Limits    one core; the chain of dependent adds, 4 cycles each.
// Fails at  nothing, slowly.
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context&) {
  const std::int64_t depth = p.alpha == T(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += in.A(i, k) * in.x[k];
    out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
  }
}

PLUMB_REGISTER(Gemv, "01_serial", run, float, double);

}  // namespace
}  // namespace plumb
