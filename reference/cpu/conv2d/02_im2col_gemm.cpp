// conv2d, host 02: windows gathered as columns of a panel, then a product of matrices ("im2col").
//
// Change    a panel of windows is gathered once and serves all filters; kRows x kVectors sums stay in vector
//           registers over the whole depth.
// Traffic   a panel, c r s x kCols, is written once and read k / kRows times from the second-level cache.
// Limits    the multiply-add pipes, where filters are many; the gather, where they are few.
// Fails at  few filters: the gather is then most of the work.
// Source    Chellapilla, Puri and Simard (2006).
#include <omp.h>

#include "reference/cpu/conv2d/panels.hpp"

namespace plumb {
namespace {

using namespace conv2d;

template <class T>
void run(const Conv2d::Problem<T>& p, const Conv2d::In<T, Space::host>& in,
         const Conv2d::Out<T, Space::host>& out, Context& context) {
  using V = scalar_t<T>;
  const auto Y = out.Y;
  const std::int64_t depth = in.F.cols, size = std::max<std::int64_t>(depth, 1) * kCols<V>;
  V* panels =
      static_cast<V*>(context.workspace(omp_get_max_threads() * size * static_cast<std::int64_t>(sizeof(V))));
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::int64_t image = 0; image < p.n; ++image) {
    for (std::int64_t first = 0; first < Y.cols; first += kCols<V>) {
      V* panel = panels + omp_get_thread_num() * size;
      const std::int64_t wide = std::min(kCols<V>, Y.cols - first);
      if (wide < kCols<V>) std::fill_n(panel, size, V(0));  // columns past the end are computed and dropped
      gather_windows(p, in.X, image, first, wide, panel, kCols<V>);
      for (std::int64_t f = 0; f < p.k; f += kRows) {
        alignas(kVectorBytes) V tile[kRows * kCols<V>];
        const std::int64_t rows = std::min<std::int64_t>(kRows, p.k - f);
        multiply_panel(rows, depth, in.F.data + f * in.F.ld, in.F.ld, panel, tile);
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < wide; ++j)
            Y(image * p.k + f + i, first + j) = stored<out_t<T>>(tile[i * kCols<V> + j]);
        }
      }
    }
  }
}

PLUMB_REGISTER(Conv2d, "02_im2col_gemm", run, float, double, f16, bf16, f16_f32, bf16_f32, e4m3_f16,
               e4m3_bf16, e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
