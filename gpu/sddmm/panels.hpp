// Row panels: 8 or 16 neighbouring rows share what they can. Their format, its preparation, and the kernel of
// rung 9. Apart from it because rung 11 and the adaptive rung use them too.
//
// A panel is the sorted list of the columns that any of its rows holds: its units, in groups of 16; each row
// has a bit per unit that says whether it holds that column. Per unit a row of Y is loaded once and multiplied
// with all rows of X: where rows of a panel look alike, as in finite elements, a row of Y passes through the L1
// once instead of 8 or 16 times. What bits do not ask for is computed and thrown away. The place of an entry is
// its row's begin and the bits of its row so far, so the format holds no index of entries; this needs columns
// that ascend in every row. Giant rows, if they hold less than half of the entries, are left out of the panels,
// and a kernel of their own takes them, 32 entries a warp.
#pragma once
#include <cstdio>

#include "gpu/device/host_array.hpp"
#include "gpu/sddmm/steps.hpp"

namespace plumb {
namespace sddmm {

constexpr int kPanelUnits = 16;  // of a group; the last one is filled up with units that no row holds
constexpr int kPanelThreads = 128;
constexpr int kPanelRows = 8;  // of rung 9

/// What a matrix looks like to the panels.
struct PanelFeatures {
  unsigned long long units;    // distinct columns of panels, summed
  unsigned long long entries;  // of rows left out
  int longest;                 // row
  int deepest;                 // groups of a panel
  int descending;              // rows whose columns do not ascend
  int giants;                  // rows left out
};
constexpr int kGiantRow = 4096;   // entries, more than which no thread goes along
constexpr int kMostGiants = 256;  // rows

/// Goes along the panel's columns in ascending order; take(column, bits) per unit. Each row's place is a
/// register.
template <int kRows, class Take>
PLUMB_DEVICE void walk_panel(const std::int32_t* row_ptr, const std::int32_t* col, Index rows, Index panel,
                             Take take) {
  constexpr int kNone = 0x7fffffff;
  std::int32_t at[kRows], end[kRows];
  int next[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Index i = panel * kRows + r;
    at[r] = i < rows ? row_ptr[i] : 0;
    end[r] = i < rows ? row_ptr[i + 1] : 0;
    if (end[r] - at[r] > kGiantRow) end[r] = at[r];
    next[r] = at[r] < end[r] ? col[at[r]] : kNone;
  }
  for (;;) {
    int column = kNone;
#pragma unroll
    for (int r = 0; r < kRows; ++r) column = next[r] < column ? next[r] : column;
    if (column == kNone) return;
    unsigned bits = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (next[r] != column) continue;
      bits |= 1u << r;
      ++at[r];
      next[r] = at[r] < end[r] ? col[at[r]] : kNone;
    }
    take(column, bits);
  }
}

// A thread per row.
static __global__ void __launch_bounds__(kThreads)
    sddmm_row_features(const std::int32_t* row_ptr /* (rows + 1) */, const std::int32_t* col /* (nnz) */,
                       Index rows, PanelFeatures* features /* (1) */,
                       std::int32_t* giant /* (kMostGiants) */) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows) return;
  const std::int32_t begin = row_ptr[i], end = row_ptr[i + 1];
  atomicMax(&features->longest, end - begin);
  if (end - begin > kGiantRow) {
    const int at = atomicAdd(&features->giants, 1);
    if (at < kMostGiants) giant[at] = static_cast<std::int32_t>(i);
    atomicAdd(&features->entries, static_cast<unsigned long long>(end - begin));
    return;
  }
  bool ascends = true;
  for (std::int32_t e = begin + 1; e < end; ++e) ascends = ascends && col[e - 1] < col[e];
  if (!ascends) atomicAdd(&features->descending, 1);
}

// A thread per panel.
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    sddmm_count_units(const std::int32_t* row_ptr /* (rows + 1) */, const std::int32_t* col /* (nnz) */,
                      Index rows, Index panels, std::int32_t* groups /* (panels) */,
                      PanelFeatures* features /* (1) */) {
  const Index panel = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (panel >= panels) return;
  int units = 0;
  walk_panel<kRows>(row_ptr, col, rows, panel, [&units](int, unsigned) { ++units; });
  groups[panel] = (units + kPanelUnits - 1) / kPanelUnits;
  atomicMax(&features->deepest, groups[panel]);
  atomicAdd(&features->units, static_cast<unsigned long long>(units));
}

