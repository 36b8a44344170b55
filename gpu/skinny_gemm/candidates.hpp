// What rung 16 chooses from, and what each would do for a product, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/gemm/families/tile_list.hpp"
#include "gpu/gemv/lanes.hpp"
#include "gpu/skinny_gemm/costs.hpp"
#include "gpu/skinny_gemm/kernels/bulk_streams.hpp"
#include "gpu/skinny_gemm/kernels/fragments.hpp"
#include "gpu/skinny_gemm/kernels/register_sum.hpp"
#include "gpu/skinny_gemm/kernels/row_lanes.hpp"
#include "gpu/skinny_gemm/kernels/stages.hpp"
#include "gpu/skinny_gemm/kernels/streamed_fragments.hpp"
#include "gpu/skinny_gemm/kernels/warp_streams.hpp"
#include "gpu/skinny_gemm/kernels/whole_rows.hpp"

namespace plumb {
namespace skinny {

/// This ladder's own; gemm's follow.
template <class T>
constexpr int kCandidates = sizeof(T) == 4 ? 14 : 17;
constexpr int kOwn = 9;

/// Of the operands: what the terms are made of.
struct Features {
  Index v, k, n;
  int copy;  // elements that a copy of X may move
};

/// What a candidate does. A pass goes over all of X.
struct Work {
  double chain;                 // terms that a block goes along, one after the other
  double products;              // millions, of the busiest multiprocessor
  double copies;                // millions of it, whatever they move
  double w;                     // megabytes of W from the second-level cache
  double passes = 1, of_y = 1;  // how often X is read; how often Y is moved
};

inline double million(Index n) { return static_cast<double>(n) / 1e6; }
/// Of `blocks`, those of the busiest multiprocessor.
inline Index busiest_of(Index blocks) { return ceil_div(blocks, device_multiprocessors()); }

/// Rungs 10, 15 and 18: blocks have even shares of the rows.
template <class S, class T, int Groups>
Work work_of_stages(const Features& f) {
  const Index across = ceil_div(f.n, 16 * Groups), tiles = ceil_div(f.v, S::kRows),
              resident = resident_blocks<T, S, Groups>() * static_cast<Index>(device_multiprocessors()),
              blocks = tiles < resident ? tiles : resident, items = ceil_div(ceil_div(f.v, blocks), S::kRows),
              depth = ceil_div(f.k, S::kDepth) * S::kDepth,
              rows = busiest_of(blocks * across) * items * S::kRows;
  const Index copy = f.copy * static_cast<int>(sizeof(T)) == 16 ? f.copy : 1;
  return {static_cast<double>(items * depth), million(rows * depth * 16 * Groups),
          million(rows * depth / copy),
          million(tiles * depth * 16 * Groups * across * static_cast<Index>(sizeof(T))),
          static_cast<double>(across)};
}

template <class S, class T>
Work work_of_stages(const Features& f) {
  return with_groups(f.n, [&](auto groups) { return work_of_stages<S, T, groups.kOf>(f); });
}

/// Rung 2: a thread per row, which goes over its row of X and a column of W for every column of Y. A warp's load takes a turn for each line of
/// 128 bytes in which its lanes' rows lie.
inline Work work_of_register_sum(const Features& f, Index size) {
  constexpr Index kResident = 8;
  const Index blocks = ceil_div(f.v, kThreads), busiest = busiest_of(blocks), rows = busiest * kThreads,
              apart = ceil_div(32 * f.k * size, 128), lines = apart < 32 ? apart : 32;
  return {static_cast<double>(ceil_div(busiest, kResident) * f.k * f.n), million(rows * f.k * f.n),
          million(rows * f.k * f.n * lines / 32), million(blocks * f.k * f.n * size)};
}

/// Rungs 9, 11, 12 and 14: one block on a multiprocessor, whose warps have even shares of the rows; columns one pass after the other.
struct Passes {
  Index warps, rows, panel;  // of a block; of a warp's tile; terms, to a multiple of which a row is filled up
  Index columns;             // of a pass
  Index w_panels;            // panels of W that a tile loads anew
};
inline Work work_of_passes(const Passes& s, const Features& f, Index size) {
  const Index across = ceil_div(f.n, s.columns), shares = ceil_div(f.v, s.rows * s.warps),
              blocks = shares < device_multiprocessors() ? shares : device_multiprocessors(),
              tiles = ceil_div(ceil_div(f.v, blocks * s.warps), s.rows),
              depth = ceil_div(f.k, s.panel) * s.panel, rows = tiles * s.rows * s.warps * across,
              of_w = blocks * s.warps * across * s.columns * size;
  return {static_cast<double>(tiles * across * depth), million(rows * depth * s.columns),
          million(rows * depth / f.copy), million(of_w * (f.k + tiles * s.w_panels * s.panel)),
          static_cast<double>(across)};
}

/// Rung 17: lanes share rows.
template <class T, class S>
Work work_of_row_lanes(const Features& f) {
  constexpr Index kSet = row_lanes::kWarpsOfBlock * S::kRows, kSteps = S::kStep * S::kTogether;
  const Index across = ceil_div(f.n, S::N), sets = ceil_div(f.v, kSet),
              resident = 2 * device_multiprocessors(), blocks = sets < resident ? sets : resident,
              of_block = ceil_div(sets, blocks), depth = ceil_div(f.k, kSteps) * kSteps,
              rows = busiest_of(blocks * across) * of_block * kSet;
  // what lanes hand each other counts as so many terms of a row
  return {static_cast<double>(of_block * ceil_div(f.k, 32)), million(rows * (depth + 32) * S::N),
          million(rows * depth / S::V),
          million(blocks * (f.k <= S::kDepth ? 1 : of_block) * f.k * f.n * static_cast<Index>(sizeof(T))),
          static_cast<double>(across)};
}
template <class T, int V>
Work work_of_row_lanes(const Features& f) {
  return row_lanes::with_shape<T, V>(f.n,
                                     [&](auto shape) { return work_of_row_lanes<T, decltype(shape)>(f); });
}
template <class T>
Work work_of_row_lanes(const Features& f, const In<T>& in) {
  return whole_vectors(in.X) ? work_of_row_lanes<T, Vector<T>::kLanes>(f) : work_of_row_lanes<T, 1>(f);
}

/// Rung 19: whole rows. Its copies cost nothing; in their place stand the turns of shared memory, of X, W and the sums that warps hand on.
template <class S>
Work work_of_whole_rows(const whole_rows::Division& d, const Features& f, bool wide_x) {
  const Index across = ceil_div(f.n, S::kColumns), rounds = whole_rows::rounds_of(f.v, d.rows),
              rows = rounds * d.rows * across, same = wide_x ? S::rows_in_a_bank(d.pitch) : 1,
              depth = ceil_div(f.k, S::kStep) * S::kStep;
  Index turns = 0;
  if (S::kFragments) {
    turns = rows * depth / S::kStep * (8 * S::R * same + 4 * S::C) / S::kRows;
  } else {
    const Index terms = wide_x ? S::V : 1;
    turns = rows * f.k / terms * (S::R * same + terms * ceil_div(S::C, S::V)) / S::kRows;
  }
  const Index handed_on = rows * ceil_div(f.n, d.wide_y ? S::V : 1) * d.parts / 32;
  const double of_products = S::kFragments ? 0.5 : 1;  // tensor cores do twice as many
  return {static_cast<double>(rounds * across * ceil_div(f.k, d.parts)),
          million(rows * depth * S::kColumns) * of_products, million(turns + handed_on),
          million(device_multiprocessors() * f.k * S::kColumns * across *
                  static_cast<Index>(sizeof(typename S::T))),
          static_cast<double>(across)};
}
template <class T>
bool work_of_whole_rows(const Features& f, const In<T>& in, const Out<T>& out, Work& w) {
  if (!whole_rows::takes(in, out)) return false;
  w = whole_rows::with_shape<T>(f.n, [&](auto shape) {
    using S = decltype(shape);
    const whole_rows::Division d = whole_rows::division_of<S>(in, out);
    return work_of_whole_rows<S>(d, f, S::reads_vectors(f.k, d.pitch));
  });
  return true;
}

/// The terms: a start; nothing; terms that a block goes along; millions of multiply-adds of the busiest multiprocessor;
/// megabytes from the second-level cache; megabytes of Y; megabytes of X from memory; millions of copies of the busiest multiprocessor.
template <class T>
Terms terms_of(const Work& w, const Features& f) {
  const double x = million(f.v * f.k * static_cast<Index>(sizeof(T))),
               y = million(f.v * f.n * static_cast<Index>(sizeof(T))),
               cache = million(static_cast<Index>(device_l2_bytes())) * 0.6,
               from_memory = x > cache ? x * w.passes : x;
  return {true, {1, 0, w.chain, w.products, w.w + x * w.passes, y * w.of_y, from_memory, w.copies}};
}

/// Y = X W as gemm's ladder has it.
template <class T>
struct AsGemm {
  gemm::Problem<T> p{T(1), T(0)};
  gemm::In<T> in;
  gemm::Out<T> out;
  AsGemm(const In<T>& i, const Out<T>& o) : in{i.X, i.W}, out{o.Y} {}
};

/// A product with one column, as gemv's ladder has it: lanes share a row, each with up to four loads at once.
template <class T>
gemv::In<T> as_gemv(const In<T>& in) {
  return {in.X, {in.W.data, in.W.rows}};
}
template <class T>
int gemv_lanes(const In<T>& in) {
  return gemv::on_vectors(as_gemv(in)) ? gemv::lanes_of<gemv::Vector<T>>(in.X.cols, 4)
                                       : gemv::lanes_of<gemv::Vector<T, 1>>(in.X.cols, 4);
}
template <class T>
bool work_of_gemv(const Features& f, const In<T>& in, const Out<T>& out, Work& w) {
  if (f.n != 1 || (in.W.rows > 1 && in.W.ld != 1) || (out.Y.rows > 1 && out.Y.ld != 1)) return false;
  const int lanes = gemv_lanes(in);
  const Index blocks = ceil_div(f.v * lanes, gemv::kLanesThreads), busiest = busiest_of(blocks),
              rows = busiest * gemv::kLanesThreads / lanes;
  w = {static_cast<double>(ceil_div(f.k, lanes)), million(rows * f.k), million(rows * ceil_div(f.k, f.copy)),
       million(blocks * f.k * static_cast<Index>(sizeof(T)))};
  return true;
}
template <class T>
void run_as_gemv(const In<T>& in, const Out<T>& out, Context& context) {
  const gemv::In<T> of{as_gemv(in)};
  const gemv::Out<T> to{{out.Y.data, out.Y.rows}};
  const gemv::Problem<T> plain{T(1), T(0)};
  if (gemv::on_vectors(of)) return gemv::run_lanes<gemv::Vector<T>>(gemv_lanes(in), plain, of, to, context);
  gemv::run_lanes<gemv::Vector<T, 1>>(gemv_lanes(in), plain, of, to, context);
}

/// The two candidates that a type has to itself: `work` says what candidate c would do, or that it does not fit; `run` does it.
template <class T>
struct OfType;

template <>
struct OfType<float> {
  static constexpr const char* kNames[2] = {"warps' streams", "bulk streams"};

