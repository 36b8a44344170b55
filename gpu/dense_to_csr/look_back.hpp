// The kernel of rungs 5 and 6: x is read once, tile by tile, and a tile learns what lies before it by looking
// back at its predecessors. Apart from them because they differ only in how entries are written.
//
// A tile publishes its own count as soon as it has it, and the sum up to and including itself when it has that. A later
// tile adds counts backwards until it reads a sum. Count, or sum, and which of them it is share one 64-bit
// word, so no fence is needed between the two. Tiles are numbered by a ticket: whoever waits, waits for a
// block that has started.
#pragma once
#include <cuda/atomic>

#include "gpu/dense_to_csr/common.hpp"

namespace plumb {
namespace dense_to_csr {

constexpr int kRounds = 4;                 // pieces of a thread: their counts are the bytes of a word
constexpr int kWarpPieces = 32 * kRounds;  // neighbours, so that a warp's entries are neighbours too
constexpr int kTilePieces = kThreads * kRounds;

using State = unsigned long long;  // 0: nothing known
constexpr State kCount = State{1} << 32, kSum = State{2} << 32;
using StateRef = cuda::atomic_ref<State, cuda::thread_scope_device>;

/// The entries before `tile`, by one warp; publishes `count`, the tile's own, and then the sum. The same in
/// all lanes.
PLUMB_DEVICE unsigned look_back(State* state /* (tiles) */, Index tile, unsigned count, int lane) {
  if (lane == 0) StateRef(state[tile]).store((tile == 0 ? kSum : kCount) | count, cuda::memory_order_relaxed);
  unsigned before = 0;
  for (Index last = tile - 1; last >= 0; last -= 32) {
    const Index mine = last - lane;  // lane 0 looks at the nearest
    State word = kSum;
    if (mine >= 0) {
      for (;;) {
        word = StateRef(state[mine]).load(cuda::memory_order_relaxed);
        if (word != 0) break;
        __nanosleep(20);
      }
    }
    const unsigned sums = __ballot_sync(kAllLanes, word >= kSum);
    const int nearest = sums == 0 ? 31 : __ffs(static_cast<int>(sums)) - 1;
    unsigned part = lane <= nearest ? static_cast<unsigned>(word) : 0;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(kAllLanes, part, d);
    before += part;
    if (sums != 0) break;
  }
  if (lane == 0 && tile > 0) StateRef(state[tile]).store(kSum | (before + count), cuda::memory_order_relaxed);
  return before;
}

/// Where a piece lies: which row, and which of the row's pieces.
struct Place {
  Index row;
  unsigned piece;
};
PLUMB_DEVICE Place place_of(Index piece, unsigned per_row) {
  if (piece <= 0xffffffffLL) {  // a 64-bit division takes four times as long
    const auto low = static_cast<unsigned>(piece);
    return {low / per_row, low % per_row};
  }
  return {piece / per_row, static_cast<unsigned>(piece % per_row)};
}
/// 32 pieces on.
PLUMB_DEVICE Place next_round(Place at, unsigned per_row) {
  at.piece += 32;
  if (at.piece >= per_row) {
    const unsigned rows = at.piece / per_row;
    at.row += rows;
    at.piece -= rows * per_row;
  }
  return at;
}

template <bool Staged, int N, class T>
__global__ void __launch_bounds__(kThreads)
    dense_to_csr_look_back(In<T> in, Out<T> out, unsigned per_row /* pieces */, Index pieces,
                           unsigned* ticket /* (1) */, State* state /* (tiles) */) {
  constexpr int kStaged = Staged ? kWarpPieces * N : 1;
  __shared__ T staged_val[kWarps][kStaged];
  __shared__ std::int32_t staged_col[kWarps][kStaged];
  __shared__ unsigned warp_total[kWarps];
  __shared__ unsigned block_tile, block_before;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == 0) block_tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const Index tile = block_tile;
  const Index first = tile * kTilePieces + warp * kWarpPieces + lane;
  const Place start = place_of(first, per_row);

