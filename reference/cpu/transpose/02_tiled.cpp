// transpose, host 02: square tiles.
//
// Change    a tile of kTile x kTile is read and written while its lines are in the first-level cache: each
//           line is fetched once.
// Traffic   compulsory bytes, and the lines of B once more where the processor reads before it writes.
// Limits    one core.
// Fails at  rows a power of two apart, once kTile lines fall into one set.
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
  for (std::int64_t i0 = 0; i0 < A.rows; i0 += kTile) {
    for (std::int64_t j0 = 0; j0 < A.cols; j0 += kTile) {
      const std::int64_t i1 = std::min(i0 + kTile, A.rows), j1 = std::min(j0 + kTile, A.cols);
      for (std::int64_t j = j0; j < j1; ++j) {
        for (std::int64_t i = i0; i < i1; ++i) B(j, i) = A(i, j);
      }
    }
  }
}

PLUMB_REGISTER(Transpose, "02_tiled", run, float, double);

}  // namespace
}  // namespace plumb