  static bool work(int c, const Features& f, const In<float>& in, Work& w) {
    if (c == 0) {
      w = work_of_passes({Streams::kWarps, Streams::kRows, Streams::kDepth, kCols, 0}, f, sizeof(float));
      w.of_y = 2 * static_cast<double>(ceil_div(f.k, kPanel)) - 1;
      return true;
    }
    w = work_of_passes({BulkStages::kWarps, BulkStages::kRows, f.k <= 64 ? 64 : kPanel, kCols, 0}, f,
                       sizeof(float));
    w.copies = 0;
    return rows_in_bulk(in);
  }
  static void run(int c, const In<float>& in, const Out<float>& out, Context& context) {
    if (c == 0) return run_streams<Streams>(in, out, context);
    run_bulk_streams(in, out, context);
  }
};

template <>
struct OfType<double> {
  static constexpr const char* kNames[2] = {"fragments of W", "fragments of W, X in stages"};
  using Staged = FragmentStages;

  static bool work(int c, const Features& f, const In<double>&, Work& w) {
    if (c ==
        0) {  // its panels are of 64 where that is all of a row, and 8 columns suffice where rows are whole panels
      const bool plain = f.copy == 2 && f.k % 64 == 0;
      const Index panel = plain && f.k % 128 != 0 ? 64 : 128;
      w = work_of_passes({fragments::kWarps, fragments::kRows, panel, plain && f.n <= 8 ? 8 : 16,
                          f.k > panel ? ceil_div(f.k, panel) : 0},
                         f, sizeof(double));
      if (!plain) w.copies *= f.copy;  // loads of one element
      return true;
    }
    w = work_of_passes(
        {Staged::kWarps, Staged::kRows, kPanel, kCols, f.k > kPanel ? ceil_div(f.k, kPanel) : 0}, f,
        sizeof(double));
    return true;
  }
  static void run(int c, const In<double>& in, const Out<double>& out, Context& context) {
    if (c == 0) return fragments::run_fragments(in, out, context);
    run_streamed_fragments(in, out, context);
  }
};

/// This ladder's candidates, in their order.
enum Own { kHigh, kLow, kMiddle, kFirstOfType, kSecondOfType, kByColumns, kAsGemv, kRowLanes, kWholeRows };

template <class T>
bool work_of_own(int c, const Features& f, const In<T>& in, const Out<T>& out, Work& w) {
  switch (c) {
    case kFirstOfType:
    case kSecondOfType:
      return OfType<T>::work(c - kFirstOfType, f, in, w);
    case kLow:
      w = work_of_stages<LowTile<T>, T>(f);
      return true;
    case kMiddle:
      w = work_of_stages<MiddleTile<T>, T>(f);
      return true;
    case kByColumns:
      w = work_of_register_sum(f, sizeof(T));
      return true;
    case kAsGemv:
      return work_of_gemv(f, in, out, w);
    case kRowLanes:
      w = work_of_row_lanes<T>(f, in);
      return true;
    case kWholeRows:
      return work_of_whole_rows(f, in, out, w);
    default:
      w = work_of_stages<HighTile<T>, T>(f);
      return true;
  }
}
template <class T>
void run_own(int c, const In<T>& in, const Out<T>& out, Context& context) {
  switch (c) {
    case kFirstOfType:
    case kSecondOfType:
      return OfType<T>::run(c - kFirstOfType, in, out, context);
    case kLow:
      return run_stages<LowTile<T>>(in, out, context);
    case kMiddle:
      return run_stages<MiddleTile<T>>(in, out, context);
    case kByColumns:
      return run_register_sum(in, out, context);
    case kAsGemv:
      return run_as_gemv(in, out, context);
    case kRowLanes:
      return row_lanes::run_row_lanes(in, out, context);
    case kWholeRows:
      return whole_rows::run_whole_rows(in, out, context);
    default:
      return run_stages<HighTile<T>>(in, out, context);
  }
}

/// Tiles of gemm's ladder; those of fp32 copy 16 neighbours of a row of X at once, as X comes from memory.
template <class T>
struct TilesOfGemm;
template <>
struct TilesOfGemm<float> {
  template <int BM, int BK, int WM, int WK, int Stages, int Blocks>
  using Streamed = gemm::Shape<float, BM, 64, BK, WM, 2, WK, 8, 4, Stages, Blocks, 16>;
  static constexpr const char* kNames[] = {"32 x 32 tiles, depth in parts", "64 x 64 tiles, steps of 16",
                                           "64 x 64 tiles", "32 x 64 tiles, depth shared",
                                           "tiles as wide as Y"};
  static constexpr gemm::Candidate<float> kList[] = {
      gemm::split_depth_of_tiles<float>(), gemm::whole<float, Streamed<64, 16, 2, 1, 4, 5>>(),
      gemm::whole<float, Streamed<64, 32, 2, 1, 3, 4>>(), gemm::whole<float, Streamed<32, 32, 1, 2, 3, 5>>(),
      gemm::fitted<float>()};
};
template <>
struct TilesOfGemm<double> {
  static constexpr const char* kNames[] = {"32 x 32 tiles, depth in parts",
                                           "64 x 64 tiles",
                                           "32 x 32 tiles, depth shared",
                                           "128 x 32 tiles",
                                           "32 x 32 tiles",
                                           "32 x 64 tiles",
                                           "32 x 32 tiles, steps of 32",
                                           "tiles as wide as Y"};
  static constexpr gemm::Candidate<double> kList[] = {
      gemm::split_depth_of_tiles<double>(),          gemm::whole<double, gemm::Fp64Small>(),
      gemm::whole<double, gemm::Fp64SharedSquare>(), gemm::whole<double, gemm::Fp64Thin>(),
      gemm::whole<double, gemm::Fp64Square>(),       gemm::whole<double, gemm::Fp64Low>(),
      gemm::whole<double, gemm::Fp64Deep>(),         gemm::fitted<double>()};
};

/// The names of this ladder's candidates, in their order, and of gemm's tiles.
template <class T>
struct Names {
  const char* of[kCandidates<T>];
};
template <class T>
constexpr Names<T> names() {
  const char* const own[kOwn] = {kSingle<T> ? "tiles of 256 rows in stages" : "tiles of 128 rows in stages",
                                 kSingle<T> ? "tiles of 64 rows in stages" : "tiles of 32 rows in stages",
                                 kSingle<T> ? "tiles of 128 rows in stages" : "tiles of 64 rows in stages",
                                 OfType<T>::kNames[0],
                                 OfType<T>::kNames[1],
                                 "a thread per row, a column at a time",
                                 "gemv's lanes",
                                 "lanes share rows",
                                 "tiles of whole rows"};
  Names<T> all{};
  for (int c = 0; c < kCandidates<T>; ++c) all.of[c] = c < kOwn ? own[c] : TilesOfGemm<T>::kNames[c - kOwn];
  return all;
}

template <class T>
struct Candidates : CandidateList<SkinnyGemm, T> {
  static constexpr Traits kTraits = Traits{}.needs_sm(90);
  static constexpr Names<T> kAll = names<T>();
  static constexpr auto& kNames = kAll.of;
  static constexpr auto& kModels = Costs<T>::model;
  using Kept = gemm::Kept<T>;  // of gemm's tiles
  using List = TilesOfGemm<T>;

