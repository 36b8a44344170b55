// swiglu, host 01: one loop.
//
// Change    first rung: the definition.
// Traffic   every array once.
// Limits    calls of a library function.
// Fails at  nothing, slowly.
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/swiglu.hpp"

namespace plumb {
namespace {

template <class T>
void run(const SwiGlu::Problem<T>&, const SwiGlu::In<T, Space::host>& in,
         const SwiGlu::Out<T, Space::host>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      const auto a = value(in.a(i, j));
      out.y(i, j) = stored<out_t<T>>(a / (1 + std::exp(-a)) * value(in.b(i, j)));
    }
  }
}

PLUMB_REGISTER(SwiGlu, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
