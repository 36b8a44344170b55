// What rung 13 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include <algorithm>

#include "gpu/common/adaptive.hpp"
#include "gpu/common/matrix_work.hpp"
#include "gpu/spmv/costs.hpp"
#include "gpu/spmv/kernels/block_per_row.hpp"
#include "gpu/spmv/kernels/flat.hpp"
#include "gpu/spmv/kernels/long_rows.hpp"
#include "gpu/spmv/kernels/merge_path.hpp"
#include "gpu/spmv/kernels/sell.hpp"
#include "gpu/spmv/kernels/stream.hpp"
#include "gpu/spmv/kernels/to_column_blocks.hpp"

namespace plumb {
namespace spmv {

enum class Kernel : std::uint8_t { vector, long_rows, flat, merge, sell, column_blocks, blocks, stream };

struct Candidate {
  Kernel kernel;
  LongShape shape;  // of long_rows
};
constexpr int kCandidates = 10;
constexpr Candidate kCandidate[kCandidates] = {
    {Kernel::vector, kLongShape},  {Kernel::long_rows, kLongShape},     {Kernel::long_rows, {256, 8}},
    {Kernel::long_rows, {256, 2}}, {Kernel::flat, kLongShape},          {Kernel::merge, kLongShape},
    {Kernel::sell, kLongShape},    {Kernel::column_blocks, kLongShape}, {Kernel::blocks, kLongShape},
    {Kernel::stream, kLongShape}};
constexpr const char* kNames[kCandidates] = {"a group of lanes per row",
                                             "rows of 2048 in tiles of 2048",
                                             "rows of 256 in tiles of 2048",
                                             "rows of 256 in tiles of 512",
                                             "flat",
                                             "merge path",
                                             "SELL-C-sigma",
                                             "column blocks",
                                             "a block per row",
                                             "tiles of whole rows"};

/// Of the matrix: what the terms are made of.
struct Features {
  Index rows, cols, nnz, longest = 0;
  Index tile_rows = 0;  // rows that start in one tile of the flat kernel, at most
  Index slots = 0;      // of SELL-C-sigma, from a sample; at most slots_unsorted
  Index slots_unsorted = 0;
  double fresh = 1;   // share of the gathers from x whose sector no entry shortly before had
  double a, x, y;     // megabytes; y as often as it is moved
  Index block_width;  // columns of a block, and the entries that a row has in one, on the mean
  double per_segment = 1;
};

/// Entries that a row has in one block of `width` columns, on the mean, in a sample of A.
template <class T>
double entries_per_segment(const In<T>& in, const HostArray<std::int32_t>& row_ptr, Index width,
                           Context& context) {
  constexpr Index kPieces = 16, kPiece = 4096;
  HostArray<Index> last_row(ceil_div(in.A.cols, width));
  last_row.fill(-1);
  HostArray<std::int32_t> col(kPiece);
  Index segments = 0, entries = 0;
  for (Index s = 0; s < kPieces && entries < in.A.nnz; ++s) {
    const Index begin = in.A.nnz <= kPieces * kPiece ? entries : in.A.nnz / kPieces * s,
                end = begin + kPiece < in.A.nnz ? begin + kPiece : in.A.nnz;
    device_read(col.data(), in.A.col + begin, static_cast<std::size_t>(end - begin) * sizeof(std::int32_t),
                context.stream);
    const std::int32_t* after = std::upper_bound(row_ptr.data(), row_ptr.data() + in.A.rows + 1, begin);
    Index row = after - row_ptr.data() - 1;
    for (Index k = begin; k < end; ++k) {
      while (row_ptr[row + 1] <= k) ++row;
      Index& last = last_row[col[k - begin] / width];
      segments += last != row;
      last = row;
    }
    entries += end - begin;
  }
  return segments > 0 ? static_cast<double>(entries) / static_cast<double>(segments) : 1;
}

inline void take_lengths(const HostArray<std::int32_t>& row_ptr, Features& f) {
  Index tile = 0, rows = 0, widest = 0;
  for (Index i = 0; i < f.rows; ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i], in_tile = row_ptr[i] / kFlatTile;
    widest = i % kSellSlice > 0 && widest > length ? widest : length;
    if (i % kSellSlice == kSellSlice - 1 || i + 1 == f.rows) f.slots_unsorted += widest * kSellSlice;
    f.longest = length > f.longest ? length : f.longest;
    rows = in_tile == tile ? rows + 1 : 1;
    tile = in_tile;
    f.tile_rows = rows > f.tile_rows ? rows : f.tile_rows;
  }
}

template <class T>
Features features_of(const Problem<T>& p, const In<T>& in, const HostArray<std::int32_t>& row_ptr,
                     Context& context) {
  constexpr double kMega = 1e6;
  constexpr Index kSector = 32;
  Features f{};
  f.rows = in.A.rows, f.cols = in.A.cols, f.nnz = in.A.nnz;
  f.a = (static_cast<double>(f.nnz) * (sizeof(in_t<T>) + 4) + static_cast<double>(f.rows) * 4) / kMega;
  f.x = static_cast<double>(f.cols) * sizeof(in_t<T>) / kMega;
  f.y = static_cast<double>(f.rows) * sizeof(out_t<T>) * (p.beta == scalar_t<T>(0) ? 1 : 2) / kMega;
  f.block_width = column_block_width<T>(f.cols, f.nnz);
  if (f.rows == 0 || f.nnz == 0) return f;
  take_lengths(row_ptr, f);
  constexpr Index kWindows = 64;
  f.slots = slots_of(row_ptr, ceil_div(ceil_div(f.rows, kSellWindow), kWindows));
  f.fresh = fresh_share(in.A.col, f.nnz, kSector / static_cast<Index>(sizeof(in_t<T>)), context);
  f.per_segment = entries_per_segment(in, row_ptr, f.block_width, context);
  return f;
}

/// What a candidate does. A batch is what a warp takes of the entries at once.
struct Work {
  double launches, chain, batches, warps;  // chain: batches one after the other
  double streamed, gathers;                // megabytes; entries that gather from global memory
};

inline Work work_of_lanes(const HostArray<std::int32_t>& row_ptr, const Features& f) {
  const Index width = vector_width(f.rows, f.nnz);
  return {1,
          static_cast<double>(ceil_div(f.longest, width)),
          warp_batches(row_ptr, 32 / width, width, f.longest),
          static_cast<double>(f.rows * width) / 32,
          f.a + f.y,
          static_cast<double>(f.nnz)};
}

/// A batch is a warp's share of what a block takes of its row at once.
inline Work work_of_blocks(const HostArray<std::int32_t>& row_ptr, const Features& f) {
  constexpr Index kWarps = kRowThreads / 32;
  return {1,
          static_cast<double>(ceil_div(f.longest, kRowThreads)),
          warp_batches(row_ptr, 1, kRowThreads, f.longest) * kWarps,
          static_cast<double>(f.rows * kWarps),
          f.a + f.y,
          static_cast<double>(f.nnz)};
}

inline Work work_of_long_rows(LongShape shape, const HostArray<std::int32_t>& row_ptr, const Features& f) {
  const Cutting cut = cutting_of(row_ptr, shape.least - 1, shape.tile(), f.nnz);
  const Index width = vector_width(f.rows, f.nnz - static_cast<Index>(cut.entries));
  constexpr int kWarps = kLongThreads / 32;
  const double chain = static_cast<double>(ceil_div(cut.longest, width)),
               tile = cut.parts > 0 ? shape.each + cut.most / kLongThreads : 0;
  return {1,
          chain > tile ? chain : tile,
          warp_batches(row_ptr, 32 / width, width, shape.least - 1) + cut.parts * kWarps * shape.each,
          static_cast<double>(f.rows * width) / 32 / kLongRows + cut.parts * kWarps,
          f.a + f.y,
          static_cast<double>(f.nnz)};
}

/// Of tiles of about equal numbers of entries, or of entries and rows.
template <int Tile, int Threads>
Work work_of_tiles(Index launches, Index steps, Index rounds, const Features& f) {
  return {static_cast<double>(launches),
          static_cast<double>(Tile / Threads + rounds),
          static_cast<double>(f.nnz + f.rows) / 32,
          static_cast<double>(ceil_div(steps, Tile) * (Threads / 32)),
          f.a + f.y,
          static_cast<double>(f.nnz)};
}

inline Work work_of_sell(const Features& f, double size) {
  const double batches = static_cast<double>(f.slots) / kSellSlice,
               warps = static_cast<double>(f.rows) / kSellSlice;
  return {1,
          static_cast<double>(f.longest),
          batches,
          warps,
          (batches * (size + 4) + warps * 4) * kSellSlice / 1e6 + f.y,
          static_cast<double>(f.nnz)};
}

template <class T>
Work work_of_column_blocks(const Features& f) {
  const Index many = device_multiprocessors(), blocks = ceil_div(f.cols, f.block_width),
              most = 2 * blocks <= many ? many : 4 * many + blocks, even = ceil_div(f.nnz, most),
              target = even < kChunk<T> ? kChunk<T> : even;
  const double ranges = static_cast<double>(ceil_div(f.nnz, target)), nnz = static_cast<double>(f.nnz),
               size = sizeof(in_t<T>), segments = nnz / f.per_segment,
               copied = ranges * static_cast<double>(f.block_width) * size;
  return {2,
          static_cast<double>(ceil_div(target, kColumnBlockThreads * kLaneSlots<T>)),
          nnz / 32,
          (ranges * kColumnBlockThreads + static_cast<double>(f.rows)) / 32,
          (nnz * (size + 2) + copied + segments * sizeof(scalar_t<T>) * 2) / 1e6 + f.y,
          segments};
}

template <class T>
Work work_of(const Candidate& c, const HostArray<std::int32_t>& row_ptr, const Features& f) {
  switch (c.kernel) {
    case Kernel::vector:
      return work_of_lanes(row_ptr, f);
    case Kernel::long_rows:
      return work_of_long_rows(c.shape, row_ptr, f);
    case Kernel::flat:
      return work_of_tiles<kFlatTile, kFlatThreads>(2, f.nnz, ceil_div(f.tile_rows, kFlatThreads), f);
    case Kernel::merge:
      return work_of_tiles<kFlatTile, kFlatThreads>(2, f.nnz + f.rows, 0, f);
    case Kernel::stream:  // a row longer than a tile stays in one block
      return work_of_tiles<kStreamTile, kStreamThreads>(1, f.nnz + f.rows,
                                                        ceil_div(f.longest, kStreamThreads), f);
    case Kernel::sell:
      return work_of_sell(f, sizeof(in_t<T>));
    case Kernel::blocks:
      return work_of_blocks(row_ptr, f);
    case Kernel::column_blocks:
      break;
  }
  return work_of_column_blocks<T>(f);
}

inline bool fits(const Candidate& c, const Features& f) {
  if (f.rows == 0 || f.nnz == 0) return false;
  if (c.kernel == Kernel::sell) return !explodes(f.slots_unsorted, f.rows, f.nnz);
  return c.kernel != Kernel::long_rows || c.shape.least == kLongShape.least || f.longest >= c.shape.least;
}

/// The terms: a start; further launches; batches one after the other; batches of all warps of a multiprocessor; warps of one;
/// megabytes from the second-level cache; megabytes from memory; millions of sectors gathered.
template <class T>
Terms terms_of(const Candidate& c, const HostArray<std::int32_t>& row_ptr, const Features& f) {
  if (!fits(c, f)) return {};
  const Work w = work_of<T>(c, row_ptr, f);
  constexpr double kMega = 1e6, kSector = 32;
  const double many = device_multiprocessors(), cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6,
               held = f.a + f.x + f.y, sectors = w.gathers * f.fresh / kMega,
               missing = f.x > cache ? 1 - cache / f.x : 0;
  return {true,
          {1, w.launches - 1, w.chain, w.batches / many, w.warps / many, w.streamed,
           (held > cache ? held - cache : 0) + missing * sectors * kSector, sectors}};
}

/// What is done before the first run: row_ptr is copied and counted for all, and what keep() does.
inline Keeping keeping_of(const Candidate& c, const HostArray<std::int32_t>& row_ptr, const Features& f,
                          double size) {
  const auto rows = static_cast<double>(f.rows), nnz = static_cast<double>(f.nnz);
  Keeping k{3, 3 * rows, 0, 4 * rows, 0, 0};
  switch (c.kernel) {
    case Kernel::vector:
    case Kernel::blocks:
      break;
    case Kernel::long_rows:
      k.steps += 5, k.rows += 2 * rows;
      k.to_device += cutting_of(row_ptr, c.shape.least - 1, c.shape.tile(), f.nnz).parts * sizeof(LongTile);
      break;
    case Kernel::flat:
    case Kernel::merge:
    case Kernel::stream:
      k.steps += 3;
      break;
    case Kernel::sell:
      k.steps += 8, k.rows += rows / kSellSlice, k.to_host += rows / 8, k.to_device += rows / 4;
      k.moved += 2 * nnz * (size + 4);
      break;
    case Kernel::column_blocks:
      k.steps += 40, k.moved += nnz * (48 + 2 * size) + 48 * nnz / f.per_segment;
      break;
  }
  return k;
}

template <class T>
struct Candidates : CandidateList<Spmv, T> {
  static constexpr auto& kNames = spmv::kNames;
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
  static constexpr auto& kPreparations = Costs<scalar_t<T>>::preparation;
  struct Kept {
    int width = 2;  // lanes of a row, of the vector kernel
    LongRowsPlan<T> long_rows{};
    FlatPlan<T> flat{};
    MergePlan<T> merge{};
    Sell<T> sell{};
    const StreamStart* stream = nullptr;  // where tiles of whole rows start
    ColumnBlocks<T> columns{};
  };

