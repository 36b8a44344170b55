// A row in the registers of a team of threads: for functions of whole rows that read them once. Header only.
#pragma once
#include "gpu/common/packs.hpp"

namespace plumb {

/// Elements of a piece, which a thread moves at once: of `Held` that it has, as many as 16 bytes of E hold.
template <class E, int Held>
constexpr int kPieceOf = Held < kPackOf<E> ? Held : kPackOf<E>;

/// Whether rows of a matrix are made of whole pieces of V on 16-byte boundaries.
template <int V, class E>
bool in_pieces(const DenseView<E, Space::device>& a) {
  return a.cols % V == 0 && rows_on_vectors(a);
}

/// Whether a vector begins on a 16-byte boundary.
inline bool begins_on_16(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

/// Held numbers of the calling thread, in pieces of V, the first of which begins at column `first` and the next ones `stride` apart. A piece
/// lies below `cols` as a whole or not at all.
template <int Held, int V, class S>
struct HeldRow {
  S at[Held];

  /// Loads the row that begins at x; numbers beyond it are `beyond`.
  template <class E>
  PLUMB_DEVICE void load(const E* x, int first, int cols, int stride, S beyond) {
#pragma unroll
    for (int p = 0; p < Held / V; ++p) {
      const bool inside = p * stride + first < cols;
      Pack<E, V> piece;
      if (inside) piece = load_pack<V>(x + first + p * stride);
#pragma unroll
      for (int e = 0; e < V; ++e) at[p * V + e] = inside ? value(piece.at[e]) : beyond;
    }
  }
  /// Calls f(number) for all that is held, in their order.
  template <class F>
  PLUMB_DEVICE void each(F f) {
#pragma unroll
    for (int u = 0; u < Held; ++u) f(at[u]);
  }
  /// The same for those of the row alone.
  template <class F>
  PLUMB_DEVICE void each_inside(int first, int cols, int stride, F f) {
#pragma unroll
    for (int u = 0; u < Held; ++u) {
      if (u / V * stride + first < cols) f(at[u]);
    }
  }
  /// Makes each number f(number, w's at its column, ...).
  template <class F, class... E>
  PLUMB_DEVICE void join(int first, int cols, int stride, F f, const E*... w) {
#pragma unroll
    for (int p = 0; p < Held / V; ++p) {
      if (p * stride + first < cols) join_piece(at + p * V, f, load_pack<V>(w + first + p * stride)...);
    }
  }
  /// Stores the row to where y begins.
  template <class O>
  PLUMB_DEVICE void store(O* y, int first, int cols, int stride) const {
#pragma unroll
    for (int p = 0; p < Held / V; ++p) {
      if (p * stride + first < cols) store_pack<V>(y + first + p * stride, at + p * V, false);
    }
  }

 private:
  template <class F, class... Packs>
  PLUMB_DEVICE static void join_piece(S* numbers, F f, const Packs&... packs) {
#pragma unroll
    for (int e = 0; e < V; ++e) numbers[e] = f(numbers[e], value(packs.at[e])...);
  }
};

/// Lanes neighbours of a warp hold a row each; Lanes is a power of two.
template <int Lanes>
struct LanesOfRow {
  static constexpr int kThreads = 256, kTeam = Lanes;
  PLUMB_DEVICE static Index row() {
    return (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / Lanes;
  }
  PLUMB_DEVICE static int place() { return static_cast<int>(threadIdx.x) % Lanes; }
  /// join() over the team's numbers, in each of its threads. All threads of the block call it.
  template <class S, class Join>
  PLUMB_DEVICE static S all(S number, Join join) {
#pragma unroll
    for (int d = Lanes / 2; d > 0; d /= 2) number = join(number, __shfl_xor_sync(kAllLanes, number, d));
    return number;
  }
};

/// A block of Threads holds a row.
template <int Threads>
struct BlockOfRow {
  static constexpr int kThreads = Threads, kTeam = Threads;
  PLUMB_DEVICE static Index row() { return blockIdx.x; }
  PLUMB_DEVICE static int place() { return static_cast<int>(threadIdx.x); }
  template <class S, class Join>
  PLUMB_DEVICE static S all(S number, Join join) {
    constexpr int kWarps = Threads / 32;
    __shared__ S of_warp[kWarps];
    number = LanesOfRow<32>::all(number, join);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = number;
    __syncthreads();
    S total = of_warp[0];
    for (int w = 1; w < kWarps; ++w) total = join(total, of_warp[w]);
    __syncthreads();  // before they are written again
    return total;
  }
};

/// Rows by teams: f.take<Held, V>(team, row, mine); a team without a row gets the last one, and must not store it.
template <class Team, int Held, int V, class F>
__global__ void __launch_bounds__(Team::kThreads) function_of_rows(F f, Index rows) {
  const Index row = Team::row();
  f.template take<Held, V>(Team{}, row < rows ? row : rows - 1, row < rows);
}

/// Columns of the longest row that a team can hold.
constexpr Index kMostHeld = 16384;

/// Why no team holds rows of so many columns; null where one does.
inline const char* why_not_held(Index cols) {
  return cols <= kMostHeld ? nullptr : "no block holds rows of more than 16,384 columns";
}

template <class Team, int Held, class E, class F>
void launch_function_of_rows(F f, Index rows, bool wide, Context& context) {
  const Index teams = Team::kThreads / Team::kTeam;
  launch(wide ? function_of_rows<Team, Held, kPieceOf<E, Held>, F> : function_of_rows<Team, Held, 1, F>,
         ceil_div(rows, teams), Team::kThreads, 0, context.stream, f, rows);
}

/// f of rows of 1 to kMostHeld columns of elements E; `wide`: all that it reads and writes is made of whole pieces of 16 bytes on such.
template <class E, class F>
void run_function_of_rows(F f, Index rows, Index cols, bool wide, Context& context) {
  if (rows == 0) return;
  if (cols <= 32) return launch_function_of_rows<LanesOfRow<4>, 8, E>(f, rows, wide, context);
  if (cols <= 128) return launch_function_of_rows<LanesOfRow<16>, 8, E>(f, rows, wide, context);
  if (cols <= 512) return launch_function_of_rows<LanesOfRow<32>, 16, E>(f, rows, wide, context);
  if (cols <= 1024) return launch_function_of_rows<LanesOfRow<32>, 32, E>(f, rows, wide, context);
  if (cols <= 4096) return launch_function_of_rows<BlockOfRow<256>, 16, E>(f, rows, wide, context);
  launch_function_of_rows<BlockOfRow<1024>, 16, E>(f, rows, wide, context);
}

}  // namespace plumb
