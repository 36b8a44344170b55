// What rung 8 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/log_softmax/block_in_registers.hpp"
#include "gpu/log_softmax/costs.hpp"
#include "gpu/log_softmax/pieces.hpp"
#include "gpu/log_softmax/row_in_registers.hpp"
#include "gpu/log_softmax/warp_per_row.hpp"

namespace plumb {
namespace log_softmax {

enum class Kernel : std::uint8_t { warps, lanes, blocks, online, pieces };
constexpr int kCandidates = 5;
constexpr const char* kNames[kCandidates] = {"a warp per row", "rows in registers of lanes",
                                             "rows in registers of blocks", "a block per row",
                                             "pieces of rows"};

/// What a candidate does.
struct Work {
  double launches, threads;  // of a row
  double moves;              // elements of a thread's row, or of its piece, one after the other, in batches
  double reads;              // of x
  double each;               // exponentials of a thread
};

inline Work work_of_lanes(double cols) {
  double lanes = 1;
  while (lanes < 32 && lanes * 4 < cols) lanes *= 2;
  const double each = std::ceil(cols / lanes);
  return {1, lanes, 1 + each / 16, 1, each};
}

inline Work work_of(Kernel kernel, Index rows, Index cols) {
  const auto n = static_cast<double>(cols);
  const double threads = kOnlineThreads;
  switch (kernel) {
    case Kernel::lanes:
      return work_of_lanes(n);
    case Kernel::blocks: {
      const double of_block = block_threads(cols);
      return {1, of_block, 2, 1, std::ceil(n / of_block)};
    }
    case Kernel::online:
      return {1, threads, 2 * std::ceil(n / threads / kOnlineInFlight), 2, std::ceil(n / threads)};
    case Kernel::pieces: {
      const Pieces pieces = pieces_of(rows, cols);
      const double each = std::ceil(static_cast<double>(pieces.columns) / threads);
      return {2, threads * static_cast<double>(pieces.count), 2 * std::ceil(each / kOnlineInFlight), 2, each};
    }
    case Kernel::warps:
      break;
  }
  return {1, 32, 3 * std::ceil(n / 32), 3, std::ceil(n / 32)};
}

inline bool fits(Kernel kernel, Index rows, Index cols) {
  if (rows == 0 || cols == 0) return false;
  if (kernel == Kernel::lanes) return cols <= kMostOfLanes;
  if (kernel == Kernel::blocks) return cols <= kMostOfBlock;
  return kernel != Kernel::pieces || pieces_of(rows, cols).count > 1;
}

/// The terms: a start; further launches; moves one after the other, in all rounds of blocks; thousands of warps of a multiprocessor;
/// megabytes through the second-level cache; megabytes beyond it; thousands of exponentials by the warps of a multiprocessor; none.
inline Terms terms_of(Kernel kernel, Index rows, Index cols, double size, double out_size) {
  if (!fits(kernel, rows, cols)) return {};
  constexpr double kMega = 1e6, kThousand = 1e3, kResident = 64;  // warps of a multiprocessor
  const Work w = work_of(kernel, rows, cols);
  const double many = device_multiprocessors(), warps = std::ceil(static_cast<double>(rows) * w.threads / 32),
               elements = static_cast<double>(rows) * static_cast<double>(cols) / kMega,
               cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6,
               held = elements * (size + out_size);
  return {true,
          {1, w.launches - 1, w.moves * std::ceil(warps / (kResident * many)), warps / many / kThousand,
           elements * (w.reads * size + out_size), held > cache ? held - cache : 0,
           warps * w.each / many / kThousand, 0}};
}

template <class T>
struct Candidates : CandidateList<LogSoftmax, T> {
  static constexpr auto& kNames = log_softmax::kNames;
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
  struct Kept {};

  Candidates(const Problem<T>&, const In<T>& in, const Out<T>&, Context&)
      : rows(in.x.rows), cols(in.x.cols) {}
  Terms terms(int c) const {
    return terms_of(static_cast<Kernel>(c), rows, cols, sizeof(in_t<T>), sizeof(out_t<T>));
  }
  Kept keep(int, Context&) const { return {}; }
  static void run(int c, const Kept&, const Problem<T>&, const In<T>& in, const Out<T>& out,
                  Context& context) {
    switch (static_cast<Kernel>(c)) {
      case Kernel::warps:
        return run_warp_per_row(in, out, context);
      case Kernel::lanes:
        return run_row_in_registers(in, out, context);
      case Kernel::blocks:
        return run_block_in_registers(in, out, context);
      case Kernel::online:
        return run_online(in, out, context);
      case Kernel::pieces:
        return run_pieces(pieces_of(in.x.rows, in.x.cols), in, out, context);
    }
  }

  Index rows, cols;
};

}  // namespace log_softmax
}  // namespace plumb