  Candidates(const Problem<T>& p, const In<T>& in_, const Out<T>&, Context& context)
      : in(in_),
        row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream),
        f(features_of(p, in, row_ptr, context)) {}
  Terms terms(int c) const { return terms_of<T>(kCandidate[c], row_ptr, f); }
  Terms preparation(int c) const {
    return plumb::terms_of(keeping_of(kCandidate[c], row_ptr, f, sizeof(in_t<T>)));
  }
  Kept keep(int number, Context& context) const {
    const Candidate& c = kCandidate[number];
    Kept kept;
    switch (c.kernel) {
      case Kernel::vector:
        kept.width = vector_width(in.A.rows, in.A.nnz);
        break;
      case Kernel::long_rows:
        kept.long_rows = prepare_long_rows(in, row_ptr, c.shape, context);
        break;
      case Kernel::flat:
        kept.flat = prepare_flat(in, context);
        break;
      case Kernel::merge:
        kept.merge = prepare_merge_path(in, context);
        break;
      case Kernel::sell:
        kept.sell = prepare_sell(in, context);
        break;
      case Kernel::stream:
        kept.stream = prepare_stream(in, context);
        break;
      case Kernel::column_blocks:
        kept.columns = prepare_column_blocks(in, context);
        break;
      case Kernel::blocks:
        break;
    }
    return kept;
  }
  static void run(int c, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    switch (kCandidate[c].kernel) {
      case Kernel::vector:
        return run_vector_per_row(kept.width, p, in, out, context);
      case Kernel::long_rows:
        return run_long_rows(kept.long_rows, p, in, out, context);
      case Kernel::flat:
        return run_flat(kept.flat, p, in, out, context);
      case Kernel::merge:
        return run_merge_path(kept.merge, p, in, out, context);
      case Kernel::sell:
        return run_sell(kept.sell, p, in, out, context);
      case Kernel::column_blocks:
        return run_column_blocks(kept.columns, p, in, out, context);
      case Kernel::blocks:
        return run_block_per_row(p, in, out, context);
      case Kernel::stream:
        return run_stream(kept.stream, p, in, out, context);
    }
  }

  const In<T>& in;
  HostCopy<std::int32_t> row_ptr;
  Features f;
};

}  // namespace spmv
}  // namespace plumb
