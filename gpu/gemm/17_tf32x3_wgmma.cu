// requires: sm_90a
// gemm, rung 17: rung 13's three tf32 products by groups of four warps, wgmma (fp32, declared tf32x3).
//
// Change    wgmma takes B from shared memory, K-major: a first kernel turns and splits B, x = hi + lo, and
//           lays it out as the cores that wgmma reads (8 columns by 16 bytes), so that a chunk of 16 along
//           K is one bulk copy (cp.async.bulk) of 32 KiB with nothing to compute; six are in flight. A
//           comes from memory to the registers of the lanes that need it, and is split there: each element
//           serves one group of warps alone. A lane's four elements of a row are 16 contiguous bytes; B's
//           chunks permute K to match. Each group of warps makes 64 x 256 in two halves: one group adds its
//           sums while the other keeps the tensor cores busy. Sums as in rung 13: small products first,
//           each step of 16 from zero, then ordinary additions.
// Values    as rung 13: a tile that has an operand below 2^-100 or a sum that is not finite is made again
//           by plain multiply-adds, all of it; the same on every run. So are products of fewer than 16
//           terms.
// Traffic   A is read n / 256 times, B's parts m / 128 times; the splitting reads B once and writes it
//           twice. Rows of A that do not begin on 16 bytes are copied to ones that do.
// Fails at  chips other than compute capability 9.0; problems of few tiles of 128 x 256 (32 at 1022, for
//           132 multiprocessors: 0.6 of cuBLAS fp32, where rung 13 reaches 0.93).
// Source    PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; H. Ootomo and R. Yokota (2022), as
//           rung 13.
#include "gpu/device/memory.hpp"
#include "gpu/device/tf32x3.hpp"
#include "gpu/device/wgmma.hpp"
#include "gpu/gemm/kernels/multistage.hpp"

namespace plumb {
namespace {

using namespace gemm;

/// Tile of C: two groups of four warps, each 64 x 256, in two halves; chunks of 16 along K.
constexpr int kRows = 128, kCols = 256, kHalf = 128, kDepth = 16, kThreads = 256, kStages = 6, kBehind = 2;
/// A chunk of B: high parts, then low parts; each [4 cores of K][kCols][4 elements].
constexpr int kPart = kDepth * kCols, kChunk = 2 * kPart;
constexpr std::size_t kShared = sizeof(float) * kStages * kChunk + 2 * kStages * sizeof(Mbarrier);

constexpr int kPackDepth = 2;  // chunks of B that a block of the packing takes

/// B in chunks, split: element k = 4 t + c of a chunk is element t of core c.
__global__ void __launch_bounds__(kCols)
    gemm_split_b(DenseView<const float, Space::device> b, Index chunks, Index parts,
                 float* packed /* (panels, chunks, 2, 4, kCols, 4) */,
                 unsigned* least /* (panels, parts) */) {
  const Index panel = static_cast<Index>(blockIdx.x) / parts, part = static_cast<Index>(blockIdx.x) % parts;
  const Index col = panel * kCols + threadIdx.x;
  Tf32Splitter splitter;
  for (int u = 0; u < kPackDepth; ++u) {
    const Index chunk = part * kPackDepth + u;
    if (chunk >= chunks) break;
    float x[kDepth];
#pragma unroll
    for (int k = 0; k < kDepth; ++k) x[k] = load_or_zero(b, chunk * kDepth + k, col, b.rows, b.cols);
    float* const to = packed + (panel * chunks + chunk) * kChunk + 4 * threadIdx.x;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      Vector<unsigned> hi, lo;
#pragma unroll
      for (int t = 0; t < 4; ++t) { splitter.split(x[4 * t + c], hi.lane[t], lo.lane[t]); }
      *reinterpret_cast<Vector<unsigned>*>(to + c * 4 * kCols) = hi;
      *reinterpret_cast<Vector<unsigned>*>(to + c * 4 * kCols + kPart) = lo;
    }
  }
  __shared__ unsigned warps[kCols / 32];
  unsigned small = splitter.least;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) small = min(small, __shfl_xor_sync(0xffffffffu, small, d));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = small;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < kCols / 32; ++w) small = min(small, warps[w]);
    least[blockIdx.x] = small;
  }
}

constexpr int kAlignThreads = 256;

