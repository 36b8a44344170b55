// gemm, host 20: cache tiles.
//
// Change    rung 12 over tiles of B: a tile of kDepth x kWidth stays in the second-level cache while all rows
//           of a block use it.
// Traffic   B once per block of rows; C once per tile of k.
// Limits    two loads and a store per multiply-add, now from the first-level cache.
// Fails at  register reuse: every product still passes through memory operands. Rung 21 answers that.
#include <algorithm>

#include "reference/cpu/gemm/loops.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context&) {
  constexpr std::int64_t kHeight = 64, kDepth = 64, kWidth = 512;  // B's tile: 256 KB in fp64
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  const std::int64_t depth = depth_of(p, in);
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::int64_t i0 = 0; i0 < C.rows; i0 += kHeight) {
    for (std::int64_t j0 = 0; j0 < C.cols; j0 += kWidth) {
      const std::int64_t i1 = std::min(i0 + kHeight, C.rows), wide = std::min(kWidth, C.cols - j0);
      const DenseView<T, Space::host> block{C.data + j0, C.rows, wide, C.ld};
      scale_rows(block, p.beta, i0, i1);
      for (std::int64_t k0 = 0; k0 < depth; k0 += kDepth) {
        const std::int64_t k1 = std::min(k0 + kDepth, depth);
        for (std::int64_t i = i0; i < i1; ++i) {
          T* c = &block(i, 0);
          for (std::int64_t k = k0; k < k1; ++k) {
            const T a = A(i, k);
            const T* b = B.data + k * B.ld + j0;
#pragma omp simd
            for (std::int64_t j = 0; j < wide; ++j) c[j] += p.alpha * (a * b[j]);
          }
        }
      }
    }
  }
}

PLUMB_REGISTER_WITH(Gemm, "20_tiled", (run<T>, {}, by_rows<T>), float, double);

}  // namespace
}  // namespace plumb
