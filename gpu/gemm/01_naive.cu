// gemm, rung 1: one thread per element of C, in blocks of 32 x 32.
//
// Change    first rung: the two outer loops are the grid, nothing else.
// Traffic   every element of A and B is loaded once per element of C that needs it: 2 loads per multiply-add.
//           A warp's loads of B are coalesced, its loads of A are one address for all lanes; the caches give
//           the reuse.
// Fails at  every size: each multiply-add takes two loads. Rung 2 answers that.
// Source    the definition.
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace {

using namespace gemm;

constexpr int kTile = 32, kThreads = kTile * kTile;

template <class T>
__global__ void __launch_bounds__(kThreads) gemm_naive(Problem<T> p, In<T> in, Out<T> out) {
  const TileIndex tile = tile_index(ceil_div(out.C.cols, kTile));
  const Index i = tile.m * kTile + threadIdx.y, j = tile.n * kTile + threadIdx.x;
  if (i >= out.C.rows || j >= out.C.cols) return;
  const Index depth = depth_of(p, in);
  T sum = T(0);
  for (Index k = 0; k < depth; ++k) sum += in.A(i, k) * in.B(k, j);
  finish(p, &out.C(i, j), sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemm_naive<T>, ceil_div(out.C.rows, kTile) * ceil_div(out.C.cols, kTile), dim3(kTile, kTile), 0,
         context.stream, p, in, out);
}

PLUMB_REGISTER(Gemm, "01_naive", run, float, double);

}  // namespace
}  // namespace plumb
