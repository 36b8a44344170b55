// What rung 13 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/common/matrix_work.hpp"
#include "gpu/spmm/block_rows.hpp"
#include "gpu/spmm/costs.hpp"
#include "gpu/spmm/element.hpp"
#include "gpu/spmm/order.hpp"
#include "gpu/spmm/ranges.hpp"
#include "gpu/spmm/staged.hpp"

namespace plumb {
namespace spmm {

enum class Kernel : std::uint8_t { rows, streamed, staged, element, block };

/// `share`: groups share a row. `cut`: entries of a row for each group of it, above which it is cut into parts of `part`; 0: never.
struct Candidate {
  Kernel kernel;
  bool share, sorted;
  Index cut, part;
};
constexpr int kCandidates = 13;
constexpr Candidate kCandidate[kCandidates] = {
    {Kernel::rows, false, false, 0, 0},       {Kernel::rows, true, false, 0, 0},
    {Kernel::rows, false, false, 64, 256},    {Kernel::rows, true, false, 64, 256},
    {Kernel::rows, false, true, 64, 256},     {Kernel::streamed, false, false, 64, 256},
    {Kernel::rows, false, false, 32, 64},     {Kernel::rows, true, false, 32, 64},
    {Kernel::streamed, false, false, 32, 64}, {Kernel::staged, false, false, 0, 0},
    {Kernel::element, false, false, 0, 0},    {Kernel::block, false, false, 0, 0},
    {Kernel::rows, false, false, 16, 16}};
constexpr const char* kNames[kCandidates] = {"a group per row",
                                             "groups share a row",
                                             "a group per row, parts of 256",
                                             "groups share a row, parts of 256",
                                             "a group per row, sorted, parts of 256",
                                             "streamed rows, parts of 256",
                                             "a group per row, parts of 64",
                                             "groups share a row, parts of 64",
                                             "streamed rows, parts of 64",
                                             "staged entries",
                                             "a thread per element",
                                             "a block per row",
                                             "a group per row, parts of 16"};

/// Of the matrix and the widths: what the terms are made of.
struct Features {
  Index rows, nnz, longest = 0;
  int v, lanes, slots;                // lanes and slots that rungs 9 to 12 would take
  int whole;                          // lanes for all columns, or 32
  Index whole_panels;                 // of C's columns, by so many lanes
  double width, c_width, sums_width;  // bytes of a row of B, of C, and of partial sums
  double panels;                      // of C's columns
  double fresh;                       // share of the gathers from B that no entry shortly before made
  double missing = 0;                 // share of them that the second-level cache has not
  double b_bytes;
};

/// Whether rows have their columns close together, so that neighbouring rows find each other's rows of B in
/// the caches nearer by: by the first and last column of a few rows.
template <class T>
bool columns_are_local(const In<T>& in, const HostArray<std::int32_t>& row_ptr, Context& context) {
  constexpr Index kSampled = 32;
  double span = 0, sampled = 0;
  for (Index s = 0; s < kSampled && in.A.rows > 0; ++s) {
    const Index i = in.A.rows * s / kSampled, begin = row_ptr[i], end = row_ptr[i + 1];
    if (end - begin < 2) continue;
    std::int32_t first = 0, last = 0;
    device_read(&first, in.A.col + begin, sizeof first, context.stream);
    device_read(&last, in.A.col + end - 1, sizeof last, context.stream);
    span += last > first ? last - first : first - last, sampled += 1;
  }
  return span < sampled * static_cast<double>(in.A.cols) / 8;
}

template <class T>
Features features_of(const In<T>& in, const Out<T>& out, const HostArray<std::int32_t>& row_ptr,
                     Context& context) {
  Features f{};
  f.rows = in.A.rows, f.nnz = in.A.nnz;
  for (Index i = 0; i < f.rows; ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i];
    f.longest = length > f.longest ? length : f.longest;
  }
  f.v = vector_length(in, out);
  const auto cache = static_cast<double>(device_l2_bytes());
  const int whole = f.whole = lanes_for(out.C.cols, f.v);
  f.whole_panels = ceil_div(out.C.cols, static_cast<Index>(whole) * columns_of_lane(f.v, whole, out.C.cols));
  const int panel = panel_lanes<T>(in.A.cols, out.C.cols, f.v, device_l2_bytes());
  f.width = static_cast<double>(out.C.cols) * sizeof(in_t<T>);
  f.c_width = static_cast<double>(out.C.cols) * sizeof(out_t<T>);
  f.sums_width = static_cast<double>(out.C.cols) * sizeof(scalar_t<T>);
  f.b_bytes = static_cast<double>(in.A.cols) * f.width;
  const bool scattered = f.b_bytes > cache * 3 / 5 && !columns_are_local(in, row_ptr, context);
  f.lanes = scattered ? panel : whole;
  f.slots = f.lanes >= 32 ? 1 : f.lanes >= 16 ? 2 : 4;
  const Index panel_columns = static_cast<Index>(f.lanes) * columns_of_lane(f.v, f.lanes, out.C.cols);
  f.panels = static_cast<double>(ceil_div(out.C.cols, panel_columns));
  f.fresh = fresh_share(in.A.col, in.A.nnz, 1, context);
  const double held = f.lanes < whole ? f.b_bytes / f.panels : f.b_bytes;
  f.missing = scattered && held > cache * 3 / 5 ? 1 - cache * 3 / 5 / held : 0;
  return f;
}

/// What a candidate does with the entries, whatever it reads.
struct Pace {
  double chain, batches, warps;  // batches one after the other; of all warps; warps
  double each;                   // entries that a team reads of the indices at once
};
inline Pace pace_of(const Candidate& c, const Features& f, const HostArray<std::int32_t>& row_ptr, int lanes,
                    int slots, const Cutting& cut, Index longest_left) {
  const auto rows = static_cast<double>(f.rows), left = static_cast<double>(f.nnz) - cut.entries;
  const double groups = 32.0 / lanes, part = std::ceil(static_cast<double>(cut.longest_part) / (4 * groups));
  const Index each = c.kernel == Kernel::element ? 1 : 4 * slots, teams = 32 / (lanes * slots);
  Pace pace{static_cast<double>(ceil_div(longest_left, each)), 0, rows / static_cast<double>(teams),
            c.kernel == Kernel::staged ? 32.0 : static_cast<double>(each)};
  if (c.kernel == Kernel::block) {
    const int warps = block_warps(f.rows * f.whole_panels);
    const Index at_once = each * (32 / lanes) * warps;
    pace.chain = static_cast<double>(ceil_div(longest_left, at_once)) + warps / 4.0;
    pace.warps = rows * warps, pace.each = 4;
    pace.batches = warp_batches(row_ptr, 1, at_once, longest_left) * warps;
  } else if (c.kernel == Kernel::streamed) {
    const double share = left + rows < static_cast<double>(stream_share(lanes))
                             ? left + rows
                             : static_cast<double>(stream_share(lanes));
    pace.chain = (share + static_cast<double>(longest_left)) / 4, pace.warps = (left + rows) / share / groups;
    pace.batches = (left + rows) / 4 / groups;
  } else {
    pace.batches = c.sorted ? left / 4 / groups : warp_batches(row_ptr, teams, each, longest_left);
  }
  pace.chain = part > pace.chain ? part : pace.chain;
  pace.batches += cut.entries / (4 * groups), pace.warps += cut.parts;
  return pace;
}

inline bool fits(const Candidate& c, const Features& f, bool cuts) {
  if (f.rows <= 0 || (c.share && f.slots == 1)) return false;
  if (c.kernel == Kernel::block) return true;
  if (c.kernel == Kernel::rows) return c.cut == 0 || c.sorted || cuts;
  return c.kernel != Kernel::streamed || c.part > 64 || f.longest > 64;
}

/// The terms: a start; the second pass over parts; batches one after the other; batches of all warps of a multiprocessor; megabytes
/// from the second-level cache; megabytes from memory; warps of a multiprocessor; millions of sectors asked for.
inline Terms terms_of(const Candidate& c, const Features& f, const HostArray<std::int32_t>& row_ptr,
                      double size) {
  const bool element = c.kernel == Kernel::element, one_row = element || c.kernel == Kernel::staged;
  const bool block = c.kernel == Kernel::block;
  const int slots = c.share ? f.slots : 1, lanes = one_row ? 32 : block ? f.whole : f.lanes;
  const Index cut = c.cut * slots;
  const bool cuts = c.cut > 0 && f.longest > cut;
  if (!fits(c, f, cuts)) return {};
  const Cutting parts = cuts ? cutting_of(row_ptr, cut, c.part, kMostParts) : Cutting{};
  const Pace pace = pace_of(c, f, row_ptr, lanes, slots, parts, cuts ? parts.longest : f.longest);
  const double panels = one_row ? std::ceil(f.width / size / (element ? 32 : 128))
                        : block ? static_cast<double>(f.whole_panels)
                                : f.panels;
  constexpr double kSector = 32, kMega = 1e6;
  const auto rows = static_cast<double>(f.rows), nnz = static_cast<double>(f.nnz);
  const double row_sectors = std::ceil(f.width / kSector), index_sectors = std::ceil(pace.each * 4 / kSector);
  const double gathered = nnz * row_sectors * kSector / kMega, c_bytes = rows * f.c_width / kMega,
               sums = 2 * parts.parts * f.sums_width / kMega,
               a_bytes = (nnz * (size + 4) * panels + rows * 4) / kMega,
               held = a_bytes + c_bytes + f.b_bytes / kMega,
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6;
  const double sectors = nnz * row_sectors + nnz / pace.each * index_sectors * (1 + size / 4) * panels +
                         rows * std::ceil(f.c_width / kSector);
  const auto many = static_cast<double>(device_multiprocessors());
  return {true,
          {1, parts.cut_rows > 0 ? 1 + parts.most / 128 : 0, pace.chain, pace.batches * panels / many,
           gathered * f.fresh + a_bytes + c_bytes + sums,
           gathered * f.missing * f.fresh + (held > cache ? held - cache : 0), pace.warps * panels / many,
           sectors / kMega}};
}

/// Whether a kernel needs to know more of the rows than row_ptr.
inline bool takes_rows(Kernel kernel) { return kernel == Kernel::rows || kernel == Kernel::streamed; }

/// What is done before the first run: row_ptr is copied and counted for all, and what keep() does.
inline Keeping keeping_of(const Candidate& c, const Features& f, const HostArray<std::int32_t>& row_ptr) {
  const auto rows = static_cast<double>(f.rows);
  Keeping k{3, 3 * rows, 0, 4 * rows, 0, 0};
  if (!takes_rows(c.kernel)) return k;
  const Index cut = c.cut * (c.share ? f.slots : 1);
  if (cut > 0) k.rows += 2 * rows;
  if (cut > 0 && f.longest > cut) {
    const Cutting parts = cutting_of(row_ptr, cut, c.part, kMostParts);
    k.steps += 3, k.to_device += parts.parts * sizeof(Part);
  }
  if (c.kernel == Kernel::streamed)
    k.steps += 1, k.rows += 2 * rows,
        k.to_device += (static_cast<double>(f.nnz) + rows) / stream_share(f.lanes) * sizeof(Range);
  if (c.sorted) k.steps += 1, k.rows += 2 * rows, k.to_device += 4 * rows;
  return k;
}

template <class T>
struct Candidates : CandidateList<Spmm, T> {
  static constexpr auto& kNames = spmm::kNames;
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
  static constexpr auto& kPreparations = Costs<scalar_t<T>>::preparation;
  using Kept = StreamPlan<T>;  // its work and split serve the other kernels too