  Piece<T, N> piece[kRounds];
  Place at = start;
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    if (first + r * 32 < pieces) {
      piece[r] = load_piece<N>(in.x.data + at.row * in.x.ld, static_cast<Index>(at.piece) * N, in.x.cols);
    } else {
      piece[r] = Piece<T, N>{};
    }
    at = next_round(at, per_row);
  }

  // a byte per round: 32 pieces hold no more than 128 entries
  unsigned counts = 0;
#pragma unroll
  for (int r = 0; r < kRounds; ++r) counts |= static_cast<unsigned>(count_non_zeros(piece[r])) << 8 * r;
  const unsigned through = scan_lanes(counts, lane), totals = __shfl_sync(kAllLanes, through, 31);
  const unsigned own = through - counts;  // entries of the lanes before, round by round
  unsigned in_warp = 0;
#pragma unroll
  for (int r = 0; r < kRounds; ++r) in_warp += totals >> 8 * r & 0xff;
  if (lane == 0) warp_total[warp] = in_warp;
  __syncthreads();
  unsigned warp_before = 0, in_tile = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) warp_before += warp_total[w];
    in_tile += warp_total[w];
  }
  if (warp == 0) {
    const unsigned before = look_back(state, tile, in_tile, lane);
    if (lane == 0) block_before = before;
  }

  if (Staged) {  // while the first warp looks back
    unsigned round_before = 0;
    at = start;
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      unsigned place = round_before + (own >> 8 * r & 0xff);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if (!(piece[r].element[j] != T(0))) continue;
        staged_val[warp][place] = piece[r].element[j];
        staged_col[warp][place] = static_cast<std::int32_t>(at.piece * N + j);
        ++place;
      }
      round_before += totals >> 8 * r & 0xff;
      at = next_round(at, per_row);
    }
  }
  __syncthreads();
  const Index begin = static_cast<Index>(block_before) + warp_before;
  if (Staged) {
    for (unsigned k = lane; k < in_warp; k += 32) {
      out.val.data[begin + k] = staged_val[warp][k];
      out.col.data[begin + k] = staged_col[warp][k];
    }
  }

  Index round_begin = begin;
  at = start;
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    Index place = round_begin + (own >> 8 * r & 0xff);
    if (!Staged) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if (!(piece[r].element[j] != T(0))) continue;
        out.val.data[place] = piece[r].element[j];
        out.col.data[place] = static_cast<std::int32_t>(at.piece * N + j);
        ++place;
      }
    } else {
      place += counts >> 8 * r & 0xff;
    }
    if (at.piece == per_row - 1 && first + r * 32 < pieces)
      out.row_ptr.data[at.row + 1] = static_cast<std::int32_t>(place);  // a row ends with this piece
    round_begin += totals >> 8 * r & 0xff;
    at = next_round(at, per_row);
  }
  if (tile == 0 && threadIdx.x == 0) out.row_ptr.data[0] = 0;
}

template <bool Staged, int N, class T>
void run_pieces(const In<T>& in, const Out<T>& out, Context& context) {
  const Index per_row = ceil_div(in.x.cols, N), pieces = in.x.rows * per_row;
  const Index tiles = ceil_div(pieces, kTilePieces);
  if (tiles == 0) {  // no rows, or no columns
    device_fill(out.row_ptr.data, 0, static_cast<std::size_t>(out.row_ptr.size) * sizeof(std::int32_t),
                context.stream);
    return;
  }
  auto* state = static_cast<State*>(context.workspace((tiles + 1) * static_cast<Index>(sizeof(State))));
  device_fill(state, 0, static_cast<std::size_t>(tiles + 1) * sizeof(State), context.stream);
  launch(dense_to_csr_look_back<Staged, N, T>, tiles, kThreads, 0, context.stream, in, out,
         static_cast<unsigned>(per_row), pieces, reinterpret_cast<unsigned*>(state + tiles), state);
}

template <bool Staged, class T>
void run_look_back(const In<T>& in, const Out<T>& out, Context& context) {
  if (on_16_bytes(in))
    run_pieces<Staged, kVector<T>>(in, out, context);
  else
    run_pieces<Staged, 1>(in, out, context);
}

}  // namespace dense_to_csr
}  // namespace plumb