template <int kRows>
__global__ void __launch_bounds__(kThreads)
    sddmm_fill_units(const std::int32_t* row_ptr /* (rows + 1) */, const std::int32_t* col /* (nnz) */,
                     Index rows, Index panels, const std::int32_t* group_ptr /* (panels + 1) */,
                     std::int32_t* unit_col /* (units) */,
                     std::uint32_t* group_rows /* (groups * kRows / 2) */) {
  const Index panel = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (panel >= panels) return;
  Index group = group_ptr[panel];
  int unit = 0, last = 0;
  std::uint32_t holds[kRows / 2] = {};
  const auto end_group = [&] {
#pragma unroll
    for (int w = 0; w < kRows / 2; ++w) group_rows[group * (kRows / 2) + w] = holds[w], holds[w] = 0;
    ++group, unit = 0;
  };
  walk_panel<kRows>(row_ptr, col, rows, panel, [&](int column, unsigned bits) {
    unit_col[group * kPanelUnits + unit] = last = column;
#pragma unroll
    for (int r = 0; r < kRows; ++r) holds[r / 2] |= (bits >> r & 1u) << (r % 2 * 16 + unit);
    if (++unit == kPanelUnits) end_group();
  });
  if (unit == 0) return;
  for (int u = unit; u < kPanelUnits; ++u) unit_col[group * kPanelUnits + u] = last;
  end_group();
}

struct PanelPlan {
  Index panels = 0;
  int rows = 0;                             // of a panel
  const std::int32_t* group_ptr = nullptr;  // (panels + 1)
  const std::int32_t* unit_col = nullptr;   // (groups * kPanelUnits)
  const std::uint32_t* group_rows =
      nullptr;     // (groups * rows / 2): of two rows, 16 bits each; bit u: it holds unit u
  Index runs = 0;  // of 32 entries of giant rows
  const std::int32_t* run = nullptr;  // (runs, 2): a row and an entry of it
  PanelFeatures features{};
  std::int32_t* giant = nullptr;  // (kMostGiants) rows left out
  std::int32_t* counted =
      nullptr;  // (panels + 1) groups of a panel; where they begin, once the format is filled
  const char* refused = nullptr;  // why there are no panels
};

/// The runs of 32 entries that giant rows are made of.
template <class T>
void prepare_runs(const In<T>& in, PanelPlan& plan, Context& context) {
  const HostCopy<std::int32_t> row(plan.giant, plan.features.giants, context.stream);
  std::int32_t ends[kMostGiants][2];
  for (Index g = 0; g < row.size(); ++g) {
    device_read(ends[g], in.A.row_ptr + row[g], sizeof ends[g], context.stream);
    plan.runs += ceil_div(ends[g][1] - ends[g][0], kStep);
  }
  HostArray<std::int32_t> run(2 * plan.runs);
  Index to = 0;
  for (Index g = 0; g < row.size(); ++g) {
    for (Index e = ends[g][0]; e < ends[g][1]; e += kStep)
      run[to++] = row[g], run[to++] = static_cast<std::int32_t>(e);
  }
  plan.run = upload(run, context);
}

/// Entries that a unit of the panels serves on average.
template <class T>
double entries_per_unit(const In<T>& in, const PanelPlan& plan) {
  return static_cast<double>(static_cast<unsigned long long>(in.A.nnz) - plan.features.entries) /
         static_cast<double>(plan.features.units);
}

/// Panels of kRows rows of a matrix whose units are counted, or why there are none. Waits for the device: for prepare() only.
template <int kRows, class T>
PanelPlan count_panels(const In<T>& in, Context& context) {
  const Index rows = in.A.rows, nnz = in.A.nnz;
  PanelPlan plan;
  plan.panels = ceil_div(rows, kRows), plan.rows = kRows;
  if (nnz == 0) return plan.refused = "no entries", plan;
  auto* features = workspace_of<PanelFeatures>(1, context);
  plan.giant = workspace_of<std::int32_t>(kMostGiants, context);
  device_fill(features, 0, sizeof(PanelFeatures), context.stream);
  launch(sddmm_row_features, ceil_div(rows, kThreads), kThreads, 0, context.stream, in.A.row_ptr, in.A.col,
         rows, features, plan.giant);
  device_read(&plan.features, features, sizeof(PanelFeatures), context.stream);
  if (plan.features.giants > kMostGiants || 2 * plan.features.entries > static_cast<unsigned long long>(nnz))
    return plan.refused = "giant rows", plan;
  if (plan.features.descending > 0) return plan.refused = "columns that do not ascend", plan;
  plan.counted = workspace_of<std::int32_t>(plan.panels + 1, context);
  launch(sddmm_count_units<kRows>, ceil_div(plan.panels, kThreads), kThreads, 0, context.stream, in.A.row_ptr,
         in.A.col, rows, plan.panels, plan.counted + 1, features);
  device_read(&plan.features, features, sizeof(PanelFeatures), context.stream);
  return plan;
}

