// The conversion to blocks of columns, on the device. Entries are sorted by block of columns, stably, as a counting sort does: first
// how many of each chunk of A lie in each block, then what comes before them, then where each entry goes. In that order segments and
// the lists of joins are cut. The host sees the entries of each block, from which it cuts ranges, and how many segments there are.
#pragma once
#include "gpu/common/scan.hpp"
#include "gpu/spmv/features.hpp"
#include "gpu/spmv/kernels/column_blocks.hpp"

namespace plumb {
namespace spmv {

/// Columns per block: as many as shared memory holds, but no more than the entries pay for, since every thread block
/// copies them.
template <class T>
Index column_block_width(Index cols, Index nnz) {
  constexpr Index kLeast = 512, kMost = 65536;
  constexpr Index kReserved =
      kColumnBlockWarps * kChunk<T> * static_cast<Index>(sizeof(scalar_t<T>)) + 2048;  // bytes, static
  const auto item = static_cast<Index>(sizeof(in_t<T>));
  Index most = (device_shared_bytes() - kReserved) / item;
  most = most < kMost ? most : kMost;
  const Index paid = nnz * (item + 2) / (item * static_cast<Index>(device_multiprocessors()));
  Index width = paid < kLeast ? kLeast : paid;
  width = width < most ? width : most;
  const Index blocks = ceil_div(cols > 0 ? cols : 1, width);
  return ceil_div(ceil_div(cols > 0 ? cols : 1, blocks), 32) * 32;
}

constexpr int kOrderThreads = 256;
constexpr int kHeadTile = 256;  // places whose heads a thread block counts
constexpr std::uint32_t kBlockBegins = 0x80000000u;

/// Entries by block of columns, and within a block as in A: an entry has a place. A part is what a warp takes of A's entries.
struct BlockOrder {
  Index nnz = 0, rows = 0, blocks = 0, width = 0;
  Index part = 0, parts = 0;         // entries of a part; parts
  std::int32_t* begin = nullptr;     // (blocks * parts + 1): the first place of a part's entries in a block
  std::int32_t* source = nullptr;    // (nnz): the entry of A at a place
  std::uint32_t* row = nullptr;      // (nnz): its row; with kBlockBegins where a block's first entry is
  Index tiles = 0;                   // of kHeadTile places
  std::int32_t* segments = nullptr;  // (tiles + 1): that begin before a tile
  std::int32_t* joins = nullptr;     // (tiles + 1): likewise
};

/// Calls take(k, block, peers) for the entries of this warp's part, 32 at a time: `block` is the entry's, -1 past the end; `peers` the
/// lanes with an entry in the same block. All lanes call it.
template <class Take>
PLUMB_DEVICE void for_entries(const BlockOrder& o, const std::int32_t* col, Index part, Take take) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index first = part * o.part, end = first + o.part < o.nnz ? first + o.part : o.nnz;
  for (Index base = first; base < end; base += 32) {
    const Index k = base + lane;
    const int block = k < end ? col[k] / static_cast<int>(o.width) : -1;
    take(k, block, __match_any_sync(kAllLanes, block));
  }
}

// begin[block * parts + part + 1] = entries of the part in the block; 0 before.
static __global__ void __launch_bounds__(kOrderThreads)
    spmv_count_by_block(BlockOrder o, const std::int32_t* col /* (nnz) */) {
  const Index part = (static_cast<Index>(blockIdx.x) * kOrderThreads + threadIdx.x) / 32;
  if (part >= o.parts) return;  // whole warps
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for_entries(o, col, part, [&](Index, int block, unsigned peers) {
    if (block >= 0 && lane == __ffs(static_cast<int>(peers)) - 1)
      atomicAdd(o.begin + block * o.parts + part + 1, __popc(peers));
  });
}

static __global__ void __launch_bounds__(kOrderThreads)
    spmv_block_begins(BlockOrder o, std::int32_t* begin /* (blocks + 1) */) {
  const Index b = static_cast<Index>(blockIdx.x) * kOrderThreads + threadIdx.x;
  if (b <= o.blocks) begin[b] = o.begin[b * o.parts];
}

/// The row of entry k, which lies in [low, high].
PLUMB_DEVICE Index row_of(const std::int32_t* row_ptr, Index low, Index high, Index k) {
  return low + first_at_least(high - low, k + 1, [&](Index i) { return Index{row_ptr[low + i + 1]}; });
}

// Entries to their places. `next` begins as o.begin and is the warp's own in the column of its part.
static __global__ void __launch_bounds__(kOrderThreads)
    spmv_sort_by_block(BlockOrder o, const std::int32_t* row_ptr /* (rows + 1) */,
                       const std::int32_t* col /* (nnz) */,
                       const std::int32_t* block_begin /* (blocks + 1) */,
                       std::int32_t* next /* (blocks * parts + 1) */) {
  const Index part = (static_cast<Index>(blockIdx.x) * kOrderThreads + threadIdx.x) / 32;
  if (part >= o.parts) return;  // whole warps
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned below = (1u << lane) - 1;
  const Index first = part * o.part, last = first + o.part < o.nnz ? first + o.part - 1 : o.nnz - 1;
  const Index low = row_of(row_ptr, 0, o.rows - 1, first), high = row_of(row_ptr, low, o.rows - 1, last);
  for_entries(o, col, part, [&](Index k, int block, unsigned peers) {
    if (block >= 0) {
      const Index at = block * o.parts + part;
      const std::int32_t place = next[at] + __popc(peers & below);
      const auto row = static_cast<std::uint32_t>(row_of(row_ptr, low, high, k));
      o.source[place] = static_cast<std::int32_t>(k);
      o.row[place] = place == block_begin[block] ? row | kBlockBegins : row;
    }
    __syncwarp();  // all have read next
    if (block >= 0 && (peers & below) == 0) next[block * o.parts + part] += __popc(peers);
    __syncwarp();
  });
}

/// Whether a segment, or a list's join, begins at a place: where the row, or the word of 32 rows, is another than before.
struct Heads {
  bool segment, join;
  std::uint32_t row;
};
PLUMB_DEVICE Heads heads_at(const BlockOrder& o, Index place) {
  const std::uint32_t here = o.row[place], row = here & ~kBlockBegins;
  if (here != row) return {true, true, row};
  const std::uint32_t before = o.row[place - 1] & ~kBlockBegins;
  return {row != before, row / 32 != before / 32, row};
}

static __global__ void __launch_bounds__(kHeadTile) spmv_count_heads(BlockOrder o) {
  const Index place = static_cast<Index>(blockIdx.x) * kHeadTile + threadIdx.x;
  const Heads heads = place < o.nnz ? heads_at(o, place) : Heads{false, false, 0};
  const int segments = __syncthreads_count(heads.segment), joins = __syncthreads_count(heads.join);
  if (threadIdx.x == 0) o.segments[blockIdx.x + 1] = segments, o.joins[blockIdx.x + 1] = joins;
}

/// A range before its ends are moved to where segments begin.
struct RangeShare {
  Index slot;                       // where it begins if its block does
  std::int32_t block, from, until;  // places
};

/// The first place of [from, until) at which a segment begins; until where there is none. All lanes call it.
PLUMB_DEVICE Index first_segment_from(const BlockOrder& o, Index from, Index until) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (Index place = from; place < until; place += 32) {
    const unsigned heads =
        __ballot_sync(kAllLanes, place + lane < until && heads_at(o, place + lane).segment);
    if (heads != 0) return place + __ffs(static_cast<int>(heads)) - 1;
  }
  return until;
}