__global__ void __launch_bounds__(kAlignThreads)
    gemm_align(DenseView<const float, Space::device> from, float* to /* (rows, ld) */, Index ld) {
  const Index col = static_cast<Index>(blockIdx.x) * kAlignThreads + threadIdx.x;
  for (Index row = blockIdx.y; row < from.rows && col < ld; row += gridDim.y)
    to[row * ld + col] = col < from.cols ? from(row, col) : 0.0f;
}

/// A copy of `from` in workspace: rows on 16 bytes, whole vectors long, zeros behind their ends.
DenseView<const float, Space::device> align_rows(const DenseView<const float, Space::device>& from,
                                                 Context& context) {
  constexpr Index kV = Vector<float>::kLanes;
  const Index ld = ceil_div(from.cols, kV) * kV;
  float* const to =
      static_cast<float*>(context.workspace(from.rows * ld * static_cast<Index>(sizeof(float))));
  launch(gemm_align,
         Grid(static_cast<unsigned>(ceil_div(ld, kAlignThreads)),
              static_cast<unsigned>(from.rows < 65535 ? from.rows : 65535)),
         kAlignThreads, 0, context.stream, from, to, ld);
  return {to, from.rows, ld, ld};
}

__global__ void __launch_bounds__(kThreads, 1)
    gemm_tf32x3_wgmma(Problem<float> p, In<float> in, Out<float> out, DenseView<const float, Space::device> a,
                      Index depth, const float* packed, Index parts, const unsigned* least_b, bool wide_c) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(float, shared);
  Mbarrier* const full = reinterpret_cast<Mbarrier*>(shared + kStages * kChunk);
  Mbarrier* const empty = full + kStages;
  const TileIndex tile = banded_tile_index(ceil_div(out.C.rows, kRows), ceil_div(out.C.cols, kCols));
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, g = lane / 4, t = lane % 4;
  const Index i0 = tile.m * kRows + thread / 32 * 16 + g, j0 = tile.n * kCols + 2 * t;
  const int chunks = static_cast<int>(ceil_div(depth, kDepth));
  const float* const chunk_of_b = packed + tile.n * chunks * kChunk;

  if (thread == 0) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(full + s, 1), mbarrier_init(empty + s, kThreads / 32);
    mbarrier_fence_init();
    for (int c = 0; c < kStages && c < chunks; ++c) {
      mbarrier_arrive_expect(full + c, kChunk * 4);
      bulk_copy(shared + c * kChunk, chunk_of_b + c * static_cast<Index>(kChunk), kChunk * 4, full + c);
    }
  }
  __syncthreads();

  const float* row[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const Index i = i0 + 8 * h;
    row[h] = a.data + (i < out.C.rows ? i : out.C.rows - 1) * a.ld + 4 * t;
  }
  Tf32Splitter splitter;
  float sum[2][64] = {};
  Vector<float> raw[2];
  const auto load_a = [&](int chunk) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      raw[h] = Vector<float>{};
      if (static_cast<Index>(chunk) * kDepth + 4 * t < depth)
        raw[h] = *reinterpret_cast<const Vector<float>*>(row[h] + chunk * kDepth);
    }
  };
  load_a(0);
  int stage = 0, round = 0;
  int old_stage = 0, old_round = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    // the stage that was left kBehind chunks ago takes the chunk that is kStages on from there
    if (chunk >= kBehind) {
      if (thread == 0 && chunk - kBehind + kStages < chunks) {
        mbarrier_wait(empty + old_stage, old_round & 1);
        mbarrier_arrive_expect(full + old_stage, kChunk * 4);
        bulk_copy(shared + old_stage * kChunk,
                  chunk_of_b + (chunk - kBehind + kStages) * static_cast<Index>(kChunk), kChunk * 4,
                  full + old_stage);
      }
      __syncwarp();
      if (++old_stage == kStages) old_stage = 0, ++old_round;
    }
    unsigned hi[2][4], lo[2][4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        splitter.split(raw[h].lane[c], hi[c / 2][2 * (c % 2) + h], lo[c / 2][2 * (c % 2) + h]);
      }
    }
    if (chunk + 1 < chunks) load_a(chunk + 1);
    mbarrier_wait(full + stage, round & 1);
    const float* const b = shared + stage * kChunk;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float step[64];
      const unsigned long long b_hi = wgmma_cores(b + 4 * kHalf * half, 16 * kCols, 128),
                               b_lo = wgmma_cores(b + kPart + 4 * kHalf * half, 16 * kCols, 128);
      constexpr int kStep = 2 * 16 * kCols >> 4;
      wgmma_fence();
      wgmma_m64n128k8_tf32(step, lo[0], b_hi, false);
      wgmma_m64n128k8_tf32(step, lo[1], b_hi + kStep, true);
      wgmma_m64n128k8_tf32(step, hi[0], b_lo, true);
      wgmma_m64n128k8_tf32(step, hi[1], b_lo + kStep, true);
      wgmma_m64n128k8_tf32(step, hi[0], b_hi, true);
      wgmma_m64n128k8_tf32(step, hi[1], b_hi + kStep, true);
      wgmma_commit();
      wgmma_wait<0>();
