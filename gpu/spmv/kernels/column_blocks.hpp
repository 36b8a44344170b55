// The matrix in blocks of columns, and the two kernels of rung 21 over it. Apart from the rung because the adaptive
// rung picks it too. The conversion: to_column_blocks.hpp.
//
// Entries are stored block by block and, within a block, in the order of rows. The entries that a row has in a block
// are a segment; a flag marks its first entry. A range is what one thread block takes: whole segments of one block of
// columns, starting at a chunk. A chunk is 256 slots, 8 per lane; slots past a range's end are not looked at.
#pragma once
#include <cstdint>

#include "gpu/device/dependent_launch.hpp"
#include "gpu/spmv/common.hpp"

namespace plumb {
namespace spmv {

constexpr int kColumnBlockThreads = 1024;
constexpr int kColumnBlockWarps = kColumnBlockThreads / 32;
template <class T>
constexpr int kLaneSlots = sizeof(scalar_t<T>) == 4 ? 8
                                                    : 4;  // twice, for two chunks in flight, in 64 registers
template <class T>
constexpr int kChunk = 32 * kLaneSlots<T>;

struct SlotRange {
  Index begin, end;    // slots; begin a multiple of kChunk
  std::int32_t block;  // of columns
};

struct SegmentJoin {
  std::uint32_t rows;    // bit r set: row r of the 32 has a segment
  std::int32_t segment;  // the first of theirs; the others follow
};

template <class T>
struct ColumnBlocks {
  Index rows = 0, cols = 0, words = 0;  // words: of 32 rows
  Index width = 0, blocks = 0;          // columns per block
  Index ranges = 0, segments = 0;
  SlotRange* range = nullptr;              // (ranges)
  std::uint16_t* col = nullptr;            // (slots): column less the block's first
  std::uint8_t* flags = nullptr;           // (slots / kLaneSlots): bit j set where slot j starts a segment
  in_t<T>* val = nullptr;                  // (slots)
  std::int32_t* first_segment = nullptr;   // (slots / kChunk): segments that start before the chunk
  const std::int32_t* join_ptr = nullptr;  // (words + 1)
  SegmentJoin* join = nullptr;             // (join_ptr[words]), by block within a word
  scalar_t<T>* partial = nullptr;          // (segments)
};

/// What a lane takes of a chunk, loaded 8 or 16 bytes at a time: slots are a multiple of kLaneSlots, and the arrays
/// 256-byte aligned.
template <class T>
struct LaneSlots {
  using E = in_t<T>;
  static constexpr int kSlots = kLaneSlots<T>, kOne = kSlots < kPackOf<E> ? kSlots : kPackOf<E>;
  Pack<std::uint16_t, kSlots> col;
  Pack<E, kOne> val[kSlots / kOne];
  PLUMB_DEVICE void load(const std::uint16_t* c, const E* v) {
    col = load_pack<kSlots>(c);
#pragma unroll
    for (int i = 0; i < kSlots / kOne; ++i) val[i] = load_pack<kOne>(v + i * kOne);
  }
  PLUMB_DEVICE void spread(int (&c)[kSlots], scalar_t<T> (&v)[kSlots]) const {
#pragma unroll
    for (int j = 0; j < kSlots; ++j) c[j] = col.at[j], v[j] = value(val[j / kOne].at[j % kOne]);
  }
};

/// x[0, count) to shared memory by the whole block; 16 bytes at a time where x allows it.
template <class E>
PLUMB_DEVICE void copy_slice(const E* x, int count, E* slice /* (count), shared, 16-byte aligned */) {
  constexpr int kItems = kPackOf<E>;
  int done = 0;
  if (reinterpret_cast<std::uintptr_t>(x) % 16 == 0) {
    const auto* from = reinterpret_cast<const uint4*>(x);
    auto* to = reinterpret_cast<uint4*>(slice);
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < count / kItems; i += kColumnBlockThreads)
      to[i] = __ldg(from + i);
    done = count / kItems * kItems;
  }
#pragma unroll 8
  for (int i = done + static_cast<int>(threadIdx.x); i < count; i += kColumnBlockThreads)
    slice[i] = load_pack<1>(x + i).at[0];
}

// partial[s] = sum of segment s, for the segments of one range.
template <class T>
__global__ void __launch_bounds__(kColumnBlockThreads, 1)
    spmv_column_block(ColumnBlocks<T> m, const in_t<T>* x /* (cols) */) {
  using S = scalar_t<T>;
  constexpr int kSlots = kLaneSlots<T>, kStep = kChunk<T>;
  PLUMB_DYNAMIC_SHARED(in_t<T>, slice);  // (width)
  __shared__ S head[kColumnBlockWarps];  // what a warp has of the segment that was open before it
  __shared__ S tail[kColumnBlockWarps];  // and of the one it leaves open
  __shared__ S closed_sum[kColumnBlockWarps][kStep];     // of a chunk, so that they leave in whole lines
  __shared__ std::int32_t left_open[kColumnBlockWarps];  // that segment; -1 where none starts in the warp
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  let_dependent_begin();
  const SlotRange range = m.range[blockIdx.x];
  if (range.begin == range.end) return;  // a longer segment of the range before holds its share
  const Index chunks = (range.end - range.begin + kStep - 1) / kStep,
              share = (chunks + kColumnBlockWarps - 1) / kColumnBlockWarps;
  const Index stop = (warp + 1) * share < chunks ? (warp + 1) * share : chunks;
  const unsigned below = (1u << lane) - 1;

  // The next chunk is in flight while this one is summed; the first while x is copied.
  LaneSlots<T> next;
  unsigned next_flags = 0;
  int next_first = 0;
  const auto fetch = [&](Index chunk) {
    const Index slot = range.begin + chunk * kStep + lane * kSlots;
    next.load(m.col + slot, m.val + slot);
    next_flags = m.flags[slot / kSlots];
    next_first = m.first_segment[slot / kStep];
  };
  if (warp * share < stop) fetch(warp * share);
  const Index first = range.block * m.width;
  copy_slice(x + first, static_cast<int>(m.cols - first < m.width ? m.cols - first : m.width), slice);
  __syncthreads();

  S carry = 0;    // of the open segment, from the chunks before
  int open = -1;  // that segment, once one starts in this warp
  for (Index chunk = warp * share; chunk < stop; ++chunk) {
    const Index left = range.end - (range.begin + chunk * kStep + lane * kSlots);
    const int valid = left < kSlots ? static_cast<int>(left) : kSlots;
    int c[kSlots];
    S v[kSlots];
    next.spread(c, v);
    const unsigned flags = next_flags;
    const int before_chunk = next_first;
    if (chunk + 1 < stop) fetch(chunk + 1);

    const int mine = __popc(flags), count = scan_lanes(mine, lane);
    S sum = 0, until_flag = 0;
    int closed = 0;
#pragma unroll
    for (int j = 0; j < kSlots; ++j) {
      if (flags >> j & 1u) {
        if (closed == 0)
          until_flag = sum;
        else
          closed_sum[warp][count - mine + closed] = sum;
        ++closed;
        sum = 0;
      }
      if (j < valid) sum += v[j] * value(slice[c[j]]);
    }

    // The sum since the last flag, over the lanes up to this one.
    const unsigned flagged = __ballot_sync(kAllLanes, flags != 0);
    const unsigned up_to = flagged & (below | 1u << lane);
    const int from = up_to != 0 ? 31 - __clz(static_cast<int>(up_to)) : 0;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const S up = __shfl_up_sync(kAllLanes, sum, d);
      if (lane - d >= from) sum += up;
    }
    S before = __shfl_up_sync(kAllLanes, sum, 1);
    if (lane == 0) before = 0;
    if (flags != 0)
      closed_sum[warp][count - mine] = ((flagged & below) != 0 ? before : carry + before) + until_flag;
    __syncwarp();
    const int all = __shfl_sync(kAllLanes, count, 31);  // segments closed: one before each that starts
    for (int i = lane; i < all; i += 32) {
      if (i > 0 || open >= 0)
        m.partial[before_chunk - 1 + i] = closed_sum[warp][i];
      else
        head[warp] = closed_sum[warp][0];
    }
    __syncwarp();
    const S last = __shfl_sync(kAllLanes, sum, 31);
    carry = flagged != 0 ? last : carry + last;
    if (flagged != 0) open = before_chunk + all - 1;
  }
  if (lane == 0) {
    tail[warp] = carry, left_open[warp] = open;
    if (open < 0) head[warp] = carry;
  }
  __syncthreads();
  if (warp == 0 && left_open[lane] >= 0) {
    S sum = tail[lane];
    for (int w = lane + 1; w < kColumnBlockWarps; ++w) {
      sum += head[w];
      if (left_open[w] >= 0) break;
    }
    m.partial[left_open[lane]] = sum;
  }
}

