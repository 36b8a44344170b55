// conv2d, host 01: the sum as it is written, a row of outputs at a time.
//
// Change    first rung: planes of Y are dealt out to OpenMP threads; a tap of a filter is added to a whole
//           row, which stands in workspace where Y is narrow.
// Traffic   a row of Y is read and written c r s times from the first-level cache, X k times.
// Limits    one load and one store of Y per multiply-add vector.
// Fails at  many channels: nothing is reused from registers. Rung 02 answers that.
#include <omp.h>

#include <algorithm>

#include "reference/core/values.hpp"
#include "reference/ops/conv2d.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in,
         const Conv2d::Out<T, Space::host>& out, Context& context) {
  using V = scalar_t<T>;
  V* rows = nullptr;  // of sums, one for a thread, where Y holds none
  if constexpr (!kHoldsSums<T>)
    rows = static_cast<V*>(
        context.workspace(omp_get_max_threads() * p.ow * static_cast<std::int64_t>(sizeof(V))));
  const auto X = in.X, F = in.F;
  const auto Y = out.Y;
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::int64_t plane = 0; plane < Y.rows; ++plane) {
    for (std::int64_t oy = 0; oy < p.oh; ++oy) {
      const std::int64_t image = plane / p.k, filter = plane % p.k;
      V* y = nullptr;
      if constexpr (kHoldsSums<T>)
        y = &Y(plane, oy * p.ow);
      else
        y = rows + omp_get_thread_num() * std::int64_t{p.ow};
      std::fill_n(y, p.ow, V(0));
      for (std::int64_t tap = 0; tap < F.cols; ++tap) {
        const std::int64_t ch = tap / (p.r * p.s), a = tap / p.s % p.r, b = tap % p.s;
        const V f = value(F(filter, tap)),
                nothing = V(0) * f;  // what the padding adds: NaN where f is not finite
        const std::int64_t iy = oy * p.stride_h + a * p.dilation_h - p.pad_h,
                           shift = b * p.dilation_w - p.pad_w;
        // outputs [begin, end) see a pixel at this tap
        std::int64_t begin = shift < 0 ? (-shift + p.stride_w - 1) / p.stride_w : 0;
        std::int64_t end = p.w > shift ? (p.w - shift - 1) / p.stride_w + 1 : 0;
        if (iy < 0 || iy >= p.h) end = 0;
        end = std::min<std::int64_t>(end, p.ow), begin = std::min(begin, end);
        for (std::int64_t ox = 0; ox < begin; ++ox) y[ox] += nothing;
        if (p.stride_w == 1 && begin < end) {
          const in_t<T>* x = &X(image * p.c + ch, iy * p.w + shift + begin);
          for (std::int64_t ox = begin; ox < end; ++ox) y[ox] += f * value(x[ox - begin]);
        } else {
          for (std::int64_t ox = begin; ox < end; ++ox)
            y[ox] += f * value(X(image * p.c + ch, iy * p.w + ox * p.stride_w + shift));
        }
        for (std::int64_t ox = end; ox < p.ow; ++ox) y[ox] += nothing;
      }
      for (std::int64_t ox = 0; !kHoldsSums<T> && ox < p.ow; ++ox)
        Y(plane, oy * p.ow + ox) = stored<out_t<T>>(y[ox]);
    }
  }
}

PLUMB_REGISTER(Conv2d, "01_direct", run, float, double, f16, bf16, f16_f32, bf16_f32, e4m3_f16, e4m3_bf16,
               e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