#pragma unroll
      for (int e = 0; e < 64; ++e) sum[half][e] += step[e];
    }
    if (lane == 0) mbarrier_arrive(empty + stage);
    if (++stage == kStages) stage = 0, ++round;
  }

  bool outside = depth_of(p, in) < kLeastTf32x3Depth || splitter.too_small();
  for (Index s = thread; s < parts; s += kThreads)
    outside |= Tf32Splitter::below(least_b[tile.n * parts + s]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int e = 0; e < 64; ++e) outside |= not_finite(sum[half][e]);
  }
  if (__syncthreads_or(outside)) {  // of the whole tile, so that the answer does not depend on lanes
#pragma unroll 1
    for (int e = 0; e < 128; ++e) {
      const Index i = i0 + 8 * (e / 2 % 2), j = j0 + 8 * (e / 4) + e % 2;
      if (i >= out.C.rows || j >= out.C.cols) continue;
      float plain = 0.0f;
      for (Index k = 0; k < depth_of(p, in); ++k) plain += in.A(i, k) * in.B(k, j);
      finish(p, &out.C(i, j), plain);
    }
    return;
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const Index i = i0 + 8 * h;
    if (i >= out.C.rows) continue;
#pragma unroll
    for (int n = 0; n < 32; ++n) {
      const Index j = j0 + 8 * n;
      const float x = sum[n / 16][4 * (n % 16) + 2 * h], y = sum[n / 16][4 * (n % 16) + 2 * h + 1];
      float* const at = out.C.data + i * out.C.ld + j;
      if (wide_c && j + 2 <= out.C.cols) {
        float2 c{0.0f, 0.0f};
        if (p.beta != 0.0f) c = *reinterpret_cast<const float2*>(at);
        c.x = p.alpha * x + (p.beta == 0.0f ? 0.0f : p.beta * c.x);
        c.y = p.alpha * y + (p.beta == 0.0f ? 0.0f : p.beta * c.y);
        *reinterpret_cast<float2*>(at) = c;
      } else {
        if (j < out.C.cols) finish(p, at, x);
        if (j + 1 < out.C.cols) finish(p, at + 1, y);
      }
    }
  }
#endif
}

const char* supports(const Problem<float>&, const In<float>&, const Out<float>&) {
  const int sm = device_sm();
  return sm == 90 || sm == kAnySm ? nullptr : "wgmma is an instruction of compute capability 9.0 alone";
}

void run(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  const Index m = out.C.rows, n = out.C.cols, depth = p.alpha == 0.0f ? 0 : in.A.cols;
  if (m == 0 || n == 0) return;
  const Index tiles = ceil_div(m, kRows) * ceil_div(n, kCols), panels = ceil_div(n, kCols),
              chunks = ceil_div(depth, kDepth), parts = ceil_div(chunks, kPackDepth);
  float* const packed =
      static_cast<float*>(context.workspace(panels * chunks * kChunk * static_cast<Index>(sizeof(float))));
  unsigned* const least =
      static_cast<unsigned*>(context.workspace(panels * parts * static_cast<Index>(sizeof(unsigned))));
  launch(gemm_split_b, panels * parts, kCols, 0, context.stream, in.B, chunks, parts, packed, least);
  const bool vectors = whole_vectors(in.A);
  const DenseView<const float, Space::device> a = vectors || depth == 0 ? in.A : align_rows(in.A, context);
  const bool wide_c = reinterpret_cast<std::uintptr_t>(out.C.data) % 8 == 0 && out.C.ld % 2 == 0;
  launch(gemm_tf32x3_wgmma, tiles, kThreads, kShared, context.stream, p, in, out, a, depth > 0 ? a.cols : 0,
         static_cast<const float*>(packed), parts, static_cast<const unsigned*>(least), wide_c);
}

const Register<Gemm, float, Space::device> f32{
    "17_tf32x3_wgmma", run, Traits{}.computes_in(Arithmetic::tf32x3).needs_sm(90), supports};

}  // namespace
}  // namespace plumb
