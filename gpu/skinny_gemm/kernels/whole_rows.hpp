// The body of rung 19: tiles of whole rows of X by bulk copies, whose depth the warps of a block share. Header only.
#pragma once
#include "gpu/device/memory.hpp"
#include "gpu/skinny_gemm/kernels/whole_rows_fragments.hpp"
#include "gpu/skinny_gemm/kernels/whole_rows_lanes.hpp"

namespace plumb {
namespace skinny {
namespace whole_rows {

constexpr int kStages = 2;

/// One warp more than make products starts the copies.
template <class S>
constexpr int kBlock = 32 * (S::kWarps + 1);
/// Of the sums of a warp, in shared memory.
template <class S>
constexpr int kSums = S::kRows* S::kSumPitch;

/// How a launch divides its work.
struct Division {
  int parts, rows;  // warps that share the depth of the same rows; rows of a tile
  int pitch;        // elements from one row of a tile to the next
  int stage;        // elements of shared memory
  bool wide_y;      // rows of Y are whole vectors on 16-byte boundaries
};

/// A block's shared memory, and the rows of its tiles.
template <class S>
struct Block {
  using T = typename S::T;
  T *stages, *w, *sums;
  Mbarrier *full, *empty;  // of kStages
  int stage, pitch;        // elements
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

/// By a warp: brings the block's tiles, one after the other, to its stages. Rows that follow each other in both places are one copy.
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
    if (block.pitch == X.ld)
      bring_tile(to, from, (block.rows_at(row) - 1) * block.pitch + static_cast<int>(X.cols));
    else
      bring_rows(to, from, block.rows_at(row));
    row += block.step();
    turn.next();
  }
  PLUMB_DEVICE void bring_tile(T* to, const T* from, int elements) {
    if (threadIdx.x % 32 != 0) return;
    const int whole = elements / S::V * S::V, bytes = whole * static_cast<int>(sizeof(T));
    for (int e = whole; e < elements; ++e) to[e] = from[e];  // the end of X
    mbarrier_arrive_expect(block.full + turn.stage, bytes);
    if (whole > 0) bulk_copy_once(to, from, bytes, block.full + turn.stage);
  }
  PLUMB_DEVICE void bring_rows(T* to, const T* from, int rows) {
    const int bytes = static_cast<int>(X.cols) * static_cast<int>(sizeof(T)),
              lane = static_cast<int>(threadIdx.x) % 32;
    if (lane == 0) mbarrier_arrive_expect(block.full + turn.stage, rows * bytes);
    __syncwarp();
    for (int i = lane; i < rows; i += 32)
      bulk_copy_once(to + i * block.pitch, from + i * X.ld, bytes, block.full + turn.stage);
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
      const Columns other = *reinterpret_cast<const Columns*>(sums + p * kSums<S>);
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
  // whole steps of terms, and what is left by the last part
  const int steps = k / S::kStep, from = S::kStep * (steps * group.part / d.parts),
            end = group.part + 1 == d.parts ? k : S::kStep * (steps * (group.part + 1) / d.parts);
  T* const sums = block.sums + group.number * d.parts * kSums<S>;
  const Walk walk(group.thread(), group.threads(), d.wide_y ? n / S::V : n);
  Turn turn;
  for (Index row = block.first(); row < block.rows; row += block.step()) {
    const int rows = block.rows_at(row), mine = rows - first < S::kRows ? rows - first : S::kRows;
    typename S::template Sums<Terms> sum(lane);
    mbarrier_wait(block.full + turn.stage, turn.parity);
    if (mine > 0)
      sum.add(block.stages + turn.stage * block.stage + first * block.pitch, mine, block.pitch, block.w, from,
              end);
    __syncwarp();
    if (lane == 0) mbarrier_arrive(block.empty + turn.stage);
    turn.next();
    group.meet();  // the sums of the tile before are read
    sum.put(sums + group.part * kSums<S>, S::kSumPitch);
    group.meet();
    T* const y = out.Y.data + (row + first) * out.Y.ld + j0;
    if (d.wide_y)
      add_parts<S, S::V>(d.parts, sums, walk, mine, y, out.Y.ld);
    else
      add_parts<S, 1>(d.parts, sums, walk, mine, y, out.Y.ld);
  }
}

/// Wide: of terms of X, vectors are read.
template <class S, bool Wide, class T>
__global__ void __launch_bounds__(kBlock<S>, 1) skinny_whole_rows(In<T> in, Out<T> out, Division d) {
#if PLUMB_SM_AT_LEAST(90)
  PLUMB_DYNAMIC_SHARED(T, shared);
  __shared__ Mbarrier full[kStages], empty[kStages];
  const int k = static_cast<int>(in.X.cols);
  const Index j0 = static_cast<Index>(blockIdx.y) * S::kColumns, left = out.Y.cols - j0;
  T* const w = shared + kStages * d.stage;
  const Block<S> block{shared, w, w + S::of_w(k), full, empty, d.stage, d.pitch, d.rows, out.Y.rows};
  const bool makes = threadIdx.x / 32 < S::kWarps;
  Bringer<S> bringer(in.X, block);
  if (!makes) {
    if (threadIdx.x % 32 == 0) {
      for (int s = 0; s < kStages; ++s) mbarrier_init(full + s, 1), mbarrier_init(empty + s, S::kWarps);
      mbarrier_fence_init();
    }
    __syncwarp();
    bringer.start_first();
  }
  S::stage(w, k, in, j0);
  __syncthreads();
  if (!makes)
    bringer.start_rest();
  else
    make_products<S, Wide ? S::V : 1>(block, out, k, j0,
                                      static_cast<int>(left < S::kColumns ? left : S::kColumns), d);
#endif
}

/// Bytes of shared memory.
template <class S>
Index bytes_of(const Division& d, Index k) {
  return static_cast<Index>(sizeof(typename S::T)) *
         (Index{kStages} * d.stage + S::of_w(k) + Index{S::kWarps} * kSums<S>);
}

/// The tiles' blocks are resident at once, one on a multiprocessor: as many tiles for each, and as many rows in each tile.
inline Index rounds_of(Index v, Index rows) { return ceil_div(v, rows * device_multiprocessors()); }

/// Elements from one row of a tile to the next: X's own where its rows follow each other, nearly, and few of them would share banks, or
/// where they are too short to be copied one by one: a multiprocessor starts a copy in some 60 cycles. 0: rows are neither one piece nor whole
/// vectors.
template <class S>
Index pitch_of(const DenseView<const typename S::T, Space::device>& X) {
  constexpr Index kLeastCopy = 512;  // bytes
  const Index k = X.cols, apart = S::apart(k);
  const bool one_piece = 4 * (X.ld - k) <= k && reinterpret_cast<std::uintptr_t>(X.data) % 16 == 0,
             rows = whole_vectors(X);
  const bool shares_banks = rows && S::rows_in_a_bank(X.ld) > 2 * S::rows_in_a_bank(apart);
  if (one_piece && (!shares_banks || k * static_cast<Index>(sizeof(typename S::T)) < kLeastCopy)) return X.ld;
  return rows ? apart : 0;
}

/// The division for v rows of k terms: as many rows of a tile as shared memory holds, fewer where multiprocessors would have none. 0 parts:
/// shared memory does not hold it.
template <class S>
Division division_of(const In<typename S::T>& in, const Out<typename S::T>& out) {
  const Index v = out.Y.rows, k = in.X.cols, pitch = pitch_of<S>(in.X);
  const bool wide_y = whole_vectors(out.Y);
  const Index most = device_shared_bytes() - 1024, many = device_multiprocessors();
  Division fits{0, 0, 0, 0, wide_y};
  if (pitch == 0 || S::of_w(k) > most) return fits;
  for (int parts = 1; parts <= S::kWarps; parts *= 2) {
    const int rows = S::kRows * (S::kWarps / parts);
    const Division d{parts, rows, static_cast<int>(pitch),
                     static_cast<int>(ceil_div(rows * pitch, S::V)) * S::V, wide_y};
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
template <class Call>
auto with_shape(Index columns, float, Call run) {
  switch (columns <= 48 ? ceil_div(columns, 8) : 7) {
    case 0:
    case 1:
      return run(Lanes<float, 8, 8, 2>{});
    case 2:
      return run(Lanes<float, 8, 4, 4>{});
    case 3:
      return run(Lanes<float, 8, 4, 6>{});
    case 4:
      return run(Lanes<float, 8, 4, 8>{});
    case 5:
      return run(Lanes<float, 16, 2, 10>{});
    case 6:
      return run(Lanes<float, 16, 2, 12>{});
    default:
      return run(Lanes<float, 16, 2, 16>{});
  }
}
template <class Call>
auto with_shape(Index columns, double, Call run) {
  switch (columns <= 48 ? ceil_div(columns, 8) : 7) {
    case 0:
    case 1:
      return run(Fragments<8, 2, 1>{});
    case 2:
      return run(Fragments<8, 2, 2>{});
    case 3:
      return run(Fragments<8, 1, 3>{});
    case 4:
      return run(Fragments<8, 1, 4>{});
    case 5:
      return run(Fragments<8, 1, 5>{});
    case 6:
      return run(Fragments<8, 1, 6>{});
    default:
      return run(Fragments<8, 1, 8>{});
  }
}
template <class T, class Call>
auto with_shape(Index columns, Call run) {
  return with_shape(columns, T(), run);
}

/// Whether this body takes X: its rows follow each other or are whole vectors, and shared memory holds enough of them.
template <class T>
bool takes(const In<T>& in, const Out<T>& out) {
  if (in.X.cols == 0) return false;
  return with_shape<T>(out.Y.cols,
                       [&](auto shape) { return division_of<decltype(shape)>(in, out).parts > 0; });
}

/// Where it takes X.
template <class T>
void run_whole_rows(const In<T>& in, const Out<T>& out, Context& context) {
  with_shape<T>(out.Y.cols, [&](auto shape) {
    using S = decltype(shape);
    const Division d = division_of<S>(in, out);
    const Index tiles = ceil_div(out.Y.rows, d.rows), many = device_multiprocessors();
    const Grid grid(static_cast<unsigned>(tiles < many ? tiles : many),
                    static_cast<unsigned>(ceil_div(out.Y.cols, S::kColumns)));
    launch(
        S::reads_vectors(in.X.cols, d.pitch) ? skinny_whole_rows<S, true, T> : skinny_whole_rows<S, false, T>,
        grid, kBlock<S>, static_cast<std::size_t>(bytes_of<S>(d, in.X.cols)), context.stream, in, out, d);
  });
}

}  // namespace whole_rows
}  // namespace skinny
}  // namespace plumb
