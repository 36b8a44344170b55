// requires: sm_90a, tensor_map
// What rung 33 chooses between, and the clocks of a multiprocessor that each would take: from the roofs of the chip, not from measured
// thresholds. Header only.
#pragma once
#include "gpu/gemm/half_candidates.hpp"
#include "gpu/skinny_gemm/kernels/half_bulk.hpp"
#include "gpu/skinny_gemm/kernels/half_fragments.hpp"

namespace plumb {
namespace skinny {
namespace half {

/// Gemm's tiles; or fragments, from bulk copies or straight from global memory.
struct Choice {
  bool tiles = false, bulk = false;
  gemm::half::Choice of_gemm{};
};

/// Clocks of run_fragments(): the slowest of X through memory, W out of shared memory, and the mma; chunks of a warp one after the other.
template <class T>
double clocks_of_fragments(Index rows, Index columns, Index depth) {
  constexpr double kMemory = 18, kShared = 128, kOfChunk = 150;  // bytes a clock; clocks of a turn of chunks
  constexpr gemm::half::HalfCosts kCosts;
  const double many = device_multiprocessors();
  const Index of_pass = 8 * tiles_of(columns), passes = ceil_div(columns, of_pass),
              tiles = ceil_div(rows, kRows), chunks = ceil_div(depth, kTerms);
  const auto bytes = static_cast<double>(rows * depth) * sizeof(in_t<T>) * static_cast<double>(passes),
             of_w = static_cast<double>(tiles * chunks * ceil_div(columns, 8)) * 512,
             out_bytes = static_cast<double>(rows * columns) * sizeof(out_t<T>);
  const int parts = parts_of(rows, depth, passes);
  const double memory = (bytes + out_bytes) / (kMemory * many), shared = of_w / (kShared * many),
               turns = static_cast<double>(ceil_div(chunks, static_cast<Index>(parts) * kTurn)) *
                       std::ceil(static_cast<double>(tiles * passes * parts) / (32 * many));
  const double busy = memory > shared ? memory : shared, chain = 4 * kOfChunk * turns;
  return kCosts.start + (busy > chain ? busy : chain);
}

/// Whether bulk copies are better than loads: where each warp has a few runs to bring ahead, or loads would be small.
template <class T>
bool prefers_bulk(const In<T>& in, const Out<T>& out) {
  constexpr Index kEnough = 16;  // tiles of rows for a multiprocessor
  const bool many = out.Y.rows >= kEnough * kRows * device_multiprocessors(), small = vector_of_x(in) < 8;
  return bulk_takes<T>(in, out) && (many || small);
}

template <class T>
Choice choose(const gemm::In<T>& in, const gemm::Out<T>& out) {
  const Index rows = out.C.rows, columns = out.C.cols, depth = in.A.cols;
  Choice choice;
  choice.bulk = prefers_bulk<T>({in.A, in.B}, {out.C});
  if (rows == 0 || columns == 0 || !gemm::half::has_maps<T>(in, out, depth)) return choice;
  choice.of_gemm = gemm::half::choose<T>(rows, columns, depth);
  const double prepared = gemm::half::clocks_to_align(in.A) + gemm::half::clocks_to_align(in.B);
  choice.tiles = choice.of_gemm.clocks + prepared < clocks_of_fragments<T>(rows, columns, depth);
  return choice;
}

}  // namespace half
}  // namespace skinny
}  // namespace plumb
