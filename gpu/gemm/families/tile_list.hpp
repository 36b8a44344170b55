// Tiles of this ladder as candidates: what each would do for a product, in the terms of the model of cost, and its launches. Rung 22 chooses
// from them, and skinny_gemm's adaptive rung.
#pragma once
#include "gpu/common/cost_model.hpp"
#include "gpu/gemm/families/clusters_family.hpp"
#include "gpu/gemm/families/divided_family.hpp"
#include "gpu/gemm/families/fitted_family.hpp"
#include "gpu/gemm/families/multistage_family.hpp"
#include "gpu/gemm/families/split_depth_family.hpp"
#include "gpu/gemm/families/tensor_family.hpp"

namespace plumb {
namespace gemm {

/// What a candidate's blocks do: the terms are made of it.
struct Work {
  Index bm, bn, bk;
  Steps steps;     // of bk, on the busiest multiprocessor
  Index meetings;  // further launches, or additions_of() a tile's parts
  double copies;   // times that C's elements move, parts included
  bool aligned;    // copies move 16 bytes
  Division division{};
};

/// The terms: a start; meetings; the depth that blocks of a multiprocessor make one after the other; multiply-adds of the busiest
/// multiprocessor; megabytes from the second-level cache; megabytes of C and of the parts; megabytes of A and B; the multiply-adds again
/// where copies move one element.
template <class T>
Terms terms_of(const Work& w, Index m, Index n, Index depth) {
  const double size = sizeof(T) / 1e6, mn = static_cast<double>(m) * static_cast<double>(n) * size,
               all = static_cast<double>(w.steps.all * w.bk), area = static_cast<double>(w.bm * w.bn) / 1e6;
  return {true,
          {1, static_cast<double>(w.meetings), static_cast<double>(w.steps.chain * w.bk), all * area,
           all * device_multiprocessors() * static_cast<double>(w.bm + w.bn) * size, mn * w.copies,
           static_cast<double>(m + n) * static_cast<double>(depth) * size, w.aligned ? 0 : all * area}};
}

/// Parts that are written and read, once each, of `share` of the tiles.
inline double copies_of_parts(double parts, double share = 1) {
  return parts > 1 ? 1 + 2 * parts * share : 1;
}
inline double copies_of(const Division& d, double tiles) {
  const double rest = tiles - d.whole;
  return copies_of_parts(d.streams > 0 ? 1 + d.streams / rest : static_cast<double>(d.parts), rest / tiles);
}

template <class S, class T>
Work work_of(const In<T>& in, const Divided& d) {
  return {S::BM, S::BN, S::BK, d.steps, additions_of(d.division.parts), 1, by_vectors<S>(in), d.division};
}

template <class T>
Work work_of_split_depth(const In<T>& in, const Out<T>& out, Index depth) {
  using namespace split_depth;
  const Index parts = split_depth::parts_of(out, depth), of_part = ceil_div(ceil_div(depth, kDepth), parts),
              blocks = ceil_div(split_depth::tiles_of(out) * parts, device_multiprocessors());
  return {kTile,
          kTile,
          kDepth,
          {blocks * of_part, ceil_div(blocks, kTogether) * of_part},
          additions_of(parts),
          copies_of_parts(static_cast<double>(parts)),
          whole_vectors(in.A) && whole_vectors(in.B)};
}

/// What a candidate needs when it runs.
template <class T>
struct Kept {
  Division division{};
  unsigned* finished = nullptr;  // of tiles in parts
  split_depth::Plan<T> split{};  // of candidate 0
};

/// A candidate: what it would do, or that it does not fit; its launches; what it needs before.
template <class T>
struct Candidate {
  bool (*work)(const In<T>& in, const Out<T>& out, Index depth, Work& w);
  void (*run)(const Kept<T>& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context);
  unsigned* (*prepare)(const Division& division, const Out<T>& out, Context& context) = nullptr;
};

/// A block for each tile.
template <class T, class S>
constexpr Candidate<T> whole() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of<S>(in, divided<S>(out.C.rows, out.C.cols, depth, S::kBlocks, kUndivided));
            return true;
          },
          [](const Kept<T>&, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            run_whole<S>(p, in, out, context);
          }};
}

