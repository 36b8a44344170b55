// What rung 6 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/gemv/column_split.hpp"
#include "gpu/gemv/costs.hpp"
#include "gpu/gemv/lanes.hpp"

namespace plumb {
namespace gemv {

constexpr int kCandidates = 7;
constexpr const char* kNames[kCandidates] = {
    "a warp per row",  "lanes for one load each", "lanes for four loads each", "lanes for 16 loads each",
    "a block per row", "pieces of rows",          "a thread per row"};

/// What a candidate does: `lanes` for a row, or `pieces` of it, a block each.
struct Work {
  int lanes = 0;
  Pieces pieces{1, 0};
};

template <class V>
bool work_of(int c, Index rows, Index cols, Work& w) {
  constexpr Index kMostBlocks = 0x7fffffff;
  switch (c) {
    case 0:
      w.lanes = 32;
      return true;
    case 1:
    case 2:
    case 3:
      w.lanes = lanes_of<V>(cols, c == 1 ? 1 : c == 2 ? 4 : 16);
      return w.lanes < 32;
    case 4:
      w.pieces = {1, cols};
      return cols > 0 && rows <= kMostBlocks;
    case 5:
      w.pieces = pieces_of(rows, cols);
      return w.pieces.count > 1;
    default:
      w.lanes = 1;
      return lanes_of<V>(cols, 16) > 1;
  }
}

/// The terms: a start; a second launch; loads of a thread one after the other; thousands of warps of a multiprocessor; megabytes of A and x
/// through the second-level cache; megabytes of A from memory; megabytes of y; thousands of loads by the warps of a multiprocessor.
template <class V, class T>
Terms terms_of(const Work& w, const Problem<T>& p, const In<T>& in) {
  constexpr double kMega = 1e6, kThousand = 1e3;
  const auto rows = static_cast<double>(in.A.rows), cols = static_cast<double>(in.A.cols),
             many = static_cast<double>(device_multiprocessors());
  const double threads = w.lanes > 0 ? w.lanes : kSplitThreads, pieces = static_cast<double>(w.pieces.count),
               length = w.lanes > 0 ? cols : static_cast<double>(w.pieces.columns),
               rounds = std::ceil(length / (threads * V::kLanes)),
               warps = std::ceil(rows * pieces * threads / 32), a = rows * cols * sizeof(T) / kMega,
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6;
  return {true,
          {1, pieces > 1 ? 1.0 : 0.0, std::ceil(rounds / V::kInFlight), warps / many / kThousand,
           a + cols * sizeof(T) / kMega, a > cache ? a - cache : 0,
           rows * sizeof(T) * (p.beta == T(0) ? 1 : 2) / kMega, 2 * warps * rounds / many / kThousand}};
}

template <class T>
struct Candidates : CandidateList<Gemv, T> {
  static constexpr auto& kNames = gemv::kNames;
  static constexpr auto& kModels = Costs<T>::model;
  struct Kept {
    Work work;
    bool vectors = false;
  };

  Candidates(const Problem<T>& p_, const In<T>& in_, const Out<T>&, Context&)
      : p(p_), in(in_), vectors(on_vectors(in)) {}
  bool work(int c, Work& w) const {
    const Index rows = in.A.rows, cols = p.alpha == T(0) ? 0 : in.A.cols;
    if (rows == 0) return false;
    return vectors ? work_of<Vector<T>>(c, rows, cols, w) : work_of<Vector<T, 1>>(c, rows, cols, w);
  }
  Terms terms(int c) const {
    Work w;
    if (!work(c, w)) return {};
    return vectors ? terms_of<Vector<T>>(w, p, in) : terms_of<Vector<T, 1>>(w, p, in);
  }
  Kept keep(int c, Context&) const {
    Kept kept;
    kept.vectors = vectors;
    if (!work(c, kept.work)) kept.work.lanes = 32;
    return kept;
  }
  template <class V>
  static void run_as(const Work& w, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                     Context& context) {
    if (w.lanes > 0)
      run_lanes<V>(w.lanes, p, in, out, context);
    else
      run_column_split<V>(w.pieces, p, in, out, context);
  }
  static void run(int, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    if (kept.vectors)
      run_as<Vector<T>>(kept.work, p, in, out, context);
    else
      run_as<Vector<T, 1>>(kept.work, p, in, out, context);
  }

  const Problem<T>& p;
  const In<T>& in;
  bool vectors;
};

}  // namespace gemv
}  // namespace plumb
