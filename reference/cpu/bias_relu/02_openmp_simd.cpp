// bias_relu, host 02: threads over tiles of rows and columns, SIMD inside.
//
// Change    tiles of 4,096 columns of one row are distributed, so that one long row is shared as well as many
//           short ones. The inner loop has no branch: both comparisons become masks, and still keep NaN.
// Traffic   compulsory bytes.
// Limits    memory bandwidth.
// Fails at  rows of a few elements: the tile loop costs as much as the row.
#include <algorithm>

#include "reference/core/values.hpp"
#include "reference/ops/bias_relu.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kTile = 4096;

template <bool PerColumn, class T>
void sweep(const BiasRelu::Problem<T>& p, const BiasRelu::In<T, Space::host>& in,
           const BiasRelu::Out<T, Space::host>& out) {
  const std::int64_t rows = in.x.rows, cols = in.x.cols, tiles = (cols + kTile - 1) / kTile;
  using V = scalar_t<T>;
  const V cap = p.cap, scalar = p.bias;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const std::int64_t begin = tile * kTile, end = std::min(cols, begin + kTile);
      const in_t<T>* x = in.x.data + i * in.x.ld;
      const in_t<T>* b = in.b.data;
      out_t<T>* y = out.y.data + i * out.y.ld;
#pragma omp simd
      for (std::int64_t j = begin; j < end; ++j) {
        V v = value(x[j]) + (PerColumn ? value(b[j]) : scalar);
        v = v < V(0) ? V(0) : v;
        y[j] = stored<out_t<T>>(v > cap ? cap : v);
      }
    }
  }
}

template <class T>
void run(const BiasRelu::Problem<T>& p, const BiasRelu::In<T, Space::host>& in,
         const BiasRelu::Out<T, Space::host>& out, Context&) {
  if (in.b.size > 0)
    sweep<true, T>(p, in, out);
  else
    sweep<false, T>(p, in, out);
}

PLUMB_REGISTER(BiasRelu, "02_openmp_simd", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