  Candidates(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context)
      : row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream),
        f(features_of(in, out, row_ptr, context)),
        columns(out.C.cols) {}
  Terms terms(int c) const { return terms_of(kCandidate[c], f, row_ptr, sizeof(in_t<T>)); }
  Terms preparation(int c) const { return plumb::terms_of(keeping_of(kCandidate[c], f, row_ptr)); }
  Kept keep(int number, Context& context) const {
    const Candidate& c = kCandidate[number];
    Kept kept;
    Rows<T>& work = kept.work;
    if (!takes_rows(c.kernel)) return kept;
    work.lanes = f.lanes, work.slots = c.share ? f.slots : 1, work.count = f.rows;
    if (c.cut > 0) {
      work.cut = static_cast<unsigned>(c.cut * work.slots);
      kept.split = prepare_split(row_ptr, work.cut, c.part, context);
      take_split(kept.split, columns, work, context);
    }
    if (c.kernel == Kernel::streamed)
      kept.ranges = prepare_ranges(row_ptr, work.cut, stream_share(work.lanes), context);
    if (c.sorted) work.order = prepare_order(row_ptr, work.cut, work.count, context);
    return kept;
  }
  static void run(int c, const Kept& kept, const Problem<T>&, const In<T>& in, const Out<T>& out,
                  Context& context) {
    const int v = vector_length(in, out);
    switch (kCandidate[c].kernel) {
      case Kernel::streamed:
        return run_ranges(v, kept, in, out, context);
      case Kernel::staged:
        return run_coarsened(in, out, context);
      case Kernel::element:
        return run_elements(in, out, context);
      case Kernel::block:
        return run_block_rows(v, in, out, context);
      case Kernel::rows:
        run_shaped_rows(v, kept.work, in, out, context);
        return join_parts(kept.split, kept.work, out, context);
    }
  }

  HostCopy<std::int32_t> row_ptr;
  Features f;
  Index columns;
};

}  // namespace spmm
}  // namespace plumb
