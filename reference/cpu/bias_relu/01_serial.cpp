// bias_relu, host 01: one loop over rows, one over columns.
//
// Change    first rung: the definition. Both comparisons are false for NaN, so NaN is kept; std::max(T(0), v)
//           in their place would return 0 for it.
// Traffic   compulsory bytes.
// Limits    one core.
// Fails at  nothing, slowly.
#include "reference/core/values.hpp"
#include "reference/ops/bias_relu.hpp"

namespace plumb {
namespace {

template <class T>
void run(const BiasRelu::Problem<T>& p, const BiasRelu::In<T, Space::host>& in,
         const BiasRelu::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    for (std::int64_t j = 0; j < in.x.cols; ++j) {
      V v = value(in.x(i, j)) + (in.b.size > 0 ? value(in.b[j]) : p.bias);
      if (v < V(0)) v = 0;
      if (v > p.cap) v = p.cap;
      out.y(i, j) = stored<out_t<T>>(v);
    }
  }
}

PLUMB_REGISTER(BiasRelu, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
