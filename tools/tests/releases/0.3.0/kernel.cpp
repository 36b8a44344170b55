// A kernel as somebody wrote it for release 0.3.0, for --extra and plumbline_add_verify_test: what of reference/core/abi.hpp such files use.
#include "reference/core/values.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
using In = Gemv::In<T, Space::host>;
template <class T>
using Out = Gemv::Out<T, Space::host>;

template <class T>
const char* supports(const Gemv::Problem<T>&, const In<T>& in, const Out<T>&) {
  return in.A.cols > 1 << 20 ? "more than 2^20 columns" : nullptr;
}

template <class T>
void run(const Gemv::Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  using V = scalar_t<T>;
  V* const sums = static_cast<V*>(context.workspace((in.A.rows + 1) * static_cast<std::int64_t>(sizeof(V))));
  const std::int64_t depth = p.alpha == V(0) ? 0 : in.A.cols;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    sums[i] = 0;
    for (std::int64_t k = 0; k < depth; ++k) sums[i] += value(in.A(i, k)) * value(in.x[k]);
    out.y[i] =
        stored<out_t<T>>(p.beta == V(0) ? p.alpha * sums[i] : p.alpha * sums[i] + p.beta * value(out.y[i]));
  }
  context.explain("one row after another");
}

PLUMB_REGISTER(Gemv, "kernel", run, float, double, f16, bf16, f16_f32, bf16_f32);
PLUMB_REGISTER_WITH(Gemv, "kernel_aligned", (run<T>, Traits{}.align(16), supports<T>), float, double);
const Register<Gemv, float, Space::host> f32{"kernel_declared", run<float>,
                                             Traits{}.not_reproducible().computes_in(Arithmetic::native)};

}  // namespace
}  // namespace plumb
