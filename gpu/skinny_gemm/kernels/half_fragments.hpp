// 16-bit elements on tensor cores, X straight from global memory: the kernel of rung 31. Header only, and apart from the rung because the
// adaptive one takes it too.
//
// A warp makes 16 rows of Y. Which terms an mma takes is free, as long as X and W agree: so the four lanes of a row load 16 bytes each of a
// chunk of 32 terms, and the words are the mma's operands as they lie. W is kept in shared memory as the lanes need it, 16 bytes each for a
// chunk and eight columns. Which columns those are is free too: a lane ends with neighbours, and stores them together. Where rows are few,
// warps of a block share them, each with chunks of its own.
#pragma once
#include "gpu/common/packs.hpp"
#include "gpu/device/mma_half.hpp"
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {
namespace half {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kRows = 16, kTerms = 32;  // of a warp; of a chunk
constexpr int kTurn = 4;  // chunks of X in flight together, half as many beside more than 32 columns

/// Tiles of eight columns, and chunks of W that shared memory holds at a time.
template <int Tiles>
struct Columns {
  static constexpr int kTiles = Tiles, kColumns = 8 * Tiles, kPanel = 64 / Tiles, kOfLane = 2 * Tiles;
};

/// How a launch divides its work.
struct Division {
  int parts = 1;        // warps that share the terms of the same rows
  bool wide_y = false;  // a lane's columns of Y lie on their size, or on 16 bytes
};

/// Eight terms at p, on V elements.
template <int V, class E>
PLUMB_DEVICE uint4 load_terms(const E* p) {
  if constexpr (V == 8) {
    return detail::as<uint4>(load_pack<8>(p));
  } else {
    Pack<E, 8> terms;
#pragma unroll
    for (int i = 0; i < 8; i += V) {
      const Pack<E, V> some = load_pack<V>(p + i);
#pragma unroll
      for (int e = 0; e < V; ++e) terms.at[i + e] = some.at[e];
    }
    return detail::as<uint4>(terms);
  }
}

/// The first `count` of eight terms at p, and +0 for the others.
template <class E>
PLUMB_DEVICE uint4 load_some_terms(const E* p, Index count) {
  Pack<E, 8> terms;
#pragma unroll
  for (int e = 0; e < 8; ++e) terms.at[e] = e < count ? load_pack<1>(p + e).at[0] : E{};
  return detail::as<uint4>(terms);
}

/// Which word of a chunk holds column c of a pass, for the lanes that have a quarter of its terms: a lane ends with neighbours.
template <int Tiles>
PLUMB_DEVICE int word_of(int c, int quarter) {
  const int tile = c % (2 * Tiles) / 2, place = c / (2 * Tiles) * 2 + c % 2;
  return tile * 32 + place * 4 + quarter;
}

/// Eight terms of eight columns of W, which are whole vectors: eight words in shared memory. `w` is the chunk's.
template <int Tiles, class T>
PLUMB_DEVICE void stage_square(const In<T>& in, Index k, Index column, int c, int quarter,
                               uint4* w /* (Tiles, 32), shared */) {
  unsigned row[8][4];  // two columns a word
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (k + i < in.W.rows) v = detail::as<uint4>(load_pack<8>(&in.W(k + i, column)));
    row[i][0] = v.x, row[i][1] = v.y, row[i][2] = v.z, row[i][3] = v.w;
  }
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    unsigned low[4], high[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned a = row[2 * i][p], b = row[2 * i + 1][p];
      low[i] = (a & 0xffffu) | b << 16, high[i] = a >> 16 | (b & 0xffff0000u);
    }
    w[word_of<Tiles>(c + 2 * p, quarter)] = make_uint4(low[0], low[1], low[2], low[3]);
    w[word_of<Tiles>(c + 2 * p + 1, quarter)] = make_uint4(high[0], high[1], high[2], high[3]);
  }
}