/// The format of panels that are counted, unless they were refused.
template <int kRows, class T>
PanelPlan fill_panels(PanelPlan plan, const In<T>& in, Context& context) {
  if (plan.refused != nullptr) return plan;
  if (plan.features.giants > 0) prepare_runs(in, plan, context);
  std::int32_t* const group_ptr = plan.counted;
  HostArray<std::int32_t> ends(plan.panels + 1);
  device_read(ends.data() + 1, group_ptr + 1, static_cast<std::size_t>(plan.panels) * sizeof(std::int32_t),
              context.stream);
  ends[0] = 0;
  for (Index p = 0; p < plan.panels; ++p) ends[p + 1] += ends[p];
  const Index groups = ends[plan.panels];
  device_write(group_ptr, ends.data(), static_cast<std::size_t>(ends.bytes()), context.stream);
  auto* unit_col = workspace_of<std::int32_t>(groups * kPanelUnits, context);
  auto* group_rows = workspace_of<std::uint32_t>(groups * (kRows / 2), context);
  launch(sddmm_fill_units<kRows>, ceil_div(plan.panels, kThreads), kThreads, 0, context.stream, in.A.row_ptr,
         in.A.col, in.A.rows, plan.panels, group_ptr, unit_col, group_rows);
  plan.group_ptr = group_ptr, plan.unit_col = unit_col, plan.group_rows = group_rows;
  return plan;
}

/// What rungs 9 and 11 prepare: panels, or steps where they were refused, and the words that say which.
struct PanelsOrSteps {
  StepPlan steps{};
  PanelPlan panels;
  char text[160];
};

template <class T>
PanelsOrSteps* panels_or_steps(const PanelPlan& panels, const In<T>& in, Context& context) {
  auto* plan = new PanelsOrSteps;
  plan->panels = panels;
  if (panels.refused != nullptr) {
    plan->steps = prepare_steps(in, context);
    std::snprintf(plan->text, sizeof plan->text, "steps: %s", panels.refused);
  } else {
    std::snprintf(plan->text, sizeof plan->text, "panels of %d rows: %.2f entries per distinct column",
                  panels.rows, entries_per_unit(in, panels));
  }
  return plan;
}

inline void release_panels_or_steps(void* plan) { delete static_cast<PanelsOrSteps*>(plan); }

/// Runs what was prepared; `run_them` is the rung's own kernel over panels.
template <class T, class RunPanels>
void run_panels_or_steps(const In<T>& in, const Out<T>& out, Context& context, RunPanels&& run_them) {
  const auto& plan = *static_cast<const PanelsOrSteps*>(context.plan);
  context.explain(plan.text);
  if (plan.panels.refused == nullptr)
    run_them(plan.panels, in, out, context);
  else
    run_specialised(plan.steps, in, out, context);
}

// A warp per run.
template <bool Aligned, class T>
__global__ void __launch_bounds__(kStepThreads)
    sddmm_runs(In<T> in, Out<T> out, Index runs, const std::int32_t* run /* (runs, 2) */, unsigned x_bytes,
               unsigned y_bytes) {
  using Shape = StepShape<T, 8, 0, 4, Aligned>;
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / Shape::kWidth;
  const Index warp = (static_cast<Index>(blockIdx.x) * kStepThreads + threadIdx.x) / 32;
  if (warp >= runs) return;  // whole warps
  const int row = __ldg(run + 2 * warp);
  const Index first = __ldg(run + 2 * warp + 1), left = __ldg(in.A.row_ptr + row + 1) - first;
  const int skip = group * Shape::kWidth < left ? group * Shape::kWidth : 0;
  int column[Shape::kWidth];
  load_columns(in.A.col + first + skip, left - skip, false, column);
  using S = scalar_t<T>;
  S sum[Shape::kWidth] = {};
  multiply_step<Shape>(in.X.data, x_bytes, in.Y.data, y_bytes, in.X.cols, row, 1u, column, lane, sum);
  const S total = transpose_sums<Shape::kWidth / 2>(sum, lane % Shape::kWidth);
  if (lane < left) out.s.data[first + lane] = stored<out_t<T>>(total);
}

template <class T>
void run_giant_rows(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if (plan.runs == 0) return;
  launch(on_16_bytes(in) ? sddmm_runs<true, T> : sddmm_runs<false, T>, ceil_div(plan.runs, kStepThreads / 32),
         kStepThreads, 0, context.stream, in, out, plan.runs, plan.run, row_bytes(in.X), row_bytes(in.Y));
}

