// The matrix in blocks of columns, and the two kernels of rung 21 over it. Apart from the rung because the adaptive
// rung picks it too.
//
// Entries are stored block by block and, within a block, in the order of rows. The entries that a row has in a block
// are a segment; a flag marks its first entry. A range is what one thread block takes: whole segments of one block of
// columns, starting at a chunk. A chunk is 256 slots, 8 per lane; slots past a range's end are not looked at.
#pragma once
#include <cstdint>

#include "gpu/spmv/features.hpp"

namespace plumb {
namespace spmv {

constexpr int kColumnBlockThreads = 1024;
constexpr int kColumnBlockWarps = kColumnBlockThreads / 32;
template <class T>
constexpr int kLaneSlots = sizeof(T) == 4 ? 8 : 4;  // twice, for two chunks in flight, in 64 registers
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
  const SlotRange* range = nullptr;     // (ranges)
  const std::uint16_t* col = nullptr;   // (slots): column less the block's first
  const std::uint8_t* flags = nullptr;  // (slots / kLaneSlots): bit j set where slot j starts a segment
  const T* val = nullptr;               // (slots)
  const std::int32_t* first_segment = nullptr;  // (slots / kChunk): segments that start before the chunk
  const std::int32_t* join_ptr = nullptr;       // (words + 1)
  const SegmentJoin* join = nullptr;            // (join_ptr[words]), by block within a word
  T* partial = nullptr;                         // (segments)
};

/// Columns per block: as many as shared memory holds, but no more than the entries pay for, since every thread block
/// copies them.
template <class T>
Index column_block_width(Index cols, Index nnz) {
  constexpr Index kLeast = 512, kMost = 65536;
  constexpr Index kReserved =
      kColumnBlockWarps * kChunk<T> * static_cast<Index>(sizeof(T)) + 2048;  // bytes, static
  const auto item = static_cast<Index>(sizeof(T));
  Index most = (device_shared_bytes() - kReserved) / item;
  most = most < kMost ? most : kMost;
  const Index paid = nnz * (item + 2) / (item * static_cast<Index>(device_multiprocessors()));
  Index width = paid < kLeast ? kLeast : paid;
  width = width < most ? width : most;
  const Index blocks = ceil_div(cols > 0 ? cols : 1, width);
  return ceil_div(ceil_div(cols > 0 ? cols : 1, blocks), 32) * 32;
}

template <class T>
__global__ void __launch_bounds__(256)
    spmv_gather_values(const T* from /* (nnz) */, const std::int32_t* source /* (slots), -1: none */,
                       Index slots, T* to /* (slots) */) {
  const Index k = static_cast<Index>(blockIdx.x) * 256 + threadIdx.x;
  if (k < slots) to[k] = source[k] < 0 ? T(0) : from[source[k]];
}

// Entries per range: the fewest with which the ranges run all at once, or, where the blocks of columns are too many for
// that, in few enough waves for the last one to matter little.
inline Index range_target(const HostArray<Index>& entries /* (blocks) */, Index nnz, Index least) {
  const auto places = static_cast<Index>(device_multiprocessors());
  const Index blocks = entries.size(), most = 2 * blocks <= places ? places : 4 * places + blocks;
  Index low = ceil_div(nnz, most), high = nnz;
  low = low < least ? least : low;
  while (low < high) {
    const Index middle = (low + high) / 2;
    Index ranges = 0;
    for (Index b = 0; b < blocks; ++b) ranges += ceil_div(entries[b], middle);
    if (ranges <= most)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// What the conversion counts first, for each block of columns.
struct BlockCounts {
  explicit BlockCounts(Index blocks) : entries(blocks), segments(blocks) {
    entries.fill(0), segments.fill(0);
  }
  HostArray<Index> entries, segments;
  Index joins = 0;  // of all blocks: (block, word of rows) pairs
};

template <class T>
void count_blocks(const ColumnBlocks<T>& m, const HostArray<std::int32_t>& row_ptr,
                  const HostArray<std::int32_t>& col, BlockCounts& counts) {
  HostArray<Index> last_row(m.blocks);
  last_row.fill(-1);
  for (Index i = 0; i < m.rows; ++i) {
    for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const Index b = col[k] / m.width;
      ++counts.entries[b];
      counts.segments[b] += last_row[b] != i;
      counts.joins += last_row[b] < 0 || last_row[b] / 32 != i / 32;
      last_row[b] = i;
    }
  }
}

/// Where each block of columns puts its next entry and its next segment, and how many there are in all.
struct BlockPlaces {
  BlockPlaces(const BlockCounts& counts, Index target, Index step)
      : cursor(counts.entries.size()),
        next_segment(counts.entries.size()),
        range_begin(counts.entries.size()) {
    for (Index b = 0; b < counts.entries.size(); ++b) {
      cursor[b] = slots, range_begin[b] = -1;
      next_segment[b] = segments;
      segments += counts.segments[b];
      const Index of_block = ceil_div(counts.entries[b], target);
      ranges += of_block;
      slots += ceil_div(counts.entries[b], step) * step + of_block * step;
    }
  }
  HostArray<Index> cursor, next_segment;
  HostArray<Index> range_begin;  // of the block's open range; -1: none
  Index slots = 0, segments = 0;
  Index ranges = 0;  // at most
};

/// The arrays of the conversion, on the host, filled row by row.
template <class T>
class ColumnBlockArrays {
 public:
  ColumnBlockArrays(ColumnBlocks<T>& m, const BlockCounts& counts, Index target)
      : m_(m),
        target_(target),
        places_(counts, target, kStep),
        range_(places_.ranges),
        slot_col_(places_.slots),
        flags_(places_.slots / kSlots),
        source_(places_.slots),
        first_segment_(places_.slots / kStep),
        join_ptr_(m.words + 1),
        join_(counts.joins),
        of_word_(m.blocks),
        last_row_(m.blocks) {
    m_.segments = places_.segments;
    slot_col_.fill(0), flags_.fill(0), source_.fill(-1), first_segment_.fill(0), last_row_.fill(-1);
    of_word_.fill({0, 0});
  }

  void fill(const HostArray<std::int32_t>& row_ptr, const HostArray<std::int32_t>& col) {
    for (Index word = 0; word < m_.words; ++word) {
      join_ptr_[word] = static_cast<std::int32_t>(joined_);
      low_ = m_.blocks, high_ = -1;
      for (Index i = 32 * word; i < 32 * word + 32 && i < m_.rows; ++i) {
        for (Index k = row_ptr[i]; k < row_ptr[i + 1]; ++k) put(i, k, col[k]);
      }
      for (Index b = low_; b <= high_; ++b) {
        if (of_word_[b].rows == 0) continue;
        join_[joined_++] = of_word_[b];
        of_word_[b] = {0, 0};
      }
    }
    join_ptr_[m_.words] = static_cast<std::int32_t>(joined_);
    for (Index b = 0; b < m_.blocks; ++b) {
      if (places_.range_begin[b] >= 0) end_range(b);
    }
  }

  void to_device(const T* values, Context& context) {
    m_.range = upload(range_, context);
    m_.col = upload(slot_col_, context);
    m_.flags = upload(flags_, context);
    m_.first_segment = upload(first_segment_, context);
    m_.join_ptr = upload(join_ptr_, context);
    m_.join = upload(join_, context);
    m_.partial = workspace_of<T>(m_.segments, context);
    const std::int32_t* device_source = upload(source_, context);
    T* val = workspace_of<T>(places_.slots, context);
    launch(spmv_gather_values<T>, ceil_div(places_.slots, 256), 256, 0, context.stream, values, device_source,
           places_.slots, val);
    m_.val = val;
  }

 private:
  static constexpr Index kSlots = kLaneSlots<T>, kStep = kChunk<T>;

  /// Entry k, in row i and column `col`, to the next slot of its block.
  void put(Index i, Index k, std::int32_t col) {
    const Index b = col / m_.width;
    Index& cursor = places_.cursor[b];
    Index& begin = places_.range_begin[b];
    const bool starts = last_row_[b] != i;
    if (starts && begin >= 0 && cursor - begin >= target_) {
      end_range(b);
      cursor = ceil_div(cursor, kStep) * kStep;
      begin = -1;
    }
    if (begin < 0) begin = cursor;
    const Index at = cursor++;
    if (at % kStep == 0) first_segment_[at / kStep] = static_cast<std::int32_t>(places_.next_segment[b]);
    if (starts) start_segment(i, b, at);
    slot_col_[at] = static_cast<std::uint16_t>(col - b * m_.width);
    source_[at] = static_cast<std::int32_t>(k);
  }

  void start_segment(Index i, Index b, Index at) {
    last_row_[b] = i;
    flags_[at / kSlots] = static_cast<std::uint8_t>(flags_[at / kSlots] | 1u << at % kSlots);
    SegmentJoin& join = of_word_[b];
    if (join.rows == 0) join.segment = static_cast<std::int32_t>(places_.next_segment[b]);
    join.rows |= 1u << i % 32;
    low_ = b < low_ ? b : low_, high_ = b > high_ ? b : high_;
    ++places_.next_segment[b];
  }

  void end_range(Index b) {
    range_[m_.ranges++] = {places_.range_begin[b], places_.cursor[b], static_cast<std::int32_t>(b)};
  }

  ColumnBlocks<T>& m_;
  Index target_;  // entries per range
  BlockPlaces places_;
  HostArray<SlotRange> range_;
  HostArray<std::uint16_t> slot_col_;
  HostArray<std::uint8_t> flags_;
  HostArray<std::int32_t> source_, first_segment_, join_ptr_;
  HostArray<SegmentJoin> join_;
  HostArray<SegmentJoin> of_word_;  // (blocks): of the current 32 rows
  HostArray<Index> last_row_;       // (blocks)
  Index joined_ = 0;
  Index low_ = 0, high_ = -1;  // blocks that the current 32 rows have entries in
};

/// The conversion, on the host; the arrays are workspace of `context`.
template <class T>
ColumnBlocks<T> prepare_column_blocks(const In<T>& in, const HostArray<std::int32_t>& row_ptr,
                                      Context& context) {
  ColumnBlocks<T> m;
  m.rows = in.A.rows, m.cols = in.A.cols, m.words = ceil_div(m.rows, 32);
  m.width = column_block_width<T>(in.A.cols, in.A.nnz);
  m.blocks = ceil_div(in.A.cols, m.width);
  const HostCopy<std::int32_t> col(in.A.col, in.A.nnz, context.stream);
  BlockCounts counts(m.blocks);
  count_blocks(m, row_ptr, col, counts);
  ColumnBlockArrays<T> arrays(m, counts, range_target(counts.entries, in.A.nnz, kChunk<T>));
  arrays.fill(row_ptr, col);
  arrays.to_device(in.A.val, context);
  return m;
}

/// What a lane takes of a chunk, loaded 8 or 16 bytes at a time: slots are a multiple of kLaneSlots, and the arrays
/// 256-byte aligned.
template <class T>
struct LaneSlots;
template <>
struct LaneSlots<float> {
  uint4 col;
  float4 low, high;
  PLUMB_DEVICE void load(const std::uint16_t* c, const float* v) {
    col = __ldg(reinterpret_cast<const uint4*>(c));
    low = __ldg(reinterpret_cast<const float4*>(v)), high = __ldg(reinterpret_cast<const float4*>(v) + 1);
  }
  PLUMB_DEVICE void spread(std::uint32_t (&c)[4], float (&v)[8]) const {
    c[0] = col.x, c[1] = col.y, c[2] = col.z, c[3] = col.w;
    v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
    v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
  }
};
template <>
struct LaneSlots<double> {
  uint2 col;
  double2 low, high;
  PLUMB_DEVICE void load(const std::uint16_t* c, const double* v) {
    col = __ldg(reinterpret_cast<const uint2*>(c));
    low = __ldg(reinterpret_cast<const double2*>(v)), high = __ldg(reinterpret_cast<const double2*>(v) + 1);
  }
  PLUMB_DEVICE void spread(std::uint32_t (&c)[2], double (&v)[4]) const {
    c[0] = col.x, c[1] = col.y;
    v[0] = low.x, v[1] = low.y, v[2] = high.x, v[3] = high.y;
  }
};

/// x[0, count) to shared memory by the whole block; 16 bytes at a time where x allows it.
template <class T>
PLUMB_DEVICE void copy_slice(const T* x, int count, T* slice /* (count), shared, 16-byte aligned */) {
  constexpr int kItems = 16 / static_cast<int>(sizeof(T));
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
    slice[i] = __ldg(x + i);
}

// partial[s] = sum of segment s, for the segments of one range.
template <class T>
__global__ void __launch_bounds__(kColumnBlockThreads, 1)
    spmv_column_block(ColumnBlocks<T> m, const T* x /* (cols) */) {
  constexpr int kSlots = kLaneSlots<T>, kStep = kChunk<T>;
  PLUMB_DYNAMIC_SHARED(T, slice);        // (width)
  __shared__ T head[kColumnBlockWarps];  // what a warp has of the segment that was open before it
  __shared__ T tail[kColumnBlockWarps];  // and of the one it leaves open
  __shared__ T closed_sum[kColumnBlockWarps][kStep];     // of a chunk, so that they leave in whole lines
  __shared__ std::int32_t left_open[kColumnBlockWarps];  // that segment; -1 where none starts in the warp
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const SlotRange range = m.range[blockIdx.x];
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

  T carry = T(0);  // of the open segment, from the chunks before
  int open = -1;   // that segment, once one starts in this warp
  for (Index chunk = warp * share; chunk < stop; ++chunk) {
    const Index left = range.end - (range.begin + chunk * kStep + lane * kSlots);
    const int valid = left < kSlots ? static_cast<int>(left) : kSlots;
    std::uint32_t c[kSlots / 2];
    T v[kSlots];
    next.spread(c, v);
    const unsigned flags = next_flags;
    const int before_chunk = next_first;
    if (chunk + 1 < stop) fetch(chunk + 1);

    const int mine = __popc(flags);
    int count = mine;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const int up = __shfl_up_sync(kAllLanes, count, d);
      if (lane >= d) count += up;
    }
    T sum = T(0), until_flag = T(0);
    int closed = 0;
#pragma unroll
    for (int j = 0; j < kSlots; ++j) {
      if (flags >> j & 1u) {
        if (closed == 0)
          until_flag = sum;
        else
          closed_sum[warp][count - mine + closed] = sum;
        ++closed;
        sum = T(0);
      }
      if (j < valid) sum += v[j] * slice[c[j / 2] >> 16 * (j % 2) & 0xffffu];
    }

    // The sum since the last flag, over the lanes up to this one.
    const unsigned flagged = __ballot_sync(kAllLanes, flags != 0);
    const unsigned up_to = flagged & (below | 1u << lane);
    const int from = up_to != 0 ? 31 - __clz(static_cast<int>(up_to)) : 0;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const T up = __shfl_up_sync(kAllLanes, sum, d);
      if (lane - d >= from) sum += up;
    }
    T before = __shfl_up_sync(kAllLanes, sum, 1);
    if (lane == 0) before = T(0);
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
    const T last = __shfl_sync(kAllLanes, sum, 31);
    carry = flagged != 0 ? last : carry + last;
    if (flagged != 0) open = before_chunk + all - 1;
  }
  if (lane == 0) {
    tail[warp] = carry, left_open[warp] = open;
    if (open < 0) head[warp] = carry;
  }
  __syncthreads();
  if (warp == 0 && left_open[lane] >= 0) {
    T sum = tail[lane];
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
  T sum = T(0);
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
  launch(spmv_column_block<T>, m.ranges, kColumnBlockThreads, static_cast<std::size_t>(m.width) * sizeof(T),
         context.stream, m, in.x.data);
  launch(spmv_join_segments<T>, ceil_div(m.words, 256 / 32), 256, 0, context.stream, p, out, m);
}

}  // namespace spmv
}  // namespace plumb
