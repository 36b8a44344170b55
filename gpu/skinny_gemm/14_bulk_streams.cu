// skinny_gemm, rung 14: rows of X by bulk copies, W in registers, K divided among four lanes (fp32).
//
// Change    a tile of 16 rows is one bulk copy (cp.async.bulk) of 8 KiB to its warp's own ring, started by
//           one lane: rung 11 spends an instruction on every 512 bytes. Every lane holds 4 columns of a
//           quarter of W in registers, so that X is all that comes from shared memory: a 16-byte load feeds
//           16 multiply-adds. Lanes of a quarter take neighbouring 16 bytes of a row, the two rows in hand
//           from either half of 128 bytes: no two of the 8 places in one bank without any padding. The
//           quarters' sums are combined by 3 shuffles for 128 multiply-adds; each lane's columns are permuted so that
//           what it keeps needs no choosing. X is told to leave the second-level cache first, Y stays there.
// Traffic   compulsory for up to 16 columns, in pieces of 8 KiB; X again for each further 16 columns.
// Limits    fp32: skinny_bulk_streams 124 to 209 registers, 128 bytes of static shared memory; skinny_streams
//           137 to 155 registers, no spills (sm_90, nvcc 13.0, ptxas -v). skinny_bulk_streams: 136 KiB of
//           dynamic shared memory, 1 block of 256 threads per SM, 128 KiB of X in flight; K of less than 128
//           takes other numbers of registers. H200, 281,903 x 128 x 16: 42.2 us, 1.87 of cuBLAS, 41.6 from
//           cold caches. Its prototypes: without the cache hint 51.0 and 46.0; the same copies
//           without the products 40.4, plain loads and stores of as many bytes 40.6; tiles of 8 rows 47.6; W
//           fetched one element after the other behind X's first copies 49.3. All these read past a short
//           last tile's rows, where nothing may ever have been written (the CPU executor's finding; the sums
//           went nowhere): not measured since.
// Fails at  K beyond 128, rows with a gap between them or not of whole 16 bytes: rung 11's streams, as
//           before. The last tile's products, which nothing hides.
// Source    PTX ISA, "cp.async.bulk", "createpolicy".
#include "gpu/skinny_gemm/bulk_rows.hpp"
#include "gpu/skinny_gemm/warp_streams.hpp"

namespace plumb {
namespace {

using namespace skinny;
using S = BulkRows<float, 8, 2>;
constexpr std::size_t kShared = sizeof(float) * (S::kRing + kPanel * kCols);

/// Where W(k, j) lies in shared memory: each 4 rows after each other, so that the lanes of a warp, which read
/// one element each of 8 such groups, find them in 32 banks.
PLUMB_DEVICE int place_of_w(int k, int j) {
  const int group = k / 4;
  return group * 64 + (k % 4 * kCols + j + group / 4 % 2 * 16) % 64;
}

/// Steps: of 16 along K. Whole: K is exactly that.
template <int Steps, bool Whole>
__global__ void __launch_bounds__(S::kThreads, 1) skinny_bulk_streams(In<float> in, Out<float> out) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(float, shared);
  __shared__ Mbarrier full[S::kWarps * S::kStages];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // a lane's row of two, quarter of K and four columns
  const int r = lane & 1, quarter = (lane >> 2 & 1) * 2 | (lane >> 3 & 1),
            j4 = 4 * ((lane >> 1 & 1) | (lane >> 4) << 1);
  const Index j0 = static_cast<Index>(blockIdx.y) * kCols;
  const int depth = Whole ? 16 * Steps : static_cast<int>(in.X.cols);
  // W's loads go before X's copies fill the memory's queues, each thread's all at once
  constexpr int kOwn = 16 * Steps * kCols / S::kThreads;
  float own[kOwn];
#pragma unroll
  for (int e = 0; e < kOwn; ++e) {
    const int at = e * S::kThreads + static_cast<int>(threadIdx.x), k = at / kCols, j = at % kCols;
    own[e] = k < depth && j0 + j < in.W.cols ? in.W(k, j0 + j) : 0.0f;
  }
  BulkRing<float, S> ring(in.X, shared, full);
  float* const staged = shared + S::kRing;
#pragma unroll
  for (int e = 0; e < kOwn; ++e) {
    const int at = e * S::kThreads + static_cast<int>(threadIdx.x);
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

void run(const SkinnyGemm::Problem<float>&, const In<float>& in, const Out<float>& out, Context& context) {
  if (!rows_in_bulk(in)) {
    context.explain("rung 11's streams: rows of X not of whole 16 bytes, with gaps, or longer than 128");
    run_streams<Streams>(in, out, context);
    return;
  }
  const Grid grid(static_cast<unsigned>(bulk_blocks<S>(out.Y.rows)),
                  static_cast<unsigned>(ceil_div(out.Y.cols, kCols)));
  launch(in.X.cols == 128  ? skinny_bulk_streams<8, true>
         : in.X.cols == 64 ? skinny_bulk_streams<4, true>
         : in.X.cols > 64  ? skinny_bulk_streams<8, false>
                           : skinny_bulk_streams<4, false>,
         grid, S::kThreads, kShared, context.stream, in, out);
}

// It takes any alignment, and asks for 16 bytes because verify would otherwise judge the fallback alone. sm_80
// has neither the copies nor the shared memory.
const Register<SkinnyGemm, float, Space::device> f32{"14_bulk_streams", run, Traits{}.needs_sm(90).align(16)};

}  // namespace
}  // namespace plumb
