// The body of rung 19: tiles of whole rows of X by bulk copies, whose depth the warps of a block share. Header only.
#pragma once
#include "gpu/device/memory.hpp"
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {
namespace whole_rows {

constexpr int kStages = 2;

/// Warps that make products, and of each of their lanes: R rows, 8 apart, and C columns.
template <class T_, int Warps, int R_, int C_>
struct Shape {
  using T = T_;
  static constexpr int kWarps = Warps, kBlock = 32 * (Warps + 1);  // one more starts the copies
  static constexpr int R = R_, C = C_, V = Vector<T>::kLanes;
  static constexpr int kRows = 8 * R, kColumns = 4 * C;                      // of a warp
  static constexpr int kSumPitch = kColumns + V, kSums = kRows * kSumPitch;  // of a warp, in shared memory
};

/// How a launch divides its work.
struct Division {
  int parts, rows;  // warps that share the depth of the same rows; rows of a tile
  int stage;        // elements of shared memory
  bool wide_y;      // rows of Y are whole vectors on 16-byte boundaries
};

/// Calls part(c, Piece&) for the lane's columns in a row of shared memory: fours, 16 apart, and two in the end where C is no multiple of
/// four. The lanes of a warp are 8 rows by 4 quarters of such columns.
template <class S, class T, class Part>
PLUMB_DEVICE void for_runs(T* row, int quarter, Part part) {
  constexpr int kFours = S::C / 4 * 4, V = S::V;
#pragma unroll
  for (int c = 0; c < kFours; c += V)
    part(c, *reinterpret_cast<Piece<T, V>*>(row + 4 * (c - c % 4 + quarter) + c % 4));
  if constexpr (kFours < S::C) part(kFours, *reinterpret_cast<Piece<T, 2>*>(row + 4 * kFours + 2 * quarter));
}

/// A block's shared memory, and the rows of its tiles.
template <class S>
struct Block {
  using T = typename S::T;
  T *stages, *w, *sums;
  Mbarrier *full, *empty;  // of kStages
  int stage;               // elements
  int rows_of_tile;
  Index rows;  // of X

  PLUMB_DEVICE Index first() const { return static_cast<Index>(blockIdx.x) * rows_of_tile; }
  PLUMB_DEVICE Index step() const { return static_cast<Index>(gridDim.x) * rows_of_tile; }
  PLUMB_DEVICE int rows_at(Index row) const {
    return rows - row < rows_of_tile ? static_cast<int>(rows - row) : rows_of_tile;
  }
};

/// The stage in hand, and the parity of its barriers' phases.
struct Turn {
  int stage = 0, parity = 0;
  PLUMB_DEVICE void next() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

/// By one lane: brings the block's tiles, one after the other, to its stages.
template <class S>
struct Bringer {
  using T = typename S::T;
  const DenseView<const T, Space::device>& X;
  const Block<S>& block;
  Index row;
  Turn turn{};

  PLUMB_DEVICE Bringer(const DenseView<const T, Space::device>& of_X, const Block<S>& of)
      : X(of_X), block(of), row(of.first()) {}
  PLUMB_DEVICE void start() {
    if (row >= block.rows) return;
    T* const to = block.stages + turn.stage * block.stage;
    const T* const from = X.data + row * X.ld;
    const int elements = block.rows_at(row) * static_cast<int>(X.cols), whole = elements / S::V * S::V,
              bytes = whole * static_cast<int>(sizeof(T));
    for (int e = whole; e < elements; ++e) to[e] = from[e];  // the end of X
    mbarrier_arrive_expect(block.full + turn.stage, bytes);
    if (whole > 0) bulk_copy_once(to, from, bytes, block.full + turn.stage);
    row += block.step();
    turn.next();
  }
  /// Before the other threads begin.
  PLUMB_DEVICE void start_first() {
    for (int s = 0; s < kStages; ++s) start();
  }
  /// The rest, each where its stage has been read.
  PLUMB_DEVICE void start_rest() {
    while (row < block.rows) {
      mbarrier_wait(block.empty + turn.stage, turn.parity ^ 1);
      start();
    }
  }
};

/// Adds terms [k, k + Terms) of the lane's rows.
template <class S, int Terms, class T>
PLUMB_DEVICE void add_terms(T (&sum)[S::R][S::C], const T* const (&x)[S::R], const T* w, int quarter, int k) {
  Piece<T, Terms> of_x[S::R];
#pragma unroll
  for (int r = 0; r < S::R; ++r) of_x[r] = *reinterpret_cast<const Piece<T, Terms>*>(x[r] + k);
#pragma unroll
  for (int l = 0; l < Terms; ++l) {
    T of_w[S::C];
    for_runs<S>(const_cast<T*>(w) + (k + l) * S::kColumns, quarter, [&](int c, const auto& piece) {
      const auto v = piece;
#pragma unroll
      for (int i = 0; i < static_cast<int>(sizeof v / sizeof(T)); ++i) of_w[c + i] = v.lane[i];
    });
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
#pragma unroll
      for (int c = 0; c < S::C; ++c) sum[r][c] += of_x[r].lane[l] * of_w[c];
    }
  }
}

/// Warps that share the depth of the same rows: of them, this warp's.
template <class S>
struct Group {
  int number, parts, part;
  PLUMB_DEVICE explicit Group(int of_parts)
      : number(static_cast<int>(threadIdx.x) / 32 / of_parts),
        parts(of_parts),
        part(static_cast<int>(threadIdx.x) / 32 % of_parts) {}
  PLUMB_DEVICE int first_row() const { return number * S::kRows; }
  PLUMB_DEVICE int threads() const { return 32 * parts; }
  PLUMB_DEVICE int thread() const { return 32 * part + static_cast<int>(threadIdx.x) % 32; }
  /// All of the group's threads.
  PLUMB_DEVICE void meet() const {
    if (parts == 1)
      __syncwarp();
    else
      named_barrier_sync(1 + number, threads());
  }
};

/// Where a thread of a group goes in rows of n pieces that the group shares: its first place, and how far the next one is.
struct Walk {
  int n, i, j, rows_on, pieces_on;
  PLUMB_DEVICE Walk(int thread, int threads, int of_n)
      : n(of_n), i(thread / of_n), j(thread % of_n), rows_on(threads / of_n), pieces_on(threads % of_n) {}
};

/// The sums of Parts warps, added and written: the calling thread's share of `rows` rows of Y from y on, in pieces of N columns.
template <class S, int Parts, int N, class T>
PLUMB_DEVICE void add_parts(const T* sums, const Walk& walk, int rows, T* y, Index ld) {
  using Columns = Piece<T, N>;
  const Index y_on = walk.rows_on * ld + N * walk.pieces_on, y_wrap = ld - N * walk.n;
  constexpr int kPitch = S::kSumPitch;
  const int sums_on = walk.rows_on * kPitch + N * walk.pieces_on, sums_wrap = kPitch - N * walk.n;
  y += walk.i * ld + N * walk.j, sums += walk.i * kPitch + N * walk.j;
  for (int i = walk.i, j = walk.j; i < rows;) {
    Columns all = *reinterpret_cast<const Columns*>(sums);
#pragma unroll
    for (int p = 1; p < Parts; ++p) {
      const Columns other = *reinterpret_cast<const Columns*>(sums + p * S::kSums);
#pragma unroll
      for (int e = 0; e < N; ++e) all.lane[e] += other.lane[e];
    }
    *reinterpret_cast<Columns*>(y) = all;
    j += walk.pieces_on;
    const bool wraps = j >= walk.n;  // choices, no branch: the lanes of a warp differ
    j -= wraps ? walk.n : 0;
    i += walk.rows_on + (wraps ? 1 : 0);
    y += y_on + (wraps ? y_wrap : 0);
    sums += sums_on + (wraps ? sums_wrap : 0);
  }
}
template <class S, int N, class T>
PLUMB_DEVICE void add_parts(int parts, const T* sums, const Walk& walk, int rows, T* y, Index ld) {
  switch (parts) {
    case 1:
      return add_parts<S, 1, N>(sums, walk, rows, y, ld);
    case 2:
      return add_parts<S, 2, N>(sums, walk, rows, y, ld);
    case 4:
      return add_parts<S, 4, N>(sums, walk, rows, y, ld);
    case 8:
      return add_parts<S, 8, N>(sums, walk, rows, y, ld);
    default:
      return add_parts<S, 16, N>(sums, walk, rows, y, ld);
  }
}

/// By a warp: its part of the depth of its group's rows, in each of the block's tiles. n: columns of Y from j0 on.
template <class S, int Terms, class T>
PLUMB_DEVICE void make_products(const Block<S>& block, const Out<T>& out, int k, Index j0, int n,
                                const Division& d) {
  const Group<S> group(d.parts);
  const int lane = static_cast<int>(threadIdx.x) % 32, first = group.first_row();
  const int my_row = row_of_lane(lane), quarter = quarter_of_lane(lane);
  // whole fours of terms, and what is left by the last part
  const int fours = k / 4, from = 4 * (fours * group.part / d.parts),
            end = group.part + 1 == d.parts ? k : 4 * (fours * (group.part + 1) / d.parts);
  T* const sums = block.sums + group.number * d.parts * S::kSums;
  const Walk walk(group.thread(), group.threads(), d.wide_y ? n / S::V : n);
  Turn turn;
  for (Index row = block.first(); row < block.rows; row += block.step()) {
    const int rows = block.rows_at(row), mine = rows - first < S::kRows ? rows - first : S::kRows;
    T sum[S::R][S::C] = {};
    mbarrier_wait(block.full + turn.stage, turn.parity);
    if (mine > 0) {
      const T* x[S::R];
#pragma unroll
      for (int r = 0; r < S::R; ++r) {
        const int at = my_row + 8 * r;  // sums of rows past the end are not kept
        x[r] = block.stages + turn.stage * block.stage + (first + (at < mine ? at : mine - 1)) * k;
      }
#pragma unroll 4
      for (int at = from; at < end; at += Terms) add_terms<S, Terms>(sum, x, block.w, quarter, at);
    }
    __syncwarp();
    if (lane == 0) mbarrier_arrive(block.empty + turn.stage);
    turn.next();
    group.meet();  // the sums of the tile before are read
    T* const to = sums + group.part * S::kSums + my_row * S::kSumPitch;
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
      for_runs<S>(to + 8 * r * S::kSumPitch, quarter, [&](int c, auto& piece) {
#pragma unroll
        for (int i = 0; i < static_cast<int>(sizeof piece / sizeof(T)); ++i) piece.lane[i] = sum[r][c + i];
      });
    }
    group.meet();
    T* const y = out.Y.data + (row + first) * out.Y.ld + j0;
    if (d.wide_y)
      add_parts<S, S::V>(d.parts, sums, walk, mine, y, out.Y.ld);
    else
      add_parts<S, 1>(d.parts, sums, walk, mine, y, out.Y.ld);
  }
}

/// Wide: rows of X are whole vectors.
template <class S, bool Wide, class T>
__global__ void __launch_bounds__(S::kBlock, 1) skinny_whole_rows(In<T> in, Out<T> out, Division d) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(T, shared);
  __shared__ Mbarrier full[kStages], empty[kStages];
  const int k = static_cast<int>(in.X.cols);
  const Index j0 = static_cast<Index>(blockIdx.y) * S::kColumns, left = out.Y.cols - j0;
  T* const w = shared + kStages * d.stage;
  const Block<S> block{shared, w, w + k * S::kColumns, full, empty, d.stage, d.rows, out.Y.rows};
  const bool makes = threadIdx.x / 32 < S::kWarps, brings = threadIdx.x == 32 * S::kWarps;
  Bringer<S> bringer(in.X, block);
  if (brings) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(full + s, 1), mbarrier_init(empty + s, S::kWarps);
    mbarrier_fence_init();
    bringer.start_first();
  }
  stage_w<S::kColumns>(w, k, in, 0, j0);
  __syncthreads();
  if (brings) bringer.start_rest();
  if (makes)
    make_products<S, Wide ? S::V : 1>(block, out, k, j0,
                                      static_cast<int>(left < S::kColumns ? left : S::kColumns), d);
