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
  const auto Y = out.Y;
  const std::int64_t depth = in.F.cols, size = std::max<std::int64_t>(depth, 1) * kCols<T>;
  T* panels =
      static_cast<T*>(context.workspace(omp_get_max_threads() * size * static_cast<std::int64_t>(sizeof(T))));
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::int64_t image = 0; image < p.n; ++image) {
    for (std::int64_t first = 0; first < Y.cols; first += kCols<T>) {
      T* panel = panels + omp_get_thread_num() * size;
      const std::int64_t wide = std::min(kCols<T>, Y.cols - first);
      if (wide < kCols<T>) std::fill_n(panel, size, T(0));  // columns past the end are computed and dropped
      gather_windows(p, in.X, image, first, wide, panel, kCols<T>);
      for (std::int64_t f = 0; f < p.k; f += kRows) {
        alignas(kVectorBytes) T tile[kRows * kCols<T>];
        const std::int64_t rows = std::min<std::int64_t>(kRows, p.k - f);
        multiply_panel(rows, depth, in.F.data + f * in.F.ld, in.F.ld, panel, tile);
        for (std::int64_t i = 0; i < rows; ++i)
          std::copy_n(tile + i * kCols<T>, wide, &Y(image * p.k + f + i, first));
      }
    }
  }
}

PLUMB_REGISTER(Conv2d, "02_im2col_gemm", run, float, double);

}  // namespace
}  // namespace plumb
