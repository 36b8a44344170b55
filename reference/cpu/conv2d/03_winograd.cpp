// conv2d, host 03: Winograd's minimal filtering F(2x2, 3x3) (declared winograd).
//
// Change    4 x 4 inputs and 3 x 3 filters are transformed, so that 2 x 2 outputs take 16 products per
//           channel in place of 36; each of the 16 places is a product of matrices over the channels.
// Traffic   transformed inputs of a panel of tiles, 16 c x kCols, are read k / kRows times from the
//           second-level cache; transformed filters, 16 k c, once per panel.
// Limits    the multiply-add pipes at 16 / 36 of their work, and the transforms, which no filter reuses.
// Fails at  anything but 3 x 3, stride 1: unsupported. NaN and infinities spread over the four outputs of a
//           tile: it declares itself for finite inputs.
// Source    Lavin and Gray, CVPR 2016.
#include <omp.h>

#include "reference/arithmetic/winograd.hpp"
#include "reference/cpu/conv2d/panels.hpp"

namespace plumb {
namespace {

using namespace conv2d;

template <class T>
const char* supports(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>&,
                     const Conv2d::Out<T, Space::host>&) {
  return winograd_applies(p) ? nullptr : "F(2x2, 3x3) takes 3 x 3 filters with stride and dilation 1";
}

template <class T>
void run(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in,
         const Conv2d::Out<T, Space::host>& out, Context& context) {
  const auto Y = out.Y;
  const std::int64_t across = (p.ow + 1) / 2, tiles = across * ((p.oh + 1) / 2), c = p.c,
                     filters = 16 * c * p.k, size = 16 * std::max<std::int64_t>(c, 1) * kCols<T>;
  T* u = static_cast<T*>(context.workspace((filters + omp_get_max_threads() * size) *
                                           static_cast<std::int64_t>(sizeof(T))));  // (16, k, c)
  T* panels = u + filters;  // per thread (16, c, kCols)
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (std::int64_t f = 0; f < p.k; ++f) {
      for (std::int64_t ch = 0; ch < c; ++ch) winograd_filter(&in.F(f, ch * 9), u + f * c + ch, p.k * c);
    }
#pragma omp for collapse(2) schedule(dynamic)
    for (std::int64_t image = 0; image < p.n; ++image) {
      for (std::int64_t first = 0; first < tiles; first += kCols<T>) {
        T* panel = panels + omp_get_thread_num() * size;
        const std::int64_t wide = std::min(kCols<T>, tiles - first);
        if (wide < kCols<T>) std::fill_n(panel, size, T(0));  // tiles past the end are computed and dropped
        for (std::int64_t ch = 0; ch < c; ++ch) {
          const T* plane = &in.X(image * c + ch, 0);
          for (std::int64_t t = 0; t < wide; ++t) {
            const std::int64_t y = (first + t) / across * 2 - p.pad_h, x = (first + t) % across * 2 - p.pad_w;
            T d[4][4];
            for (int i = 0; i < 4; ++i) {
              for (int j = 0; j < 4; ++j) {
                const bool inside = y + i >= 0 && y + i < p.h && x + j >= 0 && x + j < p.w;
                d[i][j] = inside ? plane[(y + i) * p.w + x + j] : T(0);
              }
            }
            winograd_input(d, panel + ch * kCols<T> + t, c * kCols<T>);
          }
        }
        for (std::int64_t f = 0; f < p.k; f += kRows) {
          alignas(kVectorBytes) T products[16][kRows * kCols<T>];
          const std::int64_t rows = std::min<std::int64_t>(kRows, p.k - f);
          for (std::int64_t e = 0; e < 16; ++e)
            multiply_panel(rows, c, u + (e * p.k + f) * c, c, panel + e * c * kCols<T>, products[e]);
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t t = 0; t < wide; ++t) {
              const std::int64_t y0 = (first + t) / across * 2, x0 = (first + t) % across * 2;
              T y[2][2];
              winograd_output(&products[0][i * kCols<T> + t], kRows * kCols<T>, y);
              for (std::int64_t a = 0; a < std::min<std::int64_t>(2, p.oh - y0); ++a) {
                for (std::int64_t b = 0; b < std::min<std::int64_t>(2, p.ow - x0); ++b)
                  Y(image * p.k + f + i, (y0 + a) * p.ow + x0 + b) = y[a][b];
              }
            }
          }
        }
      }
    }
  }
}

constexpr Traits kTraits = Traits{}.computes_in(Arithmetic::winograd).for_finite_inputs();
PLUMB_REGISTER_WITH(Conv2d, "03_winograd", (run<T>, kTraits, supports<T>), float, double);

}  // namespace
}  // namespace plumb