#endif
}

/// Bytes of shared memory.
template <class S>
Index bytes_of(const Division& d, Index k) {
  return static_cast<Index>(sizeof(typename S::T)) *
         (Index{kStages} * d.stage + k * S::kColumns + Index{S::kWarps} * S::kSums);
}

/// The tiles' blocks are resident at once, one on a multiprocessor: as many tiles for each, and as many rows in each tile.
inline Index rounds_of(Index v, Index rows) { return ceil_div(v, rows * device_multiprocessors()); }

/// The division for v rows of k terms: as many rows of a tile as shared memory holds, fewer where multiprocessors would have none. 0 parts:
/// shared memory does not hold it.
template <class S>
Division division_of(Index v, Index k, bool wide_y) {
  const Index most = device_shared_bytes() - 1024, many = device_multiprocessors();
  Division fits{0, 0, 0, wide_y};
  if (k * S::kColumns > most) return fits;
  for (int parts = 1; parts <= S::kWarps; parts *= 2) {
    const int rows = S::kRows * (S::kWarps / parts);
    const Division d{parts, rows, static_cast<int>(ceil_div(rows * k, S::V)) * S::V, wide_y};
    if (bytes_of<S>(d, k) > most) continue;
    if (fits.parts > 0 && ceil_div(v, rows) > many) break;
    fits = d;
  }
  if (fits.parts > 0 && v > 0) {
    const Index even = ceil_div(v, rounds_of(v, fits.rows) * many);
    fits.rows = static_cast<int>(ceil_div(even, 8)) * 8;
  }
  return fits;
}