/// Segments that begin before a place. All lanes call it.
PLUMB_DEVICE int segments_before(const BlockOrder& o, Index place) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index tile = place / kHeadTile;
  int count = o.segments[tile];
  for (Index at = tile * kHeadTile; at < place; at += 32)
    count += __popc(__ballot_sync(kAllLanes, at + lane < place && heads_at(o, at + lane).segment));
  return count;
}

// A thread block fills a range, a warp a chunk at a time, with zeros past the end.
template <class T>
__global__ void __launch_bounds__(kColumnBlockThreads)
    spmv_fill_ranges(In<T> in, BlockOrder o, ColumnBlocks<T> m, const RangeShare* share /* (ranges) */,
                     const std::int32_t* block_begin /* (blocks + 1) */) {
  constexpr int kSlots = kLaneSlots<T>, kStep = kChunk<T>;
  __shared__ Index ends[2];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const RangeShare mine = share[blockIdx.x];
  const Index begins = block_begin[mine.block], stops = block_begin[mine.block + 1];
  if (warp < 2) {
    const Index at = first_segment_from(o, warp == 0 ? mine.from : mine.until, stops);
    if (lane == 0) ends[warp] = at;
  }
  __syncthreads();
  const Index from = ends[0], count = ends[1] - from,
              slot = mine.slot + (from - begins + kStep - 1) / kStep * kStep;
  if (threadIdx.x == 0) m.range[blockIdx.x] = {slot, slot + count, mine.block};
  for (Index chunk = warp; chunk * kStep < count; chunk += kColumnBlockWarps) {
    const int before = segments_before(o, from + chunk * kStep);
    if (lane == 0) m.first_segment[slot / kStep + chunk] = before;
    for (int j = lane; j < kStep; j += 32) {
      const Index s = chunk * kStep + j;
      const bool holds = s < count;
      const Index k = holds ? o.source[from + s] : 0;
      m.col[slot + s] = static_cast<std::uint16_t>(holds ? in.A.col[k] - mine.block * m.width : 0);
      m.val[slot + s] = holds ? in.A.val[k] : in_t<T>{};
      const unsigned heads = __ballot_sync(kAllLanes, holds && heads_at(o, from + s).segment);
      if (lane % kSlots == 0)
        m.flags[(slot + s) / kSlots] = static_cast<std::uint8_t>(heads >> lane & ((1u << kSlots) - 1));
    }
  }
}

