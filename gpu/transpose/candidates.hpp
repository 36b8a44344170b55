// What rung 6 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/transpose/costs.hpp"
#include "gpu/transpose/element.hpp"
#include "gpu/transpose/pair_tile.hpp"
#include "gpu/transpose/sector_tile.hpp"
#include "gpu/transpose/tile.hpp"
#include "gpu/transpose/wide_tile.hpp"

namespace plumb {
namespace transpose {

enum class Kernel : std::uint8_t {
  tiles,
  wide_tiles,
  wide_tiles_of_16,
  along_a,
  along_b,
  on_sectors,
  pairs,
  fours
};
constexpr int kCandidates = 6;  // of fp32 and fp64; 16-bit elements have two more
constexpr const char* kNames[kCandidates + 2] = {"tiles of 32",
                                                 "tiles of 64 by 8 warps",
                                                 "tiles of 64 by 16 warps",
                                                 "a thread per element, along A",
                                                 "a thread per element, along B",
                                                 "tiles on B's sectors",
                                                 "tiles of 64, by pairs",
                                                 "tiles of 128, by fours"};

/// What is measured of fp32 and fp64; of smaller elements, as of fp32: the terms are sectors, moves and warps.
template <class T>
struct ListOf {
  static constexpr const char* kNames[] = {transpose::kNames[0], transpose::kNames[1], transpose::kNames[2],
                                           transpose::kNames[3], transpose::kNames[4], transpose::kNames[5]};
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
};
template <class T>
struct ListOfPairs {
  using Like = Costs<scalar_t<T>>;
  static constexpr auto& kNames = transpose::kNames;
  static constexpr CostModel kModels[] = {Like::model[0], Like::model[1], Like::model[2], Like::model[3],
                                          Like::model[4], Like::model[5], Like::model[1], Like::model[1]};
};
template <>
struct ListOf<f16> : ListOfPairs<f16> {};
template <>
struct ListOf<bf16> : ListOfPairs<bf16> {};
constexpr int kSmallTile = 32, kSmallRows = 8, kFewWarps = 8, kManyWarps = 16;

/// What a candidate does.
struct Work {
  double blocks, threads;       // of a block
  double moves;                 // of a thread, one after the other
  double sectors_a, sectors_b;  // of 32 bytes
};

/// Of the matrix: what the terms are made of.
struct Features {
  double rows, cols, size;                  // size: bytes of an element
  bool a_on_sectors, b_on_sectors;          // whether rows begin on sectors
  bool in_pairs = false, in_fours = false;  // whether pairs lie on their size, and fours
};

/// Sectors of all pieces of `width` elements that rows of `extent` elements are cut into; one more each where rows do not lie on sectors.
inline double sectors_of(double rows, double extent, double width, double size, bool on_sectors) {
  const double whole = std::floor(extent / width), rest = extent - whole * width, more = on_sectors ? 0 : 1;
  return rows * (whole * (std::ceil(width * size / 32) + more) + std::ceil(rest * size / 32));
}

inline Work work_of_tiles(double tile, double threads, const Features& f) {
  return {std::ceil(f.rows / tile) * std::ceil(f.cols / tile), threads, tile * tile / threads,
          sectors_of(f.rows, f.cols, tile, f.size, f.a_on_sectors),
          sectors_of(f.cols, f.rows, tile, f.size, f.b_on_sectors)};
}

/// Rung 7: more rows of A than the tile has.
inline Work work_of_sector_tiles(const Features& f) {
  constexpr double kThreads = kLanes * kFewWarps;
  const double before = 32 / f.size < 8 ? 8 : 32 / f.size, read = kTile + before,
               pieces = std::ceil((f.rows + 32 / f.size - 1) / kTile);
  return {pieces * std::ceil(f.cols / kTile), kThreads, (read + kTile) / 2 * kTile / kThreads,
          sectors_of(pieces * read, f.cols, kTile, f.size, f.a_on_sectors),
          sectors_of(f.cols, f.rows, kTile, f.size, true)};
}

/// The other matrix' sectors, of a warp that goes along rows of `along` elements: a run of each of its columns.
inline double sectors_across(double elements, double along, double size) {
  const double columns = along < 32 ? along : 32;
  return elements / 32 * columns * std::ceil(32 / columns * size / 32);
}

inline Work work_of(Kernel kernel, const Features& f) {
  const double elements = f.rows * f.cols, straight = std::ceil(elements * f.size / 32);
  switch (kernel) {
    case Kernel::wide_tiles:
      return work_of_tiles(kTile, kLanes * kFewWarps, f);
    case Kernel::wide_tiles_of_16:
      return work_of_tiles(kTile, kLanes * kManyWarps, f);
    case Kernel::along_a:
      return {std::ceil(elements / kElementThreads), kElementThreads, 1, straight,
              sectors_across(elements, f.cols, f.size)};
    case Kernel::along_b:
      return {std::ceil(elements / kElementThreads), kElementThreads, 1,
              sectors_across(elements, f.rows, f.size), straight};
    case Kernel::on_sectors:
      return work_of_sector_tiles(f);
    case Kernel::pairs: {
      Work w = work_of_tiles(kPairTile, kPairs * kPairWarps, f);
      w.moves /= 2;
      return w;
    }
    case Kernel::fours: {
      Work w = work_of_tiles(kFourTile, kFours * kFourWarps, f);
      w.moves /= 4;
      return w;
    }
    case Kernel::tiles:
      break;
  }
  return work_of_tiles(kSmallTile, kSmallTile * kSmallRows, f);
}

/// The terms: a start; no further launches; moves of a thread, one after the other, in all rounds of blocks; thousands of warps of a
/// multiprocessor; megabytes of A's sectors; megabytes of B's; megabytes beyond the second-level cache; thousands of moves by the warps
/// of a multiprocessor.
inline Terms terms_of(const Work& w, double bytes) {
  constexpr double kMega = 1e6, kThousand = 1e3, kSector = 32,
                   kResident = 2048;  // threads of a multiprocessor
  const double many = device_multiprocessors(), warps = w.blocks * w.threads / 32,
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6, held = 2 * bytes / kMega;
  return {true,
          {1, 0, w.moves * std::ceil(w.blocks * w.threads / (kResident * many)), warps / many / kThousand,
           w.sectors_a * kSector / kMega, w.sectors_b * kSector / kMega, held > cache ? held - cache : 0,
           2 * warps * w.moves / many / kThousand}};
}

template <class T>
struct Candidates : CandidateList<Transpose, T> {
  using Base = CandidateList<Transpose, T>;
  static constexpr auto& kNames = ListOf<T>::kNames;
  static constexpr auto& kModels = ListOf<T>::kModels;
  struct Kept {};

