// Rows whose indices and values are staged in shared memory by their warp: the kernel of rungs 4 and 5, which
// differ in the columns of a lane.
#pragma once
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace spmm {

constexpr int kStagedThreads = 128;

// Lane l has columns l, l + 32, ... of the block's panel of 32 Columns.
template <class T, int Columns>
__global__ void __launch_bounds__(kStagedThreads) spmm_staged_rows(In<T> in, Out<T> out) {
  __shared__ std::int32_t staged_col[kStagedThreads / 32][32];
  __shared__ scalar_t<T> staged_val[kStagedThreads / 32][32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Index i = static_cast<Index>(blockIdx.x) * (kStagedThreads / 32) + warp;
  if (i >= out.C.rows) return;  // whole warps
  const Index begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1], n = out.C.cols;
  for (Index panel = static_cast<Index>(blockIdx.y) * (32 * Columns); panel < n;
       panel += static_cast<Index>(gridDim.y) * (32 * Columns)) {
    const Index column = panel + lane;
    scalar_t<T> sum[Columns] = {};
    for (Index chunk = begin; chunk < end; chunk += 32) {
      const int count = static_cast<int>(end - chunk < 32 ? end - chunk : 32);
      __syncwarp();  // the chunk before is read
      if (lane < count)
        staged_col[warp][lane] = __ldg(in.A.col + chunk + lane),
        staged_val[warp][lane] = load_value(in.A.val + chunk + lane);
      __syncwarp();
#pragma unroll 4
      for (int s = 0; s < count; ++s) {
        const in_t<T>* b = in.B.data + staged_col[warp][s] * in.B.ld + column;
        const scalar_t<T> a = staged_val[warp][s];
#pragma unroll
        for (int u = 0; u < Columns; ++u) {
          if (column + 32 * u < n) sum[u] += a * load_value(b + 32 * u);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < Columns; ++u) {
      if (column + 32 * u < n) out.C(i, column + 32 * u) = stored<out_t<T>>(sum[u]);
    }
  }
}

template <class T, int Columns>
void launch_staged_rows(const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmm_staged_rows<T, Columns>,
         grid_of(ceil_div(out.C.rows, kStagedThreads / 32), ceil_div(out.C.cols, 32 * Columns)),
         kStagedThreads, 0, context.stream, in, out);
}

/// With as many columns of a lane as C's width has for it, up to four.
template <class T>
void run_coarsened(const In<T>& in, const Out<T>& out, Context& context) {
  if (out.C.cols <= 32)
    launch_staged_rows<T, 1>(in, out, context);
  else if (out.C.cols <= 64)
    launch_staged_rows<T, 2>(in, out, context);
  else
    launch_staged_rows<T, 4>(in, out, context);
}

}  // namespace spmm
}  // namespace plumb