/// The lists of joins while they are made: in the order of places, and how many each word of rows has.
struct JoinLists {
  SegmentJoin* join = nullptr;      // (joins); rows 0 before
  std::int32_t* word = nullptr;     // (joins)
  std::int32_t* of_word = nullptr;  // (words + 1): counts from 1 on, 0 before; then join_ptr
  std::int32_t* placed = nullptr;   // (words), 0 before
  std::int32_t* number = nullptr;   // (joins): those of each word together, in no order
};

// Each segment to the join that began last.
static __global__ void __launch_bounds__(kHeadTile) spmv_list_joins(BlockOrder o, JoinLists lists) {
  __shared__ int scratch[kScanThreads / 32];
  static_assert(kHeadTile == kScanThreads, "the block is scanned whole");
  const Index place = static_cast<Index>(blockIdx.x) * kHeadTile + threadIdx.x;
  const Heads heads = place < o.nnz ? heads_at(o, place) : Heads{false, false, 0};
  constexpr int kJoins = 1 << 16;  // both counts in one sum: at most 256 each
  int total = 0;
  const int before = scan_block((heads.segment ? 1 : 0) + (heads.join ? kJoins : 0), total, scratch);
  if (!heads.segment) return;
  const int join = o.joins[blockIdx.x] + before / kJoins - (heads.join ? 0 : 1);
  atomicOr(&lists.join[join].rows, 1u << heads.row % 32);
  if (!heads.join) return;
  const auto word = static_cast<std::int32_t>(heads.row / 32);
  lists.join[join].segment = o.segments[blockIdx.x] + before % kJoins;
  lists.word[join] = word;
  atomicAdd(lists.of_word + word + 1, 1);
}

