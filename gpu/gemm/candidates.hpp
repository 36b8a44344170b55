// What rung 22 chooses from, and what each would do for a product, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/gemm/clusters.hpp"
#include "gpu/gemm/costs.hpp"
#include "gpu/gemm/mapped.hpp"
#include "gpu/gemm/small_warps.hpp"
#include "gpu/gemm/split_depth.hpp"

namespace plumb {
namespace gemm {

constexpr int kCandidates = 10;

/// What a candidate's blocks do: the terms are made of it.
struct Work {
  Index bm, bn, steps, bk;  // steps of a block, one after the other
  Index blocks, parts;      // blocks of the busiest multiprocessor, of all parts; a block takes its part only
  Index launches, copies;   // times that C's elements move, parts included
  bool aligned;             // copies move 16 bytes
};

/// The terms: a start; further launches; the depth of a block; multiply-adds of the busiest multiprocessor; megabytes from the second-level
/// cache; megabytes of C and of the parts; megabytes of A and B; the multiply-adds again where copies move one element.
template <class T>
Terms terms_of(const Work& w, Index m, Index n, Index depth) {
  const double size = sizeof(T) / 1e6, mn = static_cast<double>(m) * static_cast<double>(n) * size,
               steps = static_cast<double>(w.steps * w.bk), blocks = static_cast<double>(w.blocks),
               area = static_cast<double>(w.bm * w.bn) / 1e6, all = blocks * device_multiprocessors();
  return {true,
          {1, static_cast<double>(w.launches - 1), steps, blocks * steps * area,
           all * steps * static_cast<double>(w.bm + w.bn) * size, mn * static_cast<double>(w.copies),
           static_cast<double>(m + n) * static_cast<double>(depth) * size,
           w.aligned ? 0 : blocks * steps * area}};
}

/// Parts that are written and read, once each.
inline Index copies_of_parts(Index parts) { return parts > 1 ? 1 + 2 * parts : 1; }

template <class S, class T>
Work work_of_parts(const In<T>& in, const Out<T>& out, Index depth, Index together, Meeting meeting) {
  const Parting d = parting_of<S>(out.C.rows, out.C.cols, depth, together, meeting);
  const bool aligned = rows_on_vectors(in.B) && (sizeof(T) == 4 || rows_on_vectors(in.A));
  return {S::BM,  S::BN, d.steps, S::BK, d.blocks, d.parts, d.parts > 1 ? 2 : 1, copies_of_parts(d.parts),
          aligned};
}

/// The parts that meet in a cluster are read there, once each.
template <class S, class T>
Work work_of_clusters(const In<T>& in, const Out<T>& out, Index depth, Index together) {
  Work w = work_of_parts<S>(in, out, depth, together, kInCluster);
  w.launches = 1, w.copies = 1 + w.parts;
  return w;
}

template <class T>
Work work_of_split_depth(const In<T>& in, const Out<T>& out, Index depth) {
  using namespace split_depth;
  const Index parts = split_depth::parts_of(out, depth);
  return {kTile,
          kTile,
          ceil_div(ceil_div(depth, kDepth), parts),
          kDepth,
          ceil_div(tiles_of(out) * parts, device_multiprocessors()),
          parts,
          1,
          copies_of_parts(parts),
          rows_on_vectors(in.A) && rows_on_vectors(in.B)};
}

/// A candidate: what it would do, or that it does not fit; its launches.
template <class T>
struct Candidate {
  bool (*work)(const In<T>& in, const Out<T>& out, Index depth, Work& w);
  void (*run)(const Work& w, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context);
};

/// A block for each tile.
template <class T, class S, Index Together>
constexpr Candidate<T> whole() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of_parts<S>(in, out, depth, Together, kUndivided);
            return true;
          },
          [](const Work&, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            run_parts<S>(p, in, out, 1, context);
          }};
}

/// A row of blocks for each part of the depth.
template <class T, class S, Index Together>
constexpr Candidate<T> in_parts() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of_parts<S>(in, out, depth, Together, kInMemory);
            return w.parts > 1;
          },
          [](const Work& w, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            run_parts<S>(p, in, out, w.parts, context);
          }};
}

/// A cluster of blocks for each tile, each with a part of the depth.
template <class T, class S, Index Together>
constexpr Candidate<T> in_clusters() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of_clusters<S>(in, out, depth, Together);
            return w.parts > 1;
          },
          [](const Work& w, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            run_clusters<S>(p, in, out, w.parts, context);
          }};
}

/// Rung 20, whose plan Candidates keeps and runs.
template <class T>
constexpr Candidate<T> split_depth_of_tiles() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of_split_depth(in, out, depth);
            return true;
          },
          nullptr};
}

