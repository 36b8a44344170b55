// What rung 22 chooses from, and what each would do for a product, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/gemm/costs.hpp"
#include "gpu/gemm/families/mapped_family.hpp"
#include "gpu/gemm/families/slices_family.hpp"
#include "gpu/gemm/families/tile_list.hpp"

namespace plumb {
namespace gemm {

template <class T>
constexpr int kCandidates = sizeof(T) == 4 ? 14 : 18;

/// Rung 19's tiles of 128 x 128.
inline bool work_of_packed(const In<float>& in, const Out<float>& out, Index depth, Work& w) {
  const Plan plan = plan_of<Shallow>(in, out);
  const Index tiles = ceil_div(out.C.rows, Deep::BM) * ceil_div(out.C.cols, Deep::BN),
              many = device_multiprocessors();
  const bool deep = tiles >= kManyRounds * Deep::kBlocks * many;
  const Index parts = deep ? 1 : plan.division.parts;
  const Index steps = deep ? ceil_div(tiles, Deep::kBlocks * many) * Deep::kBlocks * depth
                           : static_cast<Index>(plan.time / (Shallow::BM * Shallow::BN));
  const double in_parts = deep ? 0 : 1 - plan.division.whole / static_cast<double>(tiles);
  w = {Shallow::BM,        Shallow::BN,       1,
       {steps, steps},     parts > 1 ? 2 : 1, copies_of_parts(static_cast<double>(parts), in_parts),
       whole_vectors(in.B)};
  return true;
}
constexpr Candidate<float> packed() {
  return {work_of_packed,
          [](const Kept<float>&, const Problem<float>& p, const In<float>& in, const Out<float>& out,
             Context& context) { run_mapped_squares(p, in, out, context); }};
}

/// Rung 18.
inline bool work_of_slices(const In<float>& in, const Out<float>& out, Index depth, Work& w) {
  w = work_of<Sliced>(in, divided<Sliced>(out.C.rows, out.C.cols, depth, Sliced::kBlocks, kUndivided));
  return true;
}
constexpr Candidate<float> slices() {
  return {work_of_slices, [](const Kept<float>&, const Problem<float>& p, const In<float>& in,
                             const Out<float>& out, Context& context) { run_slices(p, in, out, context); }};
}

/// The candidates of a type, in their order.
template <class T>
struct Tiles;

template <>
struct Tiles<float> {
  static constexpr const char* kNames[kCandidates<float>] = {"32 x 32 tiles, depth in parts",
                                                             "128 x 128 tiles, packed",
                                                             "64 x 64 tiles",
                                                             "64 x 64 tiles, steps of 16, in parts",
                                                             "64 x 128 tiles",
                                                             "64 x 64 tiles, steps of 16",
                                                             "64 x 128 tiles, depth in parts",
                                                             "32 x 32 tiles, depth shared",
                                                             "32 x 64 tiles, depth shared",
                                                             "64 x 128 tiles, depth in slices apart",
                                                             "64 x 64 tiles, steps of 8",
                                                             "128 x 32 tiles, depth in parts",
                                                             "tiles as wide as C",
                                                             "all rows of 128 columns"};
  static constexpr Candidate<float> kList[kCandidates<float>] = {split_depth_of_tiles<float>(),
                                                                 packed(),
                                                                 whole<float, Quartered>(),
                                                                 in_parts<float, QuarteredDeep>(),
                                                                 whole<float, QuarteredWide>(),
                                                                 whole<float, QuarteredShallow>(),
                                                                 in_parts<float, QuarteredWide>(),
                                                                 whole<float, SharedSquare>(),
                                                                 whole<float, SharedWide>(),
                                                                 slices(),
                                                                 whole<float, QuarteredShort>(),
                                                                 in_parts<float, QuarteredThin>(),
                                                                 fitted<float>(),
                                                                 thin_rows()};
};

template <>
struct Tiles<double> {
  static constexpr const char* kNames[kCandidates<double>] = {"32 x 32 tiles, depth in parts",
                                                              "128 x 64 tiles",
                                                              "64 x 64 tiles",
                                                              "64 x 128 tiles, depth in parts",
                                                              "32 x 64 tiles, depth shared",
                                                              "32 x 32 tiles, depth shared",
                                                              "64 x 64 tiles, depth in a cluster",
                                                              "32 x 32 tiles, depth shared and in a cluster",
                                                              "64 x 64 tiles, depth in parts",
                                                              "64 x 64 tiles, two blocks",
                                                              "64 x 64 tiles, two blocks, depth in parts",
                                                              "32 x 64 tiles",
                                                              "32 x 32 tiles",
                                                              "32 x 32 tiles, steps of 32",
                                                              "128 x 128 tiles",
                                                              "32 x 32 tiles, steps of 32, four blocks",
                                                              "tiles as wide as C",
                                                              "tiles as high as C"};
  static constexpr Candidate<double> kList[kCandidates<double>] = {split_depth_of_tiles<double>(),
                                                                   whole<double, Fp64Tile>(),
                                                                   whole<double, Fp64Small>(),
                                                                   in_parts<double, Fp64Wide>(),
                                                                   whole<double, Fp64SharedWide>(),
                                                                   whole<double, Fp64SharedSquare>(),
                                                                   in_clusters<double, Fp64Small, 2>(),
                                                                   in_clusters<double, Fp64SharedSquare, 3>(),
                                                                   in_parts<double, Fp64Small>(),
                                                                   whole<double, Fp64Pair>(),
                                                                   in_parts<double, Fp64Pair>(),
                                                                   whole<double, Fp64Low>(),
                                                                   whole<double, Fp64Square>(),
                                                                   whole<double, Fp64Deep>(),
                                                                   whole<double, Fp64Large>(),
                                                                   whole<double, Fp64Steps>(),
                                                                   fitted<double>(),
                                                                   fitted_rows()};
};

template <class T>
struct Candidates : CandidateList<Gemm, T> {
  static constexpr Traits kTraits = Traits{}.needs_sm(90);
  static constexpr auto& kNames = Tiles<T>::kNames;
  static constexpr auto& kModels = Costs<T>::model;
  using Kept = gemm::Kept<T>;

  Candidates(const Problem<T>& p, const In<T>& in_, const Out<T>& out_, Context&)
      : in(in_), out(out_), tiles(p, in, out) {}
  Terms terms(int c) const { return tiles.terms(c, out); }
  Kept keep(int c, Context& context) const { return tiles.keep(c, in, out, context); }
  static void run(int c, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    Tiles<T>::kList[c].run(kept, p, in, out, context);
  }

  const In<T>& in;
  const Out<T>& out;
  TileList<T, Tiles<T>> tiles;
};

}  // namespace gemm
}  // namespace plumb