// A warp joins the segments of 32 rows, block by block.
template <class T>
__global__ void __launch_bounds__(256) spmv_join_segments(Problem<T> p, Out<T> out, ColumnBlocks<T> m) {
  const Index word = (static_cast<Index>(blockIdx.x) * 256 + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (word >= m.words) return;  // whole warps
  const unsigned below = (1u << lane) - 1;
  const int end = m.join_ptr[word + 1];
  scalar_t<T> sum = 0;
  wait_for_primary();
  for (int first = m.join_ptr[word]; first < end; first += 32) {
    const SegmentJoin mine = first + lane < end ? m.join[first + lane] : SegmentJoin{0, 0};
    const int count = end - first < 32 ? end - first : 32;
#pragma unroll 4
    for (int j = 0; j < count; ++j) {
      const unsigned rows = __shfl_sync(kAllLanes, mine.rows, j);
      const int segment = __shfl_sync(kAllLanes, mine.segment, j);
      if (rows >> lane & 1u) sum += m.partial[segment + __popc(rows & below)];
    }
  }
  const Index i = word * 32 + lane;
  if (i < m.rows) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run_column_blocks(const ColumnBlocks<T>& m, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                       Context& context) {
  launch(spmv_column_block<T>, m.ranges, kColumnBlockThreads,
         static_cast<std::size_t>(m.width) * sizeof(in_t<T>), context.stream, m, in.x.data);
  launch_dependent(spmv_join_segments<T>, ceil_div(m.words, 256 / 32), 256, 0, context.stream, p, out, m);
}

}  // namespace spmv
}  // namespace plumb