  Candidates(const typename Base::Problem&, const typename Base::In& in, const typename Base::Out& out,
             Context&)
      : f{static_cast<double>(in.A.rows),
          static_cast<double>(in.A.cols),
          sizeof(T),
          on_sectors(in.A),
          on_sectors(out.B),
          in_pairs(in.A) && in_pairs(out.B),
          in_fours(in.A) && in_fours(out.B)} {}
  Terms terms(int c) const {
    const auto kernel = static_cast<Kernel>(c);
    if (f.rows * f.cols == 0 || (kernel == Kernel::pairs && !f.in_pairs) ||
        (kernel == Kernel::fours && !f.in_fours))
      return {};
    return terms_of(work_of(static_cast<Kernel>(c), f), f.rows * f.cols * sizeof(T));
  }
  Kept keep(int, Context&) const { return {}; }
  static void run(int c, const Kept&, const typename Base::Problem&, const typename Base::In& in,
                  const typename Base::Out& out, Context& context) {
    switch (static_cast<Kernel>(c)) {
      case Kernel::tiles:
        return run_tiles<T, kSmallTile, kSmallRows, kSmallTile + 1>(in, out, context);
      case Kernel::wide_tiles:
        return run_wide_tiles<T, kFewWarps>(in, out, context);
      case Kernel::wide_tiles_of_16:
        return run_wide_tiles<T, kManyWarps>(in, out, context);
      case Kernel::along_a:
        return run_elements<T, false>(in, out, context);
      case Kernel::along_b:
        return run_elements<T, true>(in, out, context);
      case Kernel::on_sectors:
        return run_sector_tiles<T>(in, out, context);
      case Kernel::pairs:
        if constexpr (sizeof(T) == 2) run_pair_tiles<T>(in, out, context);
        return;
      case Kernel::fours:
        if constexpr (sizeof(T) == 2) run_four_tiles<T>(in, out, context);
    }
  }

  Features f;
};

}  // namespace transpose
}  // namespace plumb