/// As run_by_shape decides; not where it takes slices.
inline bool work_of_packed(const In<float>& in, const Out<float>& out, Index depth, Work& w) {
  const Plan plan = plan_of<Shallow>(in, out);
  const Index tiles = ceil_div(out.C.rows, Deep::BM) * ceil_div(out.C.cols, Deep::BN),
              many = device_multiprocessors();
  const bool deep = tiles >= kManyRounds * Deep::kBlocks * many, aligned = rows_on_vectors(in.B);
  const Index parts = deep ? 1 : plan.division.parts;
  if (!deep && plan.time > time_of_slices(in, out)) return false;
  // a block alone on a multiprocessor takes as long as two together
  const Index steps = parts > 1 ? static_cast<Index>(plan.time / (Shallow::BM * Shallow::BN))
                                : ceil_div(tiles, Shallow::kBlocks * many) * Shallow::kBlocks * depth;
  // without whole vectors each of a lane's elements goes by itself, and sectors of C are written in pieces
  const Index stores = rows_on_vectors(out.C) ? 1 : Vector<float>::kLanes;
  w = {Shallow::BM, Shallow::BN, steps, 1, 1, parts, parts > 1 ? 3 : 2, stores * copies_of_parts(parts),
       aligned};
  return true;
}
constexpr Candidate<float> packed() {
  return {work_of_packed, [](const Work&, const Problem<float>& p, const In<float>& in, const Out<float>& out,
                             Context& context) { run_mapped(p, in, out, context); }};
}

inline bool work_of_slices(const In<float>& in, const Out<float>& out, Index depth, Work& w) {
  w = work_of_parts<Sliced>(in, out, depth, 1, kUndivided);
  return true;
}
/// Rung 18.
constexpr Candidate<float> slices_apart() {
  return {work_of_slices, [](const Work&, const Problem<float>& p, const In<float>& in, const Out<float>& out,
                             Context& context) { run_slices(p, in, out, context); }};
}

/// The candidates of a type, in their order.
template <class T>
struct Tiles;

template <>
struct Tiles<float> {
  static constexpr const char* kNames[kCandidates] = {"32 x 32 tiles, depth in parts",
                                                      "128 x 128 tiles, packed",
                                                      "64 x 64 tiles",
                                                      "64 x 64 tiles, depth in parts",
                                                      "64 x 128 tiles",
                                                      "64 x 64 tiles, steps of 16",
                                                      "64 x 128 tiles, depth in parts",
                                                      "32 x 32 tiles, depth shared",
                                                      "32 x 64 tiles, depth shared",
                                                      "64 x 128 tiles, slices apart"};
  static constexpr Candidate<float> kList[kCandidates] = {
      split_depth_of_tiles<float>(),       packed(),
      whole<float, Quartered, 4>(),        in_parts<float, Quartered, 4>(),
      whole<float, QuarteredWide, 3>(),    whole<float, QuarteredShallow, 5>(),
      in_parts<float, QuarteredWide, 3>(), whole<float, SharedSquare, 5>(),
      whole<float, SharedWide, 5>(),       slices_apart()};
};

template <>
struct Tiles<double> {
  static constexpr const char* kNames[kCandidates] = {"32 x 32 tiles, depth in parts",
                                                      "128 x 64 tiles",
                                                      "64 x 64 tiles",
                                                      "128 x 64 tiles, depth in parts",
                                                      "32 x 64 tiles, depth shared",
                                                      "32 x 32 tiles, depth shared",
                                                      "64 x 64 tiles, depth in a cluster",
                                                      "128 x 64 tiles, depth in a cluster",
                                                      "32 x 32 tiles, depth shared and in a cluster",
                                                      "64 x 64 tiles, depth in parts"};
  static constexpr Candidate<double> kList[kCandidates] = {split_depth_of_tiles<double>(),
                                                           whole<double, Fp64Tile, 1>(),
                                                           whole<double, Fp64Small, 3>(),
                                                           in_parts<double, Fp64Tile, 1>(),
                                                           whole<double, Fp64SharedWide, 2>(),
                                                           whole<double, Fp64SharedSquare, 3>(),
                                                           in_clusters<double, Fp64Small, 2>(),
                                                           in_clusters<double, Fp64Tile, 1>(),
                                                           in_clusters<double, Fp64SharedSquare, 3>(),
                                                           in_parts<double, Fp64Small, 3>()};
};

template <class T>
struct Candidates : CandidateList<Gemm, T> {
  static constexpr Traits kTraits = Traits{}.needs_sm(90);
  static constexpr auto& kNames = Tiles<T>::kNames;
  static constexpr auto& kModels = Costs<T>::model;
  struct Kept {
    Work work{};
    split_depth::Plan<T> split{};  // of candidate 0
  };

  Candidates(const Problem<T>& p, const In<T>& in_, const Out<T>& out_, Context&)
      : in(in_), out(out_), depth(depth_of(p, in_)) {
    for (int c = 0; c < kCandidates; ++c)
      fits[c] = depth > 0 && Tiles<T>::kList[c].work(in, out, depth, work[c]);
  }
  Terms terms(int c) const { return fits[c] ? terms_of<T>(work[c], out.C.rows, out.C.cols, depth) : Terms{}; }
  Kept keep(int c, Context& context) const {
    return {work[c], c == 0 ? split_depth::prepare_split_depth(in, out, context) : split_depth::Plan<T>{}};
  }
  static void run(int c, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    if (c == 0) return split_depth::run_split_depth(kept.split, p, in, out, context);
    Tiles<T>::kList[c].run(kept.work, p, in, out, context);
  }

  const In<T>& in;
  const Out<T>& out;
  Index depth;
  Work work[kCandidates]{};
  bool fits[kCandidates]{};
};

}  // namespace gemm
}  // namespace plumb
