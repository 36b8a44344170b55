// requires: sm_90a, tensor_map
// What rung 33 chooses from, and the time that each would take, in clocks of a multiprocessor: from the roofs of the chip, not from measured
// thresholds. Header only.
#pragma once
#include "gpu/gemm/kernels/half_tiles.hpp"

namespace plumb {
namespace gemm {
namespace half {

/// Of one multiprocessor of an H200, where the unit is clocks, or bytes a clock.
struct HalfCosts {
  double l2_bytes = 44;      // that the second-level cache gives each of all multiprocessors at once
  double memory_bytes = 18;  // the same of memory
  double start = 2500;       // a block's: its launch, its barriers, its first chunk's way
  double leave = 1500;       // its sums' way out, where nothing overlaps it
  double launch = 4000;      // one more kernel
  double chunk_least = 250;  // a chunk of a block alone: the wait for its products
  double naive_chunk = 64;   // a term of a 32 x 32 tile of rung 1
};

/// What is chosen: the place in the list, and the parts of the depth.
struct Choice {
  int candidate = 0, parts = 1;
  double clocks = 0;
};

/// Clocks of S's tiles with the depth in `parts`.
template <class S>
double clocks_of(Index m, Index n, Index chunks, int parts, int together) {
  constexpr HalfCosts kCosts;
  const Index many = device_multiprocessors(),
              blocks = ceil_div(m, S::BM * S::kCluster) * S::kCluster * ceil_div(n, S::BN) * parts,
              of_one = ceil_div(blocks, many), each = ceil_div(chunks, parts);
  const double products = 2.0 * S::BN * S::kGroups,
               bytes = S::kBytesA + static_cast<double>(S::kBytesB) / S::kCluster,
               busy = products > bytes / kCosts.l2_bytes ? products : bytes / kCosts.l2_bytes,
               chain = static_cast<double>(ceil_div(of_one, together)) * kCosts.chunk_least,
               all = static_cast<double>(of_one) * busy,
               of_chunks = static_cast<double>(each) * (all > chain ? all : chain);
  const double leaving = static_cast<double>(ceil_div(of_one, together)) * kCosts.leave;
  const double written = static_cast<double>(m) * static_cast<double>(n) * 4 * (2.0 * parts) /
                         (kCosts.l2_bytes * static_cast<double>(many));
  return kCosts.start + of_chunks + leaving + (parts > 1 ? kCosts.launch + written : 0);
}

/// A candidate: its clocks and its launch.
template <class T>
struct Candidate {
  const char* name;
  double (*clocks)(Index m, Index n, Index chunks, int parts);
  void (*run)(const Problem<T>& p, const In<T>& in, const Out<T>& out, int parts, Context& context);
};
template <class S, int Together = 1>
constexpr Candidate<typename S::T> candidate(const char* name) {
  using T = typename S::T;
  return {
      name,
      [](Index m, Index n, Index chunks, int parts) { return clocks_of<S>(m, n, chunks, parts, Together); },
      [](const Problem<T>& p, const In<T>& in, const Out<T>& out, int parts, Context& context) {
        run_tiles<S>(p, in, out, Together > 1 ? Blocks::one_each : Blocks::resident, parts, context);
      }};
}

template <class T>
inline constexpr Candidate<T> kCandidates[] = {
    candidate<Shape<T, 2, 256, 2, 4>>("128 x 256 tiles, pairs of blocks"),
    candidate<Shape<T, 2, 128, 1, 6>>("128 x 128 tiles"), candidate<Shape<T, 1, 128, 1, 8>>("64 x 128 tiles"),
    candidate<Shape<T, 2, 64, 1, 8>>("128 x 64 tiles"),
    candidate<Shape<T, 1, 64, 1, 5>, 2>("64 x 64 tiles, two blocks")};

/// Clocks of rung 1, which takes operands as they lie.
inline double naive_clocks(Index m, Index n, Index depth) {
  const Index blocks = ceil_div(ceil_div(m, 32) * ceil_div(n, 32), device_multiprocessors());
  return HalfCosts{}.start / 2 +
         HalfCosts{}.naive_chunk * static_cast<double>(blocks) * static_cast<double>(depth);
}

/// The least time of all candidates and parts.
template <class T>
Choice choose(Index m, Index n, Index depth) {
  constexpr Index kLeast = 2;  // chunks of a part
  constexpr int kMostParts = 32;
  const Index chunks = ceil_div(depth, kRowBytes / static_cast<int>(sizeof(in_t<T>)));
  Choice best{-1, 1, 0};
  int c = 0;
  for (const Candidate<T>& of : kCandidates<T>) {
    for (int parts = 1; parts <= kMostParts && (parts == 1 || parts * kLeast <= chunks); ++parts) {
      const double clocks = of.clocks(m, n, chunks, parts);
      if (best.candidate < 0 || clocks < best.clocks) best = {c, parts, clocks};
    }
    ++c;
  }
  return best;
}

/// Clocks of laying rows on 16 bytes; 0 where they lie on them.
template <class E>
double clocks_to_align(const DenseView<const E, Space::device>& a) {
  if (rows_on_vectors(a)) return 0;
  return HalfCosts{}.launch + 2.0 * static_cast<double>(a.rows) * static_cast<double>(a.cols) * sizeof(E) /
                                  (HalfCosts{}.memory_bytes * device_multiprocessors());
}

}  // namespace half
}  // namespace gemm
}  // namespace plumb