/// Calls run(S{}) for the least shape that has all columns.
template <class T, class Call>
auto with_shape(Index columns, Call run) {
  constexpr bool kF32 = sizeof(T) == 4;
  constexpr int kR = kF32 ? 4 : 2, kMany = kF32 ? 16 : 8;
  switch (columns <= 48 ? ceil_div(columns, 8) : 7) {
    case 0:
    case 1:
      return run(Shape<T, 8, 8, 2>{});
    case 2:
      return run(Shape<T, 8, kR, 4>{});
    case 3:
      return run(Shape<T, 8, kR, 6>{});
    case 4:
      return run(Shape<T, 8, kR, 8>{});
    case 5:
      return run(Shape<T, kMany, 2, 10>{});
    case 6:
      return run(Shape<T, kMany, 2, 12>{});
    default:
      return run(Shape<T, kMany, 2, 16>{});
  }
}

/// Whether this body takes X: its rows follow each other, and shared memory holds enough of them.
template <class T>
bool takes(const In<T>& in, const Out<T>& out) {
  if (in.X.ld != in.X.cols || in.X.cols == 0 || reinterpret_cast<std::uintptr_t>(in.X.data) % 16 != 0)
    return false;
  return with_shape<T>(out.Y.cols, [&](auto shape) {
    return division_of<decltype(shape)>(out.Y.rows, in.X.cols, false).parts > 0;
  });
}

/// Where it takes X.
template <class T>
void run_whole_rows(const In<T>& in, const Out<T>& out, Context& context) {
  with_shape<T>(out.Y.cols, [&](auto shape) {
    using S = decltype(shape);
    const Division d = division_of<S>(out.Y.rows, in.X.cols, whole_vectors(out.Y));
    const Index tiles = ceil_div(out.Y.rows, d.rows), many = device_multiprocessors();
    const Grid grid(static_cast<unsigned>(tiles < many ? tiles : many),
                    static_cast<unsigned>(ceil_div(out.Y.cols, S::kColumns)));
    launch(in.X.cols % S::V == 0 ? skinny_whole_rows<S, true, T> : skinny_whole_rows<S, false, T>, grid,
           S::kBlock, static_cast<std::size_t>(bytes_of<S>(d, in.X.cols)), context.stream, in, out, d);
  });
}

}  // namespace whole_rows
}  // namespace skinny
}  // namespace plumb