/// Eight terms of a column of W: a word in shared memory; zeros beyond W.
template <class T>
PLUMB_DEVICE uint4 column_terms(const In<T>& in, Index k, Index column) {
  using E = in_t<T>;
  Pack<E, 8> terms;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    terms.at[i] = column < in.W.cols && k + i < in.W.rows ? load_pack<1>(&in.W(k + i, column)).at[0] : E{};
  return detail::as<uint4>(terms);
}

/// Chunks [first, last) of W into shared memory: chunk by chunk, tile by tile, 16 bytes a lane. By the whole block; no barrier.
template <int Tiles, class T>
PLUMB_DEVICE void stage_fragments(const In<T>& in, int first, int last, Index j0,
                                  uint4* w /* (kPanel, Tiles, 32), shared */) {
  const bool vectors = (static_cast<Index>(reinterpret_cast<std::uintptr_t>(in.W.data)) |
                        in.W.ld * static_cast<Index>(sizeof(in_t<T>))) %
                           16 ==
                       0;
  const int count = (last - first) * 4 * Tiles;  // squares of eight terms and eight columns
  for (int at = static_cast<int>(threadIdx.x); at < count; at += kThreads) {
    const int c = at % Tiles * 8, quarter = at / Tiles % 4, chunk = at / (4 * Tiles);
    const Index k = Index{first + chunk} * kTerms + 8 * quarter;
    uint4* const to = w + chunk * (Tiles * 32);
    if (vectors && j0 + c + 8 <= in.W.cols) {
      stage_square<Tiles>(in, k, j0 + c, c, quarter, to);
    } else {
#pragma unroll 1
      for (int e = 0; e < 8; ++e) to[word_of<Tiles>(c + e, quarter)] = column_terms(in, k, j0 + c + e);
    }
  }
}

/// Adds a chunk's products: of the lane's terms of two rows of X, and of W as it lies in shared memory from w on.
template <int Tiles, class E>
PLUMB_DEVICE void multiply_chunk(uint4 low, uint4 high, const uint4* w, E type, float (&sum)[Tiles][4]) {
  const unsigned first_half[4] = {low.x, high.x, low.y, high.y},
                 second_half[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
  for (int j = 0; j < Tiles; ++j) {
    const uint4 of_w = w[j * 32];
    const unsigned w_first[2] = {of_w.x, of_w.y}, w_second[2] = {of_w.z, of_w.w};
    mma_m16n8k16(sum[j], first_half, w_first, type);
    mma_m16n8k16(sum[j], second_half, w_second, type);
  }
}

/// Adds chunks first, first + step, ... below `last` of two rows of X, whose pointers are to the lane's first terms; `w` is the lane's place in
/// what shared memory has from chunk `base` on.
template <int Tiles, int V, class E>
PLUMB_DEVICE void add_chunks(const E* low_row, const E* high_row, int first, int last, int step, int base,
                             Index depth, const uint4* w, float (&sum)[Tiles][4]) {
  constexpr int kTogether = Tiles < 6 ? kTurn : kTurn / 2;
  const auto all_whole = static_cast<int>(depth / kTerms);
  const int whole = last < all_whole ? last : all_whole;
  const auto place = [&](int chunk) { return w + (chunk - base) * (Tiles * 32); };
  for (int c = first; c < whole; c += kTogether * step) {
    uint4 low[kTogether], high[kTogether];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int chunk = c + u * step;
      if (chunk < whole)
        low[u] = load_terms<V>(low_row + chunk * kTerms), high[u] = load_terms<V>(high_row + chunk * kTerms);
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const int chunk = c + u * step;
      if (chunk < whole) multiply_chunk(low[u], high[u], place(chunk), E{}, sum);  // the whole warp
    }
  }
  if (whole == last || whole < first || (whole - first) % step != 0) return;
  // the last chunk, which is none of whole terms
  const int at = whole * kTerms, lane_first = at + 8 * (static_cast<int>(threadIdx.x) % 4);
  multiply_chunk(load_some_terms(low_row + at, depth - lane_first),
                 load_some_terms(high_row + at, depth - lane_first), place(whole), E{}, sum);
}