static __global__ void __launch_bounds__(kOrderThreads) spmv_gather_joins(JoinLists lists, Index joins) {
  const Index j = static_cast<Index>(blockIdx.x) * kOrderThreads + threadIdx.x;
  if (j >= joins) return;
  const std::int32_t word = lists.word[j];
  lists.number[lists.of_word[word] + atomicAdd(lists.placed + word, 1)] = static_cast<std::int32_t>(j);
}

// A warp puts the joins of a word in the order of blocks, each where as many are smaller.
static __global__ void __launch_bounds__(kOrderThreads)
    spmv_order_joins(JoinLists lists, Index words, SegmentJoin* join /* (joins) */) {
  const Index word = (static_cast<Index>(blockIdx.x) * kOrderThreads + threadIdx.x) / 32;
  if (word >= words) return;  // whole warps
  const std::int32_t begin = lists.of_word[word], end = lists.of_word[word + 1];
  for (std::int32_t i = begin + static_cast<int>(threadIdx.x) % 32; i < end; i += 32) {
    const std::int32_t number = lists.number[i];
    std::int32_t at = begin;
    for (std::int32_t other = begin; other < end; ++other) at += lists.number[other] < number;
    join[at] = lists.join[number];
  }
}

/// Sorts the entries. `block_begin` (blocks + 1) becomes the first place of each block.
template <class T>
BlockOrder order_entries(const In<T>& in, const ColumnBlocks<T>& m, std::int32_t* block_begin,
                         Context& context) {
  constexpr Index kLeast = 1024, kCounts = 1 << 22;  // entries of a part; counts in all, about
  BlockOrder o;
  o.nnz = in.A.nnz, o.rows = m.rows, o.blocks = m.blocks, o.width = m.width;
  const Index few = ceil_div(o.nnz * o.blocks, kCounts);
  o.part = ceil_div(few > kLeast ? few : kLeast, 32) * 32;
  o.parts = ceil_div(o.nnz, o.part);
  const Index counts = o.blocks * o.parts, threads = o.parts * 32;
  const std::size_t bytes = static_cast<std::size_t>(counts + 1) * sizeof(std::int32_t);
  o.begin = workspace_of<std::int32_t>(counts + 1, context);
  o.source = workspace_of<std::int32_t>(o.nnz, context);
  o.row = workspace_of<std::uint32_t>(o.nnz, context);
  auto* next = workspace_of<std::int32_t>(counts + 1, context);
  device_fill(o.begin, 0, bytes, context.stream);
  launch(spmv_count_by_block, ceil_div(threads, kOrderThreads), kOrderThreads, 0, context.stream, o,
         in.A.col);
  scan_counts(o.begin, counts, context);
  launch(spmv_block_begins, ceil_div(o.blocks + 1, kOrderThreads), kOrderThreads, 0, context.stream, o,
         block_begin);
  device_copy(next, o.begin, bytes, context.stream);
  launch(spmv_sort_by_block, ceil_div(threads, kOrderThreads), kOrderThreads, 0, context.stream, o,
         in.A.row_ptr, in.A.col, block_begin, next);

  o.tiles = ceil_div(o.nnz, kHeadTile);
  o.segments = workspace_of<std::int32_t>(o.tiles + 1, context);
  o.joins = workspace_of<std::int32_t>(o.tiles + 1, context);
  launch(spmv_count_heads, o.tiles, kHeadTile, 0, context.stream, o);
  scan_counts(o.segments, o.tiles, context);
  scan_counts(o.joins, o.tiles, context);
  return o;
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

/// Cuts each block into ranges of equal numbers of entries, and fills them.
template <class T>
void fill_ranges(const In<T>& in, const BlockOrder& o, const std::int32_t* block_begin, ColumnBlocks<T>& m,
                 Context& context) {
  constexpr Index kStep = kChunk<T>;
  const HostCopy<std::int32_t> begin(block_begin, m.blocks + 1, context.stream);
  HostArray<Index> entries(m.blocks);
  for (Index b = 0; b < m.blocks; ++b) entries[b] = begin[b + 1] - begin[b];
  const Index target = range_target(entries, o.nnz, kStep);
  for (Index b = 0; b < m.blocks; ++b) m.ranges += ceil_div(entries[b], target);
  HostArray<RangeShare> shares(m.ranges);
  Index slots = 0, r = 0;
  for (Index b = 0; b < m.blocks; ++b) {
    for (Index from = begin[b]; from < begin[b + 1]; from += target, slots += kStep) {
      const Index until = from + target < begin[b + 1] ? from + target : begin[b + 1];
      shares[r++] = {slots, static_cast<std::int32_t>(b), static_cast<std::int32_t>(from),
                     static_cast<std::int32_t>(until)};
    }
    slots += ceil_div(entries[b], kStep) * kStep;
  }
  m.range = workspace_of<SlotRange>(m.ranges, context);
  m.col = workspace_of<std::uint16_t>(slots, context);
  m.flags = workspace_of<std::uint8_t>(slots / kLaneSlots<T>, context);
  m.val = workspace_of<in_t<T>>(slots, context);
  m.first_segment = workspace_of<std::int32_t>(slots / kStep, context);
  launch(spmv_fill_ranges<T>, m.ranges, kColumnBlockThreads, 0, context.stream, in, o, m,
         upload(shares, context), block_begin);
}

/// Lists for each word of rows where its segments are.
template <class T>
void list_joins(const BlockOrder& o, Index joins, ColumnBlocks<T>& m, Context& context) {
  JoinLists lists;
  lists.join = workspace_of<SegmentJoin>(joins, context);
  lists.word = workspace_of<std::int32_t>(joins, context);
  lists.number = workspace_of<std::int32_t>(joins, context);
  lists.of_word = workspace_of<std::int32_t>(m.words + 1, context);
  lists.placed = workspace_of<std::int32_t>(m.words, context);
  const auto size = [](Index count, std::size_t item) { return static_cast<std::size_t>(count) * item; };
  device_fill(lists.join, 0, size(joins, sizeof(SegmentJoin)), context.stream);
  device_fill(lists.of_word, 0, size(m.words + 1, sizeof(std::int32_t)), context.stream);
  device_fill(lists.placed, 0, size(m.words, sizeof(std::int32_t)), context.stream);
  m.join = workspace_of<SegmentJoin>(joins, context);
  launch(spmv_list_joins, o.tiles, kHeadTile, 0, context.stream, o, lists);
  scan_counts(lists.of_word, m.words, context);
  launch(spmv_gather_joins, ceil_div(joins, kOrderThreads), kOrderThreads, 0, context.stream, lists, joins);
  launch(spmv_order_joins, ceil_div(m.words * 32, kOrderThreads), kOrderThreads, 0, context.stream, lists,
         m.words, m.join);
  m.join_ptr = lists.of_word;
}

/// The conversion; the arrays are workspace of `context`.
template <class T>
ColumnBlocks<T> prepare_column_blocks(const In<T>& in, Context& context) {
  ColumnBlocks<T> m;
  m.rows = in.A.rows, m.cols = in.A.cols, m.words = ceil_div(m.rows, 32);
  m.width = column_block_width<T>(in.A.cols, in.A.nnz);
  m.blocks = ceil_div(in.A.cols, m.width);
  auto* const block_begin = workspace_of<std::int32_t>(m.blocks + 1, context);
  const BlockOrder o = order_entries(in, m, block_begin, context);
  fill_ranges(in, o, block_begin, m, context);
  std::int32_t segments = 0, joins = 0;
  device_read(&segments, o.segments + o.tiles, sizeof segments, context.stream);
  device_read(&joins, o.joins + o.tiles, sizeof joins, context.stream);
  m.segments = segments;
  m.partial = workspace_of<scalar_t<T>>(m.segments, context);
  list_joins(o, joins, m, context);
  return m;
}

}  // namespace spmv
}  // namespace plumb
