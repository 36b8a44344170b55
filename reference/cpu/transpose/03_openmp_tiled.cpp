// transpose, host 03: tiles dealt out to OpenMP threads, each turned through a buffer.
//
// Change    tiles are shared out in both dimensions; a tile passes through a packed buffer, so that the
//           strided side is the buffer's and never the memory's.
// Traffic   as rung 02.
// Limits    memory bandwidth.
// Fails at  matrices of fewer tiles than cores.
#include <algorithm>

#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kTile = 32;

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::host>& in,
         const Transpose::Out<T, Space::host>& out, Context&) {
  const auto A = in.A;
  const auto B = out.B;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t j0 = 0; j0 < A.cols; j0 += kTile) {
    for (std::int64_t i0 = 0; i0 < A.rows; i0 += kTile) {
      const std::int64_t high = std::min(kTile, A.rows - i0), wide = std::min(kTile, A.cols - j0);
      T tile[kTile][kTile + 1];  // one more per row: a column then touches every set of the cache
      for (std::int64_t i = 0; i < high; ++i) {
        for (std::int64_t j = 0; j < wide; ++j) tile[i][j] = A(i0 + i, j0 + j);
      }
      for (std::int64_t j = 0; j < wide; ++j) {
        for (std::int64_t i = 0; i < high; ++i) B(j0 + j, i0 + i) = tile[i][j];
      }
    }
  }
}

PLUMB_REGISTER(Transpose, "03_openmp_tiled", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
