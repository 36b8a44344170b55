// What rung 7 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/dense_to_csr/bit_mask.hpp"
#include "gpu/dense_to_csr/block_per_row.hpp"
#include "gpu/dense_to_csr/costs.hpp"
#include "gpu/dense_to_csr/look_back.hpp"
#include "gpu/dense_to_csr/warp_per_row.hpp"
#include "gpu/device/memory.hpp"

namespace plumb {
namespace dense_to_csr {

enum class Kernel : std::uint8_t { staged, look_back, mask, warps, blocks };
constexpr int kCandidates = 5;
constexpr const char* kNames[kCandidates] = {"one pass, staged writes", "one pass", "a bit per element",
                                             "a warp per row", "a block per row"};

/// Of the matrix: what the terms are made of. Its entries are known: the caller has made room for them.
struct Features {
  double rows, cols, nnz, size;  // size: bytes of an element
  double vector;                 // elements of a load
};

/// What a candidate does.
struct Work {
  double launches, warps;
  double moves;   // loads of a thread, one after the other
  double reads;   // megabytes of x, and of a mask
  double stores;  // of entries by warps
};

/// Launches of a scan over the rows' counts.
inline double scans_of(const Features& f) { return f.rows > kScanTile ? 3 : 1; }

/// Megabytes of the sectors of x that hold an entry, as if entries were spread evenly.
inline double entry_sectors(const Features& f) {
  constexpr double kSector = 32;
  const double elements = f.rows * f.cols, empty = std::pow(1 - f.nnz / elements, kSector / f.size);
  return elements * f.size * (1 - empty) / 1e6;
}

inline Work work_of(Kernel kernel, const Features& f) {
  const double x = f.rows * f.cols * f.size / 1e6, pieces = f.rows * std::ceil(f.cols / f.vector);
  switch (kernel) {
    case Kernel::look_back:
      return {2, pieces / kRounds / 32, kRounds, x, pieces * f.vector / 32};
    case Kernel::mask:
      return {2 + scans_of(f), f.rows, 2 * std::ceil(f.cols / 32 / 8),
              x + entry_sectors(f) + f.rows * f.cols / 4e6, f.nnz / 32 + f.rows};
    case Kernel::warps:
      return {2 + scans_of(f), f.rows, 2 * std::ceil(f.cols / 32), 2 * x, f.rows * std::ceil(f.cols / 32)};
    case Kernel::blocks:
      return {2 + scans_of(f), f.rows * kWarps, 2 * std::ceil(f.cols / (kThreads * f.vector)), 2 * x,
              pieces * f.vector / 32};
    case Kernel::staged:
      break;
  }
  return {2, pieces / kRounds / 32, kRounds, x, f.nnz / 32};
}

/// The terms: a start; further launches; loads one after the other, in all rounds of blocks; thousands of warps of a multiprocessor;
/// megabytes of x from the second-level cache; megabytes beyond it; megabytes of entries; thousands of stores by the warps of a
/// multiprocessor.
inline Terms terms_of(Kernel kernel, const Features& f) {
  if (f.rows * f.cols == 0) return {};
  constexpr double kMega = 1e6, kThousand = 1e3, kResident = 64;  // warps of a multiprocessor
  const Work w = work_of(kernel, f);
  const double many = device_multiprocessors(), x = f.rows * f.cols * f.size / kMega,
               entries = (f.nnz * (f.size + 4) + f.rows * 4) / kMega,
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6, held = x + entries,
               missing = held > cache ? 1 - cache / held : 0;
  return {true,
          {1, w.launches - 1, w.moves * std::ceil(w.warps / (kResident * many)), w.warps / many / kThousand,
           w.reads, w.reads * missing, entries, w.stores / many / kThousand}};
}

template <class T>
struct Candidates : CandidateList<DenseToCsr, T> {
  static constexpr auto& kNames = dense_to_csr::kNames;
  static constexpr auto& kModels = Costs<T>::model;
  struct Kept {};

  Candidates(const Problem<T>&, const In<T>& in, const Out<T>& out, Context&)
      : f{static_cast<double>(in.x.rows), static_cast<double>(in.x.cols), static_cast<double>(out.col.size),
          sizeof(T), on_16_bytes(in) ? static_cast<double>(kVector<T>) : 1} {}
  Terms terms(int c) const { return terms_of(static_cast<Kernel>(c), f); }
  Kept keep(int, Context&) const { return {}; }
  static void run(int c, const Kept&, const Problem<T>&, const In<T>& in, const Out<T>& out,
                  Context& context) {
    switch (static_cast<Kernel>(c)) {
      case Kernel::staged:
        return run_look_back<true>(in, out, context);
      case Kernel::look_back:
        return run_look_back<false>(in, out, context);
      case Kernel::mask:
        return run_bit_mask(in, out, context);
      case Kernel::warps:
        return run_warp_per_row(in, out, context);
      case Kernel::blocks:
        return run_block_per_row(in, out, context);
    }
  }

  Features f;
};

}  // namespace dense_to_csr
}  // namespace plumb
