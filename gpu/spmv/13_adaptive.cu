// spmv, rung 13: the rung is chosen by what the matrix looks like, and the choice is printed.
//
// Change    prepare() measures mean, maximum and spread of the row lengths on the device, and, where the
//           matrix is not small, how many entries of a row fall into one block of columns; run() is one
//           of the rungs 4, 8, 16, 21 and 22.
// Traffic   of the rung chosen; the features cost a pass over row_ptr and one over col, in prepare().
// Limits    those of the rung chosen.
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    Greathouse and Daga, SC'14 (CSR-Adaptive), and its kin; thresholds our own.
#include <cmath>
#include <cstdio>

#include "gpu/spmv/column_blocks.hpp"
#include "gpu/spmv/features.hpp"
#include "gpu/spmv/flat.hpp"
#include "gpu/spmv/long_rows.hpp"
#include "gpu/spmv/sell.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;

// Integers, so that the sums, and with them the choice, are the same in every run. nnz < 2^31: the squares
// fit.
struct Features {
  unsigned long long squares, short_squares;  // short: of rows that rung 22 does not cut
  unsigned long long long_entries;
  int long_rows;
  int longest;
  int empty;
};

__global__ void __launch_bounds__(kThreads)
    spmv_features(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, Features* features /* (1) */) {
  unsigned long long squares = 0, short_squares = 0;
  int longest = 0, empty = 0;
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; i < rows; i += stride) {
    const int length = row_ptr[i + 1] - row_ptr[i];
    const auto square = static_cast<unsigned long long>(length) * static_cast<unsigned long long>(length);
    squares += square;
    if (length < kLongTile) {
      short_squares += square;
    } else {  // seldom
      atomicAdd(&features->long_entries, static_cast<unsigned long long>(length));
      atomicAdd(&features->long_rows, 1);
    }
    longest = length > longest ? length : longest;
    empty += length == 0;
  }
  for (int d = 16; d > 0; d /= 2) {
    squares += __shfl_down_sync(kAllLanes, squares, d);
    short_squares += __shfl_down_sync(kAllLanes, short_squares, d);
    empty += __shfl_down_sync(kAllLanes, empty, d);
    const int other = __shfl_down_sync(kAllLanes, longest, d);
    longest = other > longest ? other : longest;
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&features->squares, squares);
    atomicAdd(&features->short_squares, short_squares);
    atomicMax(&features->longest, longest);
    atomicAdd(&features->empty, empty);
  }
}

// Spread of row lengths: their standard deviation over their mean.
double spread_of(double rows, double mean, unsigned long long squares) {
  const double variance = static_cast<double>(squares) / rows - mean * mean;
  return mean > 0 && variance > 0 ? std::sqrt(variance) / mean : 0;
}

enum class Rung : std::uint8_t { vector, flat, sell, column_blocks, long_rows };

template <class T>
struct Plan {
  Rung rung = Rung::vector;
  int width = 2;
  FlatPlan<T> flat{};
  Sell<T> sell{};
  ColumnBlocks<T> blocks{};
  LongRowsPlan<T> long_rows{};
  char text[224];
};

// The thresholds lie between the measured cases of docs/results/gpu.md.
template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const Index rows = in.A.rows, nnz = in.A.nnz;
  Features features{};
  auto* measured = workspace_of<Features>(1, context);
  device_fill(measured, 0, sizeof features, context.stream);
  const Index most = 8 * static_cast<Index>(device_multiprocessors()), needed = ceil_div(rows, kThreads);
  launch(spmv_features, needed < most ? needed : most, kThreads, 0, context.stream, in.A.row_ptr, rows,
         measured);
  device_read(&features, measured, sizeof features, context.stream);

  const double n = rows > 0 ? static_cast<double>(rows) : 1, mean = static_cast<double>(nnz) / n;
  const double spread = spread_of(n, mean, features.squares);
  const double short_rows = n - features.long_rows;
  const double short_mean =
      short_rows > 0 ? (static_cast<double>(nnz) - static_cast<double>(features.long_entries)) / short_rows
                     : 0;

  auto* plan = new Plan<T>;
  plan->width = vector_width(rows, nnz);
  const char* why = "small: one launch";
  double per_segment = 0;
  const Index small =
      2048 * static_cast<Index>(device_multiprocessors());  // entries: launches cost more than gathers
  constexpr int kGiant = 4096;                              // entries: a row that one warp is too few for
  if (features.longest >= kGiant && 2 * features.long_entries <= static_cast<unsigned long long>(nnz) &&
      short_mean <= 4 && spread_of(short_rows, short_mean, features.short_squares) < 0.5) {
    plan->rung = Rung::long_rows, why = "giant rows among short ones of one length";
  } else if (nnz > small || features.longest >= kGiant) {
    per_segment = static_cast<double>(nnz) / static_cast<double>(count_segments(in, context));
    if (spread < 0.5 && (mean < 12 ? per_segment > 2 : per_segment > 12)) {
      plan->rung = Rung::sell, why = "rows of one length, neighbouring columns";
    } else if (per_segment > 1.4 && mean > 4) {
      plan->rung = Rung::column_blocks, why = "rows find several columns in one block";
    } else {
      plan->rung = Rung::flat, why = "scattered beyond any block";
    }
  }
  if (plan->rung == Rung::flat) plan->flat = prepare_flat(in, context);
  if (plan->rung == Rung::sell) plan->sell = prepare_sell(in, context);
  if (plan->rung == Rung::column_blocks) plan->blocks = prepare_column_blocks(in, context);
  if (plan->rung == Rung::long_rows) plan->long_rows = prepare_long_rows(in, context);
  char rung[32];
  std::snprintf(rung, sizeof rung,
                plan->rung == Rung::vector      ? "vector of %d lanes"
                : plan->rung == Rung::flat      ? "flat"
                : plan->rung == Rung::sell      ? "SELL-C-sigma"
                : plan->rung == Rung::long_rows ? "long rows apart"
                                                : "column blocks",
                plan->width);
  std::snprintf(
      plan->text, sizeof plan->text,
      "%s: %s (mean %.3g, longest %d, %d of %d or more, spread %.2f, %d empty, %.3g entries per segment)",
      rung, why, mean, features.longest, features.long_rows, kLongTile, spread, features.empty, per_segment);
  return plan;
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Plan<T>& plan = *static_cast<const Plan<T>*>(context.plan);
  context.explain(plan.text);
  switch (plan.rung) {
    case Rung::vector:
      return run_vector_per_row(plan.width, p, in, out, context);
    case Rung::flat:
      return run_flat(plan.flat, p, in, out, context);
    case Rung::sell:
      return run_sell(plan.sell, p, in, out, context);
    case Rung::column_blocks:
      return run_column_blocks(plan.blocks, p, in, out, context);
    case Rung::long_rows:
      return run_long_rows(plan.long_rows, p, in, out, context);
  }
}

const Register<Spmv, float, Space::device> f32{"13_adaptive", run<float>,     {},
                                               nullptr,       prepare<float>, release<float>};
const Register<Spmv, double, Space::device> f64{"13_adaptive", run<double>,     {},
                                                nullptr,       prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
