// gemv, host 03: the dot product in SIMD lanes.
//
// Change    kSums vector sums run side by side, so that neither the chain of adds nor the scalar width is the
//           limit.
// Traffic   as rung 01.
// Limits    memory bandwidth once A outgrows the caches.
// Fails at  short rows: the sum over lanes takes all the time.
#include "reference/cpu/gemv/simd_dot.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context&) {
  using V = scalar_t<T>;
  const std::int64_t depth = p.alpha == V(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const V sum = simd_dot(in.A.data + i * in.A.ld, in.x.data, depth);
    out.y[i] = stored<out_t<T>>(p.beta == V(0) ? p.alpha * sum : p.alpha * sum + p.beta * value(out.y[i]));
  }
}

PLUMB_REGISTER(Gemv, "03_simd_dot", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
