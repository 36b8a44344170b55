// A row of A by a whole block: its warps share the entries, and add their sums in shared memory. Header only.
#pragma once
#include "gpu/device/memory.hpp"
#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace spmm {

constexpr int kMostBlockWarps = 16;

/// Warps of a block, of which there are `blocks`: a power of two, as many as still run at once, but no fewer than four.
inline int block_warps(Index blocks) {
  constexpr Index kResident = 64;  // warps of a multiprocessor
  int warps = 4;
  while (warps < kMostBlockWarps && 2 * warps * blocks <= kResident * device_multiprocessors()) warps *= 2;
  return warps;
}

// Groups of `lanes` lanes take the entries of the block's row in turns; a group holds V columns a lane.
template <class T, int V, int Batch, bool Apart>
__global__ void __launch_bounds__(32 * kMostBlockWarps) spmm_block_rows(In<T> in, Out<T> out, int lanes) {
  __shared__ scalar_t<T> sums[kMostBlockWarps][32 * V];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32,
            warps = static_cast<int>(blockDim.x) / 32, within = lane & (lanes - 1);
  const Index i = blockIdx.x, first = static_cast<Index>(blockIdx.y) * lanes * V,
              column = first + place_of_column<V, Apart>(within, lanes, 0);
  const unsigned groups = blockDim.x / static_cast<unsigned>(lanes),
                 group = threadIdx.x / static_cast<unsigned>(lanes);
  scalar_t<T> sum[V] = {};
  if (column < out.C.cols) {
    add_entries<V, Batch, Apart>(in, static_cast<unsigned>(in.A.row_ptr[i]) + group,
                                 static_cast<unsigned>(in.A.row_ptr[i + 1]), groups, column, lanes, sum);
  }
  join_slots(sum, lanes, 32 / lanes);
  if (lane < lanes) {
#pragma unroll
    for (int v = 0; v < V; ++v) sums[warp][place_of_column<V, Apart>(within, lanes, v)] = sum[v];
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < lanes * V && first + c < out.C.cols; c += 32 * warps) {
    scalar_t<T> total = sums[0][c];
    for (int w = 1; w < warps; ++w) total += sums[w][c];
    out.C(i, first + c) = stored<out_t<T>>(total);
    if (V <= 4) break;  // four warps have a thread for each column of a panel
  }
}

template <class T, int V, bool Apart = false>
void launch_block_rows(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kBatch = V * sizeof(in_t<T>) > 8 ? 4 : 8;
  constexpr Index kMostPanels = 65535;
  const int lanes = Apart ? 32 : lanes_for(out.C.cols, V);
  const Index panels = ceil_div(out.C.cols, static_cast<Index>(lanes) * V);
  if (out.C.rows == 0 || panels == 0) return;
  const int threads = 32 * block_warps(out.C.rows * panels);
  for (Index p = 0; p < panels; p += kMostPanels) {
    const Index count = panels - p < kMostPanels ? panels - p : kMostPanels, from = p * lanes * V;
    In<T> part = in;
    Out<T> to = out;
    part.B.data += from, part.B.cols -= from, to.C.data += from, to.C.cols -= from;
    launch(spmm_block_rows<T, V, kBatch, Apart>,
           dim3(static_cast<unsigned>(out.C.rows), static_cast<unsigned>(count)), threads, 0, context.stream,
           part, to, lanes);
  }
}

template <class T>
void run_block_rows(int v, const In<T>& in, const Out<T>& out, Context& context) {
  if constexpr (kPackOf<in_t<T>> >= 8) {
    if (v == 8) return launch_block_rows<T, 8>(in, out, context);
  }
  if constexpr (kPackOf<in_t<T>> >= 4) {
    if (v == 4) return launch_block_rows<T, 4>(in, out, context);
  }
  if (v == 2) return launch_block_rows<T, 2>(in, out, context);
  switch (columns_of_lane(v, 32, out.C.cols)) {
    case 2:
      return launch_block_rows<T, 2, true>(in, out, context);
    case 4:
      return launch_block_rows<T, 4, true>(in, out, context);
    default:
      return launch_block_rows<T, 1>(in, out, context);
  }
}

}  // namespace spmm
}  // namespace plumb
