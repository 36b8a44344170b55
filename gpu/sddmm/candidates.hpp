// What rung 10 chooses from, and what each would do for a matrix, in the terms of its model of cost. tools/fit measures the same list.
#pragma once
#include "gpu/common/adaptive.hpp"
#include "gpu/common/matrix_work.hpp"
#include "gpu/sddmm/at_once.hpp"
#include "gpu/sddmm/costs.hpp"
#include "gpu/sddmm/dense_product.hpp"
#include "gpu/sddmm/entries.hpp"
#include "gpu/sddmm/tensor_panels.hpp"

namespace plumb {
namespace sddmm {

enum class Kernel : std::uint8_t {
  steps,
  slices,
  at_once_2,
  row,
  split,
  panels,
  tensor_panels,
  at_once_4,
  dense
};
constexpr int kCandidates = 9;
constexpr const char* kNames[kCandidates] = {"steps",
                                             "steps, k in slices",
                                             "an entry at once, 2 pieces a lane",
                                             "a warp per row",
                                             "entries dealt out evenly",
                                             "panels of 8 rows",
                                             "panels on tensor cores",
                                             "an entry at once, 4 pieces a lane",
                                             "all pairs, by tiles"};

/// Pairs of rows for an entry beyond which nobody would make them all.
constexpr double kMostPairs = 50;

/// Of the matrix and k: what the terms are made of.
struct Features {
  double rows, nnz, k;
  double size, out_size;     // bytes of an element of X and Y, of a result
  double longest = 0;        // row
  double row_batches = 0;    // of four entries, of all rows
  double fresh = 1;          // share of the gathers from Y that no entry shortly before made
  PanelPlan panels, tensor;  // counted; the same where both have 8 rows
  bool hold = false;         // panels' rows of X fit registers
  double loads = 1;          // for 16 bytes: of an element each where rows do not lie on 16
  double y_bytes;            // megabytes of Y
  double cols;
  double pair_bytes;  // megabytes of all pairs of rows, and of Y^T
  bool dense;         // whether rung 14 runs here
  bool adds;          // whether results hold sums, so that more may be added
};

/// What a candidate does.
struct Work {
  double launches, chain;  // chain: batches of gathers one after the other
  double gathers;          // rows of Y, or of a slice of it
  double warps;
  double x_rows;  // rows of X that are read
  double format;  // megabytes beside X, Y and the results
  double slices = 1;
};

inline Work work_of_steps(const Features& f, double slices) {
  const double each = steps_per_warp(static_cast<Index>(f.nnz));
  return {slices,
          each * kStep / 8,
          f.nnz,
          f.nnz / (kStep * each),
          f.rows + f.nnz / kStep,
          f.nnz * 4 * slices / 1e6,
          slices};
}

/// Of panels that are counted: a unit is a row of Y, for all rows of a panel.
inline Work work_of_panels(const PanelPlan& plan, const Features& f) {
  const auto units = static_cast<double>(plan.features.units),
             giants = static_cast<double>(plan.features.entries);
  const double rows = static_cast<double>(plan.rows);
  return {giants > 0 ? 2.0 : 1.0,  static_cast<double>(plan.features.deepest),
          units + giants,          static_cast<double>(plan.panels) + giants / kStep,
          f.rows + giants / kStep, units * (4 + rows / 8) / 1e6};
}

/// Of entries at once, `pieces` pieces of 16 bytes a lane; with the row of each entry.
inline Work work_of_entries(const Features& f, int pieces) {
  const double row = f.k * f.size,
               lanes = at_once_lanes(static_cast<Index>(f.k), pieces, static_cast<int>(16 / f.size)),
               passes = std::ceil(row / (16 * pieces * lanes));
  return {1, passes / std::ceil(row / 128), f.nnz, f.nnz * lanes / 32, f.nnz, f.nnz * 8 / 1e6};
}

inline Work work_of(Kernel kernel, const Features& f) {
  const double index = f.nnz * 4 / 1e6, of_line = 128 / f.size;
  switch (kernel) {
    case Kernel::slices:
      return work_of_steps(f, std::ceil(f.k / of_line));
    case Kernel::at_once_2:
      return work_of_entries(f, 2);
    case Kernel::at_once_4:
      return work_of_entries(f, 4);
    case Kernel::row:
      return {1, std::ceil(f.longest / 4), 4 * f.row_batches, f.rows, f.rows, index};
    case Kernel::split:
      return {1, kRunEntries, f.nnz, f.nnz / (4 * kRunEntries), f.rows + f.nnz / kRunEntries, index};
    case Kernel::panels:
      return work_of_panels(f.panels, f);
    case Kernel::tensor_panels:
      return work_of_panels(f.tensor, f);
    case Kernel::dense:
    case Kernel::steps:
      break;
  }
  return work_of_steps(f, 1);
}

inline bool fits(Kernel kernel, const Features& f) {
  if (f.nnz == 0 || f.k == 0) return false;
  if (kernel == Kernel::slices) return f.adds && f.k * f.size > 128;
  if (kernel == Kernel::panels) return f.hold && f.panels.refused == nullptr;
  if (kernel == Kernel::dense) return f.dense && f.rows * f.cols <= kMostPairs * f.nnz;
  return kernel != Kernel::tensor_panels || f.tensor.refused == nullptr;
}

/// The terms: a start; further launches; batches one after the other; thousands of lines of Y gathered by a multiprocessor; megabytes from
/// the second-level cache; megabytes from memory; megabytes of columns, results and formats; warps of a multiprocessor. Batches and lines
/// count as often as there are loads for them.
inline Terms terms_of(Kernel kernel, const Features& f) {
  if (!fits(kernel, f)) return {};
  const Work w = work_of(kernel, f);
  constexpr double kMega = 1e6;
  const double many = device_multiprocessors(), cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6,
               row = f.k * f.size, loads = std::ceil(row / 128) * f.loads,
               gathered = w.gathers * row * f.fresh / kMega,
               streamed = w.format + f.nnz * f.out_size * (2 * w.slices - 1) / kMega,
               x = w.x_rows * row / kMega, x_once = f.rows * row / kMega, y = f.y_bytes / w.slices,
               missing = y > cache ? 1 - cache / y : 0, held = x_once + f.y_bytes + streamed;
  return {true,
          {1, w.launches - 1, w.chain * loads, w.gathers * loads / many / 1e3, gathered + x + streamed,
           gathered * missing + (held > cache ? held - cache : 0), streamed, w.warps * w.slices / many}};
}

/// Of the dense product, in the same terms: launches for turning and taking; steps of 16 along k; lines of Y for all pairs; the tiles'
/// copies, pairs written and read; those beyond the cache; what the entries move; warps of the tiles.
template <class S>
Terms terms_of_dense(const Features& f) {
  constexpr double kMega = 1e6;
  const double many = device_multiprocessors(), cache = static_cast<double>(device_l2_bytes()) / kMega * 0.6,
               pairs = f.rows * f.cols, row = f.k * f.size, entries = f.nnz * (8 + f.size) / kMega,
               copies = pairs * row * (1.0 / S::BM + 1.0 / S::BN) / kMega, held = f.pair_bytes + entries;
  return {true,
          {1, 2, f.k / 16, pairs * std::ceil(row / 128) / many / 1e3, copies + 2 * f.pair_bytes,
           held > cache ? held - cache : 0, entries, pairs / (S::BM * S::BN) * S::kThreads / 32 / many}};
}

/// What is done before the first run: row_ptr is copied and counted for all, and what keep() does.
inline Keeping keeping_of(Kernel kernel, const Features& f) {
  Keeping k{8, 2 * f.rows, 0, 4 * f.rows, 0, 8 * f.nnz};
  switch (kernel) {
    case Kernel::steps:
    case Kernel::slices:
      k.steps += 2;
      break;
    case Kernel::at_once_2:
    case Kernel::at_once_4:
    case Kernel::dense:
      k.steps += 2, k.moved += 4 * f.nnz;
      break;
    case Kernel::panels:
    case Kernel::tensor_panels: {
      const PanelPlan& plan = kernel == Kernel::panels ? f.panels : f.tensor;
      const auto panels = static_cast<double>(plan.panels), units = static_cast<double>(plan.features.units);
      k.steps += 5 + 2 * static_cast<double>(plan.features.giants), k.rows += panels;
      k.to_host += 4 * panels, k.to_device += 4 * panels,
          k.moved += 4 * f.nnz + units * (4 + plan.rows / 8.0);
      break;
    }
    default:
      break;
  }
  return k;
}

template <class T>
struct Candidates : CandidateList<Sddmm, T> {
  static constexpr auto& kNames = sddmm::kNames;
  static constexpr auto& kModels = Costs<scalar_t<T>>::model;
  static constexpr auto& kPreparations = Costs<scalar_t<T>>::preparation;
  struct Kept {
    StepPlan steps{};
    PanelPlan panels;
    const std::int32_t* rows = nullptr;  // of the entries
  };

