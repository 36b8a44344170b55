// The body of rung 14: rows of X by bulk copies, W in registers, K divided among four lanes. Header only.
#pragma once
#include "gpu/skinny_gemm/kernels/bulk_rows.hpp"

namespace plumb {
namespace skinny {

using BulkStages = BulkRows<float, 8, 2>;
constexpr std::size_t kBulkShared = sizeof(float) * (BulkStages::kRing + kPanel * kCols);

/// Where W(k, j) lies in shared memory: each 4 rows after each other, so that the lanes of a warp, which read
/// one element each of 8 such groups, find them in 32 banks.
PLUMB_DEVICE int place_of_w(int k, int j) {
  const int group = k / 4;
  return group * 64 + (k % 4 * kCols + j + group / 4 % 2 * 16) % 64;
}

/// Steps: of 16 along K. Whole: K is exactly that.
template <int Steps, bool Whole>
__global__ void __launch_bounds__(BulkStages::kThreads, 1) skinny_bulk_streams(In<float> in, Out<float> out) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(float, shared);
  __shared__ Mbarrier full[BulkStages::kWarps * BulkStages::kStages];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // a lane's row of two, quarter of K and four columns
  const int r = lane & 1, quarter = (lane >> 2 & 1) * 2 | (lane >> 3 & 1),
            j4 = 4 * ((lane >> 1 & 1) | (lane >> 4) << 1);
  const Index j0 = static_cast<Index>(blockIdx.y) * kCols;
  const int depth = Whole ? 16 * Steps : static_cast<int>(in.X.cols);
  // W's loads go before X's copies fill the memory's queues, each thread's all at once
  constexpr int kOwn = 16 * Steps * kCols / BulkStages::kThreads;
  float own[kOwn];
#pragma unroll
  for (int e = 0; e < kOwn; ++e) {
    const int at = e * BulkStages::kThreads + static_cast<int>(threadIdx.x), k = at / kCols, j = at % kCols;
    own[e] = k < depth && j0 + j < in.W.cols ? in.W(k, j0 + j) : 0.0f;
  }
  BulkRing<float, BulkStages> ring(in.X, shared, full);
  float* const staged = shared + BulkStages::kRing;
#pragma unroll
  for (int e = 0; e < kOwn; ++e) {
    const int at = e * BulkStages::kThreads + static_cast<int>(threadIdx.x);
    staged[place_of_w(at / kCols, at % kCols)] = own[e];
  }
  __syncthreads();
  // step s of a row is elements [16 (s ^ r) + 4 quarter, + 4); slot c is column j4 + (c ^ quarter)
  float w[Steps][4][4];
#pragma unroll
  for (int s = 0; s < Steps; ++s) {
#pragma unroll
    for (int l = 0; l < 4; ++l) {
#pragma unroll
      for (int c = 0; c < 4; ++c)
        w[s][l][c] = staged[place_of_w(16 * (s ^ r) + 4 * quarter + l, j4 + (c ^ quarter))];
    }
  }
  const int j = j4 + quarter;
  const bool mine = j0 + j < out.Y.cols;

  Index row;
  const float* tile;
  while (const int rows = ring.get(row, tile)) {
    const float* const even = tile + 16 * r + 4 * quarter;  // steps s ^ r of an even s, and of an odd one
    const float* const odd = even - 32 * r;
    int at = r * depth;
    float* y = out.Y.data + (row + r) * out.Y.ld + j0 + j;
    // whole fours: in place of rows past the last the first one is read, and its sums go nowhere
#pragma unroll 1
    for (int left = rows - r; left > -r; left -= 4) {
      const int row_at[2] = {left > 0 ? at : 0, left > 2 ? at + 2 * depth : 0};
      float sum[2][4] = {};
#pragma unroll
      for (int s = 0; s < Steps; ++s) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
          Vector<float> v{};
          if (Whole || 16 * (s ^ r) + 4 * quarter < depth)
            v = *reinterpret_cast<const Vector<float>*>((s % 2 == 0 ? even : odd) + row_at[q] + 16 * s);
#pragma unroll
          for (int l = 0; l < 4; ++l) {
#pragma unroll
            for (int c = 0; c < 4; ++c) sum[q][c] += v.lane[l] * w[s][l][c];
          }
        }
      }
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const float low = sum[q][0] + __shfl_xor_sync(0xffffffffu, sum[q][2], 4),
                    high = sum[q][1] + __shfl_xor_sync(0xffffffffu, sum[q][3], 4),
                    all = low + __shfl_xor_sync(0xffffffffu, high, 8);
        if (mine && 2 * q < left) y[2 * q * out.Y.ld] = all;
      }
      at += 4 * depth, y += 4 * out.Y.ld;
    }
    ring.release();
  }
#endif
}

/// Where rows_in_bulk().
inline void run_bulk_streams(const In<float>& in, const Out<float>& out, Context& context) {
  const Grid grid(static_cast<unsigned>(bulk_blocks<BulkStages>(out.Y.rows)),
                  static_cast<unsigned>(ceil_div(out.Y.cols, kCols)));
  launch(in.X.cols == 128  ? skinny_bulk_streams<8, true>
         : in.X.cols == 64 ? skinny_bulk_streams<4, true>
         : in.X.cols > 64  ? skinny_bulk_streams<8, false>
                           : skinny_bulk_streams<4, false>,
         grid, BulkStages::kThreads, kBulkShared, context.stream, in, out);
}

}  // namespace skinny
}  // namespace plumb
