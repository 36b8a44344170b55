// What rung 13 chooses from, and what each would do for a vector, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/reduce/costs.hpp"
#include "gpu/reduce/last_block.hpp"

namespace plumb {
namespace reduce {

/// Blocks of a multiprocessor, or one for the whole vector (each == 0); their results are folded by the last of them, or by a second kernel.
struct Candidate {
  int each;
  bool two_passes;
};
constexpr int kCandidates = 5;
constexpr Candidate kCandidate[kCandidates] = {{8, false}, {8, true}, {4, false}, {1, false}, {0, false}};
constexpr const char* kNames[kCandidates] = {
    "8 blocks a multiprocessor", "8 blocks a multiprocessor, two passes", "4 blocks a multiprocessor",
    "a block a multiprocessor", "one block"};

template <class T>
Index blocks_of(const Candidate& c, Index n) {
  return c.each == 0 ? 1 : pass_blocks(n, kPackOf<in_t<T>>, c.each);
}

constexpr Index kMostTerms = 1 << 14;  // of a thread: a longer running sum drifts

/// Whether it does what the first candidate does not: fewer blocks, and no longer sums than a thread may have.
template <class T>
bool fits(const Candidate& c, Index n) {
  const Index blocks = blocks_of<T>(c, n);
  return c.each == kCandidate[0].each ||
         (blocks < blocks_of<T>(kCandidate[0], n) && n <= blocks * kPassThreads * kMostTerms);
}

/// The terms: a start; further launches; loads of a thread, one after the other; results of blocks that a thread folds, one after the
/// other; megabytes of x; megabytes beyond the second-level cache; warps of a multiprocessor; none.
template <class T>
Terms terms_of(const Candidate& c, Index n) {
  if (!fits<T>(c, n)) return {};
  constexpr double kMega = 1e6, kLanes = kPackOf<in_t<T>>, kInFlight = 4;
  const auto blocks = static_cast<double>(blocks_of<T>(c, n));
  const double many = device_multiprocessors(), bytes = static_cast<double>(n) * sizeof(in_t<T>) / kMega,
               loads = std::ceil(static_cast<double>(n) / (blocks * kPassThreads * kLanes)),
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6;
  return {true,
          {1, c.two_passes ? 1.0 : 0.0, std::ceil(loads / kInFlight), std::ceil(blocks / kPassThreads), bytes,
           bytes > cache ? bytes - cache : 0, blocks * kPassThreads / 32 / many, 0}};
}

template <class T>
struct Candidates : CandidateList<Reduce, T> {
  static constexpr auto& kNames = reduce::kNames;
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
  struct Kept {
    unsigned* finished = nullptr;
  };

  Candidates(const Problem<T>&, const In<T>& in, const Out<T>&, Context&) : n(in.x.size) {}
  Terms terms(int c) const { return terms_of<T>(kCandidate[c], n); }
  Kept keep(int c, Context& context) const {
    return {kCandidate[c].two_passes ? nullptr : new_count(context)};
  }
  template <class Op>
  static void run_as(const Candidate& c, const Kept& kept, const In<T>& in, const Out<T>& out,
                     Context& context) {
    if (c.two_passes)
      reduce_in_two_passes<Plain<Op, scalar_t<T>>, true>(in, out, context);
    else
      run_last_block<Op>(blocks_of<T>(c, in.x.size), kept.finished, in, out, context);
  }
  static void run(int c, const Kept& kept, const Problem<T>& p, const In<T>& in, const Out<T>& out,
                  Context& context) {
    if (p.kind == Reduce::Kind::sum)
      run_as<Sum>(kCandidate[c], kept, in, out, context);
    else
      run_as<Max>(kCandidate[c], kept, in, out, context);
  }

  Index n;
};

}  // namespace reduce
}  // namespace plumb
