// What rung 22 chooses from, and what each would do for a product, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
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
  Index launches;
  bool aligned;  // copies move 16 bytes
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
           all * steps * static_cast<double>(w.bm + w.bn) * size,
           mn * (w.parts > 1 ? 1 + 2 * static_cast<double>(w.parts) : 1),
           static_cast<double>(m + n) * static_cast<double>(depth) * size,
           w.aligned ? 0 : blocks * steps * area}};
}

template <class S, class T>
Work work_of_parts(const In<T>& in, const Out<T>& out, Index depth, Index together, bool divided) {
  const Parting d = parting_of<S>(out.C.rows, out.C.cols, depth, together, divided);
  const bool aligned = rows_on_vectors(in.B) && (sizeof(T) == 4 || rows_on_vectors(in.A));
  return {S::BM, S::BN, d.steps, S::BK, d.blocks, d.parts, d.parts > 1 ? 2 : 1, aligned};
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
          rows_on_vectors(in.A) && rows_on_vectors(in.B)};
}

/// The tiles of a type: `work` says what candidate c would do, or that it does not fit; `run` does it, but for number 0.
template <class T>
struct Tiles;

template <>
struct Tiles<float> {
  static constexpr const char* kNames[kCandidates] = {
      "32 x 32 tiles, depth in parts", "64 x 128 tiles, slices apart",
      "128 x 128 tiles, packed",       "64 x 64 tiles",
      "64 x 64 tiles, depth in parts", "64 x 128 tiles",
      "64 x 64 tiles, steps of 16",    "64 x 128 tiles, depth in parts",
      "32 x 32 tiles, depth shared",   "32 x 64 tiles, depth shared"};

  static bool work(int c, const In<float>& in, const Out<float>& out, Index depth, Work& w) {
    const auto bits = reinterpret_cast<std::uintptr_t>(in.B.data) | static_cast<std::uintptr_t>(in.B.ld * 4);
    switch (c) {
      case 0:
        w = work_of_split_depth(in, out, depth);
        return true;
      case 1:
        w = work_of_parts<Sliced>(in, out, depth, 1, false);
        w.aligned = bits % 16 == 0;
        return true;
      case 2:
        return packed(in, out, depth, w);
      case 3:
        w = work_of_parts<Quartered>(in, out, depth, 4, false);
        return true;
      case 4:
        w = work_of_parts<Quartered>(in, out, depth, 4, true);
        return w.parts > 1;
      case 5:
        w = work_of_parts<QuarteredWide>(in, out, depth, 3, false);
        return true;
      case 6:
        w = work_of_parts<QuarteredShallow>(in, out, depth, 5, false);
        return true;
      case 7:
        w = work_of_parts<QuarteredWide>(in, out, depth, 3, true);
        return w.parts > 1;
      case 8:
        w = work_of_parts<SharedSquare>(in, out, depth, 5, false);
        return true;
      default:
        w = work_of_parts<SharedWide>(in, out, depth, 5, false);
        return true;
    }
  }
  static void run(int c, const Work& w, const Problem<float>& p, const In<float>& in, const Out<float>& out,
                  Context& context) {
    switch (c) {
      case 1:
        return run_slices(p, in, out, context);
      case 2:
        return run_mapped(p, in, out, context);
      case 3:
      case 4:
        return run_parts<Quartered>(p, in, out, w.parts, context);
      case 6:
        return run_parts<QuarteredShallow>(p, in, out, 1, context);
      case 8:
        return run_parts<SharedSquare>(p, in, out, 1, context);
      case 9:
        return run_parts<SharedWide>(p, in, out, 1, context);
      default:
        return run_parts<QuarteredWide>(p, in, out, w.parts, context);
    }
  }

 private:
  /// As run_by_shape decides; where it takes slices, it is another candidate.
  static bool packed(const In<float>& in, const Out<float>& out, Index depth, Work& w) {
    const Plan plan = plan_of<Shallow>(in, out);
    const Index tiles = ceil_div(out.C.rows, Deep::BM) * ceil_div(out.C.cols, Deep::BN),
                many = device_multiprocessors();
    const bool deep = tiles >= kManyRounds * Deep::kBlocks * many, aligned = rows_on_vectors(in.B);
    const Index parts = deep ? 1 : plan.division.parts;
    if (!deep && plan.time > time_of_slices(in, out)) return false;
    // a block alone on a multiprocessor takes as long as two together
    const Index steps = parts > 1 ? static_cast<Index>(plan.time / (Shallow::BM * Shallow::BN))
                                  : ceil_div(tiles, Shallow::kBlocks * many) * Shallow::kBlocks * depth;
    w = {Shallow::BM, Shallow::BN, steps, 1, 1, parts, parts > 1 ? 3 : 2, aligned};
    return true;
  }
};