  Candidates(const Problem<T>&, const In<T>& in_, const Out<T>& out_, Context&)
      : in(in_),
        out(out_),
        f{out.Y.rows, in.X.cols, out.Y.cols, copy_width(in)},
        as(in, out),
        tiles(as.p, as.in, as.out) {
    static_assert(kOwn + decltype(tiles)::kCount == kCandidates<T>, "all have a name");
  }
  Terms terms(int c) const {
    if (f.v == 0 || f.k == 0 || f.n == 0) return {};
    if (c >= kOwn) return tiles.terms(c - kOwn, as.out);
    Work w{};
    return work_of_own(c, f, in, out, w) ? terms_of<T>(w, f) : Terms{};
  }
  Kept keep(int c, Context& context) const {
    return c < kOwn ? Kept{} : tiles.keep(c - kOwn, as.in, as.out, context);
  }
  static void run(int c, const Kept& kept, const Problem<T>&, const In<T>& in, const Out<T>& out,
                  Context& context) {
    if (c < kOwn) return run_own(c, in, out, context);
    const AsGemm<T> of(in, out);
    List::kList[c - kOwn].run(kept, of.p, of.in, of.out, context);
  }

  const In<T>& in;
  const Out<T>& out;
  Features f;
  AsGemm<T> as;
  gemm::TileList<T, List> tiles;
};

}  // namespace skinny
}  // namespace plumb