  static constexpr bool kWhole = sizeof(in_t<T>) >= 4;  // fp32 or fp64, which rung 14 has alone

  Candidates(const Problem<T>& p, const In<T>& in_, const Out<T>& out, Context& context)
      : in(in_),
        f{static_cast<double>(in.A.rows), static_cast<double>(in.A.nnz), static_cast<double>(in.X.cols),
          sizeof(in_t<T>), sizeof(out_t<T>)} {
    f.y_bytes = static_cast<double>(in.A.cols) * f.k * f.size / 1e6;
    f.cols = static_cast<double>(in.A.cols), f.pair_bytes = pair_bytes(in) / 1e6;
    f.adds = kHoldsSums<T>;
    if constexpr (kWhole)
      f.dense = dense_support(p, in, out) == nullptr && device_sm() >= TileOfPairs<T>::kMinSm;
    if (in.A.nnz == 0 || in.X.cols == 0) return;
    const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
    Index longest = 0;
    for (Index i = 0; i < in.A.rows; ++i) {
      const Index length = row_ptr[i + 1] - row_ptr[i];
      longest = length > longest ? length : longest;
    }
    f.longest = static_cast<double>(longest);
    f.row_batches = warp_batches(row_ptr, 1, 4, longest);
    f.fresh = fresh_share(in.A.col, in.A.nnz, 1, context);
    f.hold = panels_hold(in);
    f.loads = on_16_bytes(in) ? 1 : kPieceSize<T>;
    f.tensor = count_tensor_panels(in, context);
    if (f.hold) f.panels = panels_of_16(in) ? count_panels<kPanelRows>(in, context) : f.tensor;
  }
  static const char* supports(const Problem<T>& p, const In<T>& in, const Out<T>& out) {
    return steps_support(p, in, out);
  }
  Terms terms(int c) const {
    const auto kernel = static_cast<Kernel>(c);
    if (kernel != Kernel::dense) return terms_of(kernel, f);
    if constexpr (kWhole)
      if (fits(kernel, f)) return terms_of_dense<typename TileOfPairs<T>::Shape>(f);
    return {};
  }
  Terms preparation(int c) const { return plumb::terms_of(keeping_of(static_cast<Kernel>(c), f)); }
  Kept keep(int c, Context& context) const {
    switch (static_cast<Kernel>(c)) {
      case Kernel::steps:
      case Kernel::slices:
        return {prepare_steps(in, context), {}, nullptr};
      case Kernel::panels:
        return {{}, fill_panels<kPanelRows>(f.panels, in, context), nullptr};
      case Kernel::tensor_panels:
        return {{}, fill_tensor_panels(f.tensor, in, context), nullptr};
      case Kernel::at_once_2:
      case Kernel::at_once_4:
      case Kernel::dense:
        return {{}, {}, prepare_at_once(in, context)};
      default:
        return {};
    }
  }
  static void run(int c, const Kept& kept, const Problem<T>&, const In<T>& in, const Out<T>& out,
                  Context& context) {
    switch (static_cast<Kernel>(c)) {
      case Kernel::steps:
        return run_specialised(kept.steps, in, out, context);
      case Kernel::slices:
        if constexpr (kHoldsSums<T>) return run_slices(kept.steps, in, out, context);
        return;
      case Kernel::at_once_2:
        return run_at_once<2>(kept.rows, in, out, context);
      case Kernel::at_once_4:
        return run_at_once<4>(kept.rows, in, out, context);
      case Kernel::row:
        return run_row_in_registers(in, out, context);
      case Kernel::split:
        return run_nonzero_split(in, out, context);
      case Kernel::panels:
        return run_panels(kept.panels, in, out, context);
      case Kernel::tensor_panels:
        return run_tensor_panels(kept.panels, in, out, context);
      case Kernel::dense:
        if constexpr (kWhole) return run_dense_product(kept.rows, in, out, context);
        return;
    }
  }

  const In<T>& in;
  Features f;
};

}  // namespace sddmm
}  // namespace plumb
