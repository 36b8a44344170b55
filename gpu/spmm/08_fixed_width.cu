// spmm, rung 8: kernels for 16, 32, 40 and 128 columns, known when compiled.
//
// Change    the lanes of a row are a constant, and no power of two: 40 columns take ten lanes, so a warp
//           holds three rows, and 30 of its lanes work, not 10 of 16. No lane asks whether it is inside. In
//           fp64 a lane holds two packs of 16 bytes. Other widths, and operands off 16-byte boundaries, as
//           rung 3.
// Traffic   as rung 3.
// Fails at  as rung 3; each width is a kernel more to compile.
#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T, int N>
__global__ void __launch_bounds__(kRowThreads) spmm_fixed_width(In<T> in, Out<T> out) {
  constexpr int kV = 16 / sizeof(T), kPacks = sizeof(T) / 4, kLanes = N / (kV * kPacks), kRows = 32 / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / kLanes;
  const Index warp = static_cast<Index>(blockIdx.x) * (kRowThreads / 32) + threadIdx.x / 32;
  const Index i = warp * kRows + group;
  if (group >= kRows || i >= out.C.rows) return;
  const int column = lane % kLanes * kV;
  T sum[kPacks][kV] = {};
  const Index end = in.A.row_ptr[i + 1];
  for (Index k = in.A.row_ptr[i]; k < end; ++k) {
    const T a = __ldg(in.A.val + k);
    const T* b = in.B.data + __ldg(in.A.col + k) * in.B.ld + column;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const Pack<T, kV> x = load_pack<kV>(b + p * kLanes * kV);
#pragma unroll
      for (int v = 0; v < kV; ++v) sum[p][v] += a * x.at[v];
    }
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) { store_pack<kV>(&out.C(i, column + p * kLanes * kV), sum[p]); }
}

template <class T, int N>
void launch_fixed_width(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kRowsPerWarp = 32 / (N / 4);
  launch(spmm_fixed_width<T, N>, ceil_div(out.C.rows, kRowThreads / 32 * kRowsPerWarp), kRowThreads, 0,
         context.stream, in, out);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const int v = vector_length(in, out);
  const Index n = out.C.cols;
  if (v * sizeof(T) == 16) {
    if (n == 16) return launch_fixed_width<T, 16>(in, out, context);
    if (n == 32) return launch_fixed_width<T, 32>(in, out, context);
    if (n == 40) return launch_fixed_width<T, 40>(in, out, context);
    if (n == 128) return launch_fixed_width<T, 128>(in, out, context);
  }
  context.explain("a width without a kernel of its own, or operands off 16-byte boundaries: as rung 3");
  Rows<T> work;
  work.lanes = lanes_for(n, v);
  work.count = out.C.rows;
  run_rows<1>(v, work, in, out, context);
}

PLUMB_REGISTER(Spmm, "08_fixed_width", run, float, double);

}  // namespace
}  // namespace plumb
