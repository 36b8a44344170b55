// bias_relu, host 02: threads over tiles of rows and columns, SIMD inside.
//
// Change    tiles of 4,096 columns of one row are distributed, so that one long row is shared as well as many
//           short ones. The inner loop has no branch: both comparisons become masks, and still keep NaN.
// Traffic   compulsory bytes.
// Limits    memory bandwidth.
// Fails at  rows of a few elements: the tile loop costs as much as the row.
#include <algorithm>

#include "reference/ops/bias_relu.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kTile = 4096;

template <bool PerColumn, class T>
void sweep(const BiasRelu::Problem<T>& p, const BiasRelu::In<T, Space::host>& in,
           const BiasRelu::Out<T, Space::host>& out) {
  const std::int64_t rows = in.x.rows, cols = in.x.cols, tiles = (cols + kTile - 1) / kTile;
  const T cap = p.cap, scalar = p.bias;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const std::int64_t begin = tile * kTile, end = std::min(cols, begin + kTile);
      const T* x = in.x.data + i * in.x.ld;
      const T* b = in.b.data;
      T* y = out.y.data + i * out.y.ld;
#pragma omp simd
      for (std::int64_t j = begin; j < end; ++j) {
        T v = x[j] + (PerColumn ? b[j] : scalar);
        v = v < T(0) ? T(0) : v;
        y[j] = v > cap ? cap : v;
      }
    }
  }
}

template <class T>
void run(const BiasRelu::Problem<T>& p, const BiasRelu::In<T, Space::host>& in,
         const BiasRelu::Out<T, Space::host>& out, Context&) {
  if (in.b.size > 0)
    sweep<true>(p, in, out);
  else
    sweep<false>(p, in, out);
}

PLUMB_REGISTER(BiasRelu, "02_openmp_simd", run, float, double);

}  // namespace
}  // namespace plumb