/// Whole tiles, and others in parts.
template <class T, class S>
constexpr Candidate<T> in_parts() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            const Divided d = divided<S>(out.C.rows, out.C.cols, depth, S::kBlocks, kMeeting<S>);
            w = work_of<S>(in, d);
            w.copies = copies_of(d.division, static_cast<double>(tiles_of<S>(out)));
            return d.division.parts > 1;
          },
          [](const Kept<T>& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            run_divided<S>(kept.division, kept.finished, p, in, out, context);
          },
          prepare_divided<S, T>};
}

/// Rungs 25 to 27: tiles of which Fit calls for the shape that fits C, whole, or all in parts.
template <class T, class Fit>
constexpr Candidate<T> fitting() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            return Fit::with(out, [&](auto shape) {
              using S = decltype(shape);
              const Divided d = divided<S>(out.C.rows, out.C.cols, depth, S::kBlocks, kMeeting<S>);
              w = work_of<S>(in, d);
              w.copies = copies_of(d.division, static_cast<double>(tiles_of<S>(out)));
              return true;
            });
          },
          [](const Kept<T>& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            Fit::with(out, [&](auto shape) {
              run_divided<decltype(shape)>(kept.division, kept.finished, p, in, out, context);
            });
          },
          [](const Division& division, const Out<T>& out, Context& context) {
            return Fit::with(
                out, [&](auto shape) { return prepare_divided<decltype(shape)>(division, out, context); });
          }};
}
template <class T>
constexpr Candidate<T> fitted() {
  return fitting<T, FitColumns<T>>();
}
inline bool work_of_thin_rows(const In<float>& in, const Out<float>& out, Index depth, Work& w) {
  return out.C.rows <= FitThinRows::kMost && fitting<float, FitThinRows>().work(in, out, depth, w);
}
constexpr Candidate<float> thin_rows() {
  Candidate<float> of = fitting<float, FitThinRows>();
  of.work = work_of_thin_rows;
  return of;
}
constexpr Candidate<double> fitted_rows() { return fitting<double, FitRows>(); }

/// A cluster of blocks for each tile, each with a part of the depth, which is read there once.
template <class T, class S, Index Together>
constexpr Candidate<T> in_clusters() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of<S>(in, divided_in_clusters<S>(out.C.rows, out.C.cols, depth, Together));
            w.copies = 1 + w.division.parts;
            return w.division.parts > 1;
          },
          [](const Kept<T>& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            run_clusters<S>(p, in, out, kept.division.parts, context);
          }};
}

/// Rung 20.
template <class T>
constexpr Candidate<T> split_depth_of_tiles() {
  return {[](const In<T>& in, const Out<T>& out, Index depth, Work& w) {
            w = work_of_split_depth(in, out, depth);
            return true;
          },
          [](const Kept<T>& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
            split_depth::run_split_depth(kept.split, p, in, out, context);
          }};
}

/// What the tiles of a list L would do for a product, and their launches. L has kNames and kList; the first of it divides the depth of
/// 32 x 32 tiles.
template <class T, class L>
struct TileList {
  static constexpr int kCount = static_cast<int>(sizeof L::kList / sizeof *L::kList);

  TileList(const Problem<T>& p, const In<T>& in, const Out<T>& out) : depth(depth_of(p, in)) {
    for (int c = 0; c < kCount; ++c) fits[c] = depth > 0 && L::kList[c].work(in, out, depth, work[c]);
  }
  Terms terms(int c, const Out<T>& out) const {
    return fits[c] ? terms_of<T>(work[c], out.C.rows, out.C.cols, depth) : Terms{};
  }
  Kept<T> keep(int c, const In<T>& in, const Out<T>& out, Context& context) const {
    Kept<T> kept;
    kept.division = work[c].division;
    if (c == 0) kept.split = split_depth::prepare_split_depth(in, out, context);
    if (L::kList[c].prepare) kept.finished = L::kList[c].prepare(kept.division, out, context);
    return kept;
  }

  Index depth;
  Work work[kCount]{};
  bool fits[kCount]{};
};

}  // namespace gemm
}  // namespace plumb