// A warp per panel; a group of kWidth lanes takes kWidth / 8 units at a time, so that lane l ends with the
// product of the step's unit l / 8 and row l % 8.
template <class T, int kWidth, bool Aligned>
__global__ void __launch_bounds__(kPanelThreads)
    sddmm_panels(In<T> in, Out<T> out, Index panels, const std::int32_t* group_ptr /* (panels + 1) */,
                 const std::int32_t* unit_col /* (groups * kPanelUnits) */,
                 const std::uint32_t* group_rows /* (groups * kPanelRows / 2) */, unsigned y_bytes) {
  constexpr int kUnits = kWidth / kPanelRows,
                kBatch = 4 / kUnits;  // of a group of lanes; steps asked for together
  constexpr int kStepUnits = 32 / kPanelRows;
  static_assert(32 / kWidth * kUnits == kStepUnits, "a unit per eight lanes");
  const int lane = static_cast<int>(threadIdx.x) % 32, part = lane % kWidth, own = lane / kPanelRows;
  const Index panel = (static_cast<Index>(blockIdx.x) * kPanelThreads + threadIdx.x) / 32;
  if (panel >= panels) return;  // whole warps
  const Index terms = in.X.cols;
  using E = in_t<T>;
  using S = scalar_t<T>;
  Piece<E> x[kPanelRows];
#pragma unroll
  for (int r = 0; r < kPanelRows; ++r) {
    const Index i = panel * kPanelRows + r;
    x[r] = load_piece<Aligned>(in.X.data + (i < in.A.rows ? i : in.A.rows - 1) * in.X.ld, 0, part, kWidth,
                               terms);
  }
  const Index own_row = panel * kPanelRows + lane % kPanelRows;
  Index place = own_row < in.A.rows ? __ldg(in.A.row_ptr + own_row) : 0;
  const Index end = __ldg(group_ptr + panel + 1);
  for (Index group = __ldg(group_ptr + panel); group < end; ++group) {
    const unsigned holds =
        __ldg(group_rows + (group * kPanelRows + lane % kPanelRows) / 2) >> 16 * (lane % 2) & 0xffffu;
    const std::int32_t* column = unit_col + group * kPanelUnits + lane / kWidth * kUnits;
    for (int first = 0; first < kPanelUnits; first += kBatch * kStepUnits) {
      Piece<E> y[kBatch][kUnits];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
#pragma unroll
        for (int v = 0; v < kUnits; ++v) {
          y[b][v] = load_piece<Aligned>(
              row_at(in.Y.data, __ldg(column + first + b * kStepUnits + v), y_bytes), 0, part, kWidth, terms);
        }
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const int step = first + b * kStepUnits, unit = step + own;
        if (!__any_sync(kAllLanes, holds >> step)) break;  // units that fill up the group
        S sum[kWidth];
#pragma unroll
        for (int v = 0; v < kUnits; ++v) {
#pragma unroll
          for (int r = 0; r < kPanelRows; ++r) sum[v * kPanelRows + r] = add_product<E>(S(0), x[r], y[b][v]);
        }
        const S total = transpose_sums<kWidth / 2>(sum, part);
        if ((holds >> unit & 1u) != 0)
          out.s.data[place + __popc(holds & ((1u << unit) - 1))] = stored<out_t<T>>(total);
      }
    }
    place += __popc(holds);
  }
}

template <int kWidth, bool Aligned, class T>
void run_panels_of(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_panels<T, kWidth, Aligned>, ceil_div(plan.panels, kPanelThreads / 32), kPanelThreads, 0,
         context.stream, in, out, plan.panels, plan.group_ptr, plan.unit_col, plan.group_rows,
         row_bytes(in.Y));
}

template <bool Aligned, class T>
void run_panels_for_k(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kSize = kPieceSize<T>;
  if (in.X.cols <= 8 * kSize)
    run_panels_of<8, Aligned>(plan, in, out, context);
  else if (in.X.cols <= 16 * kSize)
    run_panels_of<16, Aligned>(plan, in, out, context);
  else
    run_panels_of<32, Aligned>(plan, in, out, context);
}

/// Whether a row of X fits the registers of a warp.
template <class T>
bool panels_hold(const In<T>& in) {
  return in.X.cols <= 32 * kPieceSize<T>;
}

template <class T>
void run_panels(const PanelPlan& plan, const In<T>& in, const Out<T>& out, Context& context) {
  if (on_16_bytes(in))
    run_panels_for_k<true>(plan, in, out, context);
  else
    run_panels_for_k<false>(plan, in, out, context);
  run_giant_rows(plan, in, out, context);
}

}  // namespace sddmm
}  // namespace plumb