/// A lane's columns of a row of Y.
template <int Tiles, class T>
PLUMB_DEVICE void store_row(const Out<T>& out, Index row, Index j0, bool wide_y, const float (&sum)[Tiles][4],
                            int half) {
  constexpr int kOfLane = Columns<Tiles>::kOfLane;
  const Index column = j0 + static_cast<int>(threadIdx.x) % 4 * kOfLane;
  float numbers[kOfLane];
#pragma unroll
  for (int j = 0; j < Tiles; ++j)
    numbers[2 * j] = sum[j][2 * half], numbers[2 * j + 1] = sum[j][2 * half + 1];
  out_t<T>* const y = &out.Y(row, column);
  if (wide_y && column + kOfLane <= out.Y.cols) {
    constexpr int kAtOnce = kOfLane == 12 ? 4 : kOfLane;  // 12 lie on fours
#pragma unroll
    for (int e = 0; e < kOfLane; e += kAtOnce) store_pack<kAtOnce>(y + e, numbers + e);
  } else {
#pragma unroll
    for (int e = 0; e < kOfLane; ++e) {
      if (column + e < out.Y.cols) store_value(y + e, numbers[e]);
    }
  }
}

/// Adds the sums of the warps that share rows, in their order, in the first of them. The whole block calls it.
template <int Tiles>
PLUMB_DEVICE void join_parts(int part, int parts, float* shared /* (kWarps, 32, Tiles * 4 + 1) */,
                             float (&sum)[Tiles][4]) {
  constexpr int kPitch = Tiles * 4 + 1;
  float* const mine = shared + threadIdx.x * kPitch;
  if (part > 0) {
#pragma unroll
    for (int j = 0; j < Tiles * 4; ++j) mine[j] = sum[j / 4][j % 4];
  }
  __syncthreads();
  if (part == 0) {
    for (int p = 1; p < parts; ++p) {
#pragma unroll
      for (int j = 0; j < Tiles * 4; ++j) sum[j / 4][j % 4] += mine[p * 32 * kPitch + j];
    }
  }
  __syncthreads();
}

template <class T, int Tiles, int V>
__global__ void __launch_bounds__(kThreads, 2) skinny_half_fragments(In<T> in, Out<T> out, Division d) {
  using C = Columns<Tiles>;
  __shared__ uint4 w[C::kPanel * Tiles * 32];
  PLUMB_DYNAMIC_SHARED(float, shared_sums);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32,
            part = warp % d.parts, groups = kWarps / d.parts;
  const Index depth = in.X.cols, rows = out.Y.rows, j0 = static_cast<Index>(blockIdx.y) * C::kColumns;
  const auto chunks = static_cast<int>((depth + kTerms - 1) / kTerms);
  const bool once = chunks <= C::kPanel;
  if (once) {
    stage_fragments<Tiles>(in, 0, chunks, j0, w);
    __syncthreads();
  }
  const Index step = static_cast<Index>(gridDim.x) * groups * kRows;
  for (Index top = static_cast<Index>(blockIdx.x) * groups * kRows; top < rows; top += step) {
    const Index row = top + warp / d.parts * kRows + lane / 4;
    const auto terms_of = [&](Index i) {
      return in.X.data + (i < rows ? i : rows - 1) * in.X.ld + 8 * (lane % 4);
    };
    float sum[Tiles][4] = {};
    for (int base = 0; base < chunks; base += C::kPanel) {
      const int last = base + C::kPanel < chunks ? base + C::kPanel : chunks;
      if (!once) {
        __syncthreads();
        stage_fragments<Tiles>(in, base, last, j0, w);
        __syncthreads();
      }
      add_chunks<Tiles, V>(terms_of(row), terms_of(row + 8), base + part, last, d.parts, base, depth,
                           w + lane, sum);
    }
    if (d.parts > 1) join_parts<Tiles>(part, d.parts, shared_sums, sum);
    if (part > 0) continue;
    if (row < rows) store_row<Tiles>(out, row, j0, d.wide_y, sum, 0);
    if (row + 8 < rows) store_row<Tiles>(out, row + 8, j0, d.wide_y, sum, 1);
  }
}