template <>
struct Tiles<double> {
  static constexpr const char* kNames[kCandidates] = {"32 x 32 tiles, depth in parts",
                                                      "128 x 64 tiles",
                                                      "64 x 64 tiles",
                                                      "64 x 64 tiles, depth in parts",
                                                      "128 x 64 tiles, depth in parts",
                                                      "128 x 128 tiles",
                                                      "64 x 128 tiles, depth shared",
                                                      "64 x 64 tiles, depth shared",
                                                      "32 x 64 tiles, depth shared",
                                                      "32 x 32 tiles, depth shared"};
  using Large = TensorShape<double, 128, 128, 16, 2, 4, 1, 4>;
  using Halved = TensorShape<double, 64, 128, 32, 1, 4, 2, 3>;

  static bool work(int c, const In<double>& in, const Out<double>& out, Index depth, Work& w) {
    switch (c) {
      case 0:
        w = work_of_split_depth(in, out, depth);
        return true;
      case 1:
        w = work_of_parts<Fp64Tile>(in, out, depth, 1, false);
        return true;
      case 2:
        w = work_of_parts<Fp64Small>(in, out, depth, 3, false);
        return true;
      case 3:
        w = work_of_parts<Fp64Small>(in, out, depth, 3, true);
        return w.parts > 1;
      case 4:
        w = work_of_parts<Fp64Tile>(in, out, depth, 1, true);
        return w.parts > 1;
      case 5:
        w = work_of_parts<Large>(in, out, depth, 1, false);
        return true;
      case 6:
        w = work_of_parts<Halved>(in, out, depth, 1, false);
        return true;
      case 7:
        w = work_of_parts<Fp64Shared>(in, out, depth, 1, false);
        return true;
      case 8:
        w = work_of_parts<Fp64SharedWide>(in, out, depth, 2, false);
        return true;
      default:
        w = work_of_parts<Fp64SharedSquare>(in, out, depth, 3, false);
        return true;
    }
  }
  static void run(int c, const Work& w, const Problem<double>& p, const In<double>& in,
                  const Out<double>& out, Context& context) {
    switch (c) {
      case 2:
      case 3:
        return run_parts<Fp64Small>(p, in, out, w.parts, context);
      case 5:
        return run_tensor<double, Large, Fp64Products<1>>(p, in, out, context);
      case 6:
        return run_tensor<double, Halved, Fp64Products<1>>(p, in, out, context);
      case 7:
        return run_tensor<double, Fp64Shared, Fp64Products<1>>(p, in, out, context);
      case 8:
        return run_tensor<double, Fp64SharedWide, Fp64Products<1>>(p, in, out, context);
      case 9:
        return run_tensor<double, Fp64SharedSquare, Fp64Products<1>>(p, in, out, context);
      default:
        return run_parts<Fp64Tile>(p, in, out, w.parts, context);
    }
  }
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
    for (int c = 0; c < kCandidates; ++c) fits[c] = depth > 0 && Tiles<T>::work(c, in, out, depth, work[c]);
  }
  Terms terms(int c) const { return fits[c] ? terms_of<T>(work[c], out.C.rows, out.C.cols, depth) : Terms{}; }
  Kept keep(int c, Context& context) const {
    return {work[c], c == 0 ? split_depth::prepare_split_depth(in, out, context) : split_depth::Plan<T>{}};
  }
  static void run(int c, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    if (c == 0) return split_depth::run_split_depth(kept.split, p, in, out, context);
    Tiles<T>::run(c, kept.work, p, in, out, context);
  }

  const In<T>& in;
  const Out<T>& out;
  Index depth;
  Work work[kCandidates]{};
  bool fits[kCandidates]{};
};

}  // namespace gemm
}  // namespace plumb