/// Elements that loads of X's rows may have: 8, 4, 2 or 1.
template <class T>
int vector_of_x(const In<T>& in) {
  const auto bits = static_cast<Index>(reinterpret_cast<std::uintptr_t>(in.X.data)) |
                    in.X.ld * static_cast<Index>(sizeof(in_t<T>));
  return bits % 16 == 0 ? 8 : bits % 8 == 0 ? 4 : bits % 4 == 0 ? 2 : 1;
}

/// Warps for the terms of the same rows, so that there are enough of them on the device.
inline int parts_of(Index rows, Index depth, Index across) {
  constexpr Index kEnough = 16;  // warps of a multiprocessor
  const Index tiles = ceil_div(rows, kRows) * across, chunks = ceil_div(depth, kTerms);
  int parts = 1;
  while (parts < kWarps && 2 * parts <= chunks && tiles * parts < kEnough * device_multiprocessors())
    parts *= 2;
  return parts;
}

template <class T, int Tiles, int V>
void launch_fragments(const In<T>& in, const Out<T>& out, Context& context) {
  using C = Columns<Tiles>;
  constexpr Index kResident = 2;  // blocks of a multiprocessor
  constexpr auto kBytes = static_cast<Index>(C::kOfLane * sizeof(out_t<T>));
  constexpr Index kBoundary = kBytes < 16 ? kBytes : 16;
  const Index across = ceil_div(out.Y.cols, C::kColumns);
  if (out.Y.rows == 0 || across == 0) return;
  Division d;
  d.parts = parts_of(out.Y.rows, in.X.cols, across);
  d.wide_y = (static_cast<Index>(reinterpret_cast<std::uintptr_t>(out.Y.data)) |
              out.Y.ld * static_cast<Index>(sizeof(out_t<T>))) %
                 kBoundary ==
             0;
  const Index blocks = ceil_div(out.Y.rows, static_cast<Index>(kWarps / d.parts) * kRows),
              most = ceil_div(kResident * device_multiprocessors(), across);
  const std::size_t bytes = d.parts > 1 ? kThreads * (Tiles * 4 + 1) * sizeof(float) : 0;
  launch(skinny_half_fragments<T, Tiles, V>,
         dim3(static_cast<unsigned>(blocks < most ? blocks : most), static_cast<unsigned>(across)), kThreads,
         bytes, context.stream, in, out, d);
}

template <class T, int Tiles>
void run_fragments_of(const In<T>& in, const Out<T>& out, Context& context) {
  switch (vector_of_x(in)) {
    case 8:
      return launch_fragments<T, Tiles, 8>(in, out, context);
    case 4:
      return launch_fragments<T, Tiles, 4>(in, out, context);
    case 2:
      return launch_fragments<T, Tiles, 2>(in, out, context);
    default:
      return launch_fragments<T, Tiles, 1>(in, out, context);
  }
}

/// Tiles of a pass over X.
inline int tiles_of(Index columns) {
  return columns <= 8 ? 1 : columns <= 16 ? 2 : columns <= 32 ? 4 : columns <= 48 ? 6 : 8;
}

template <class T>
void run_fragments(const In<T>& in, const Out<T>& out, Context& context) {
  switch (tiles_of(out.Y.cols)) {
    case 1:
      return run_fragments_of<T, 1>(in, out, context);
    case 2:
      return run_fragments_of<T, 2>(in, out, context);
    case 4:
      return run_fragments_of<T, 4>(in, out, context);
    case 6:
      return run_fragments_of<T, 6>(in, out, context);
    default:
      return run_fragments_of<T, 8>(in, out, context);
  }
}

}  // namespace half
}  // namespace skinny
}  // namespace plumb
