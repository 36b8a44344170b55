// spmm, rung 13: the kernel is chosen by what the matrix looks like and how wide C is, and the choice is
// printed.
//
// Change    prepare() measures the row lengths and takes: streamed rows (rung 11) where the mean row is
//           shorter than two batches; groups that share long rows (rung 10) or have short ones each (rung 9),
//           in the order of their lengths (rung 6) where those differ much; panels (rung 12) where B is
//           larger than the cache and rows have columns far apart; and cuts long rows (rung 7) in all of
//           them.
// Traffic   of the rung chosen; the features cost a copy of row_ptr to the host and a few passes over it
//           there, in prepare().
// Limits    those of the rung chosen. H200, fp32, 32 columns, warm: 94.6 us on a power law (1.63 of
//           cuSPARSE's speed), 186 us on an FEM-like matrix (2.15 of cuSPARSE's speed), 148 us on a stencil
//           (3.06 of cuSPARSE's speed).
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    the choice by features as in Greathouse and Daga, SC'14, and Dai et al., "Heuristic Adaptability
//           to Input Dynamics for SpMM on GPUs", DAC'22; features and thresholds our own.
#include <cmath>
#include <cstdio>

#include "gpu/spmm/order.hpp"
#include "gpu/spmm/ranges.hpp"

namespace plumb {
namespace {

using namespace spmm;

struct Features {
  double mean = 0, short_spread = 0;  // of all rows; deviation over mean of those that are not cut
  Index longest = 0, empty = 0;
};

Features measure(const HostArray<std::int32_t>& row_ptr, Index cut) {
  Features f;
  double sum = 0, squares = 0, count = 0;
  const Index rows = row_ptr.size() - 1;
  for (Index i = 0; i < rows; ++i) {
    const Index length = row_ptr[i + 1] - row_ptr[i];
    f.longest = length > f.longest ? length : f.longest;
    f.empty += length == 0;
    if (length > cut) continue;
    const auto l = static_cast<double>(length);
    sum += l, squares += l * l, count += 1;
  }
  f.mean = rows > 0 ? row_ptr[rows] / static_cast<double>(rows) : 0;
  const double mean = count > 0 ? sum / count : 0;
  if (mean > 0) {
    const double variance = squares / count - mean * mean;
    f.short_spread = variance > 0 ? std::sqrt(variance) / mean : 0;
  }
  return f;
}

// Whether rows have their columns close together, so that neighbouring rows find each other's rows of B in
// the caches nearer by: by the first and last column of a few rows.
template <class T>
bool columns_are_local(const In<T>& in, const HostArray<std::int32_t>& row_ptr, Context& context) {
  constexpr Index kSampled = 32;
  double span = 0, sampled = 0;
  for (Index s = 0; s < kSampled && in.A.rows > 0; ++s) {
    const Index i = in.A.rows * s / kSampled, begin = row_ptr[i], end = row_ptr[i + 1];
    if (end - begin < 2) continue;
    std::int32_t first = 0, last = 0;
    device_read(&first, in.A.col + begin, sizeof first, context.stream);
    device_read(&last, in.A.col + end - 1, sizeof last, context.stream);
    span += last > first ? last - first : first - last, sampled += 1;
  }
  return span < sampled * static_cast<double>(in.A.cols) / 8;
}

template <class T>
struct Plan {
  StreamPlan<T> stream;  // its work and split serve the other kernels too
  bool streamed = false;
  char text[200];
};

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const HostCopy<std::int32_t> row_ptr(in.A.row_ptr, in.A.rows + 1, context.stream);
  const Index rows = in.A.rows, nnz = in.A.nnz;
  const int v = vector_length(in, out);
  auto* plan = new Plan<T>;
  Rows<T>& work = plan->stream.work;
  const int whole = lanes_for(out.C.cols, v),
            panel = panel_lanes<T>(in.A.cols, out.C.cols, v, device_l2_bytes());
  work.lanes = panel < whole && !columns_are_local(in, row_ptr, context) ? panel : whole;
  work.slots = slots_for(rows, nnz, work.lanes);
  work.cut = static_cast<unsigned>(kStreamCut * work.slots);
  const Features f = measure(row_ptr, work.cut);
  constexpr double kShortRow = 8, kMixed = 1;
  const char *kernel = "a group per row", *why = "rows of a few batches";
  bool sorted = false;
  if (f.mean < kShortRow) {
    plan->streamed = true, kernel = "streamed rows", why = "short rows";
  } else if (work.slots > 1) {
    kernel = "groups that share a row", why = "long rows";
  } else if (f.short_spread > kMixed && work.lanes < 32) {
    sorted = true, kernel = "a group per row, sorted", why = "rows of mixed length";
  }
  plan->stream.split = prepare_split(row_ptr, work.cut, kStreamPart, context);
  take_split(plan->stream.split, out.C.cols, work, context);
  work.count = rows;
  if (plan->streamed)
    plan->stream.ranges = prepare_ranges(row_ptr, kStreamCut, stream_share(work.lanes), context);
  if (sorted) work.order = prepare_order(row_ptr, work.cut, work.count, context);
  std::snprintf(
      plan->text, sizeof plan->text,
      "%s, %d lanes of %d, %d slots, %lld parts: %s (mean %.3g, longest %lld, spread %.2f, %lld empty)",
      kernel, work.lanes, v, plan->streamed ? 1 : work.slots, static_cast<long long>(work.parts), why, f.mean,
      static_cast<long long>(f.longest), f.short_spread, static_cast<long long>(f.empty));
  return plan;
}

template <class T>
void release(void* plan) {
  delete static_cast<Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const auto& plan = *static_cast<const Plan<T>*>(context.plan);
  context.explain(plan.text);
  const int v = vector_length(in, out);
  if (plan.streamed) return run_ranges(v, plan.stream, in, out, context);
  run_shaped_rows(v, plan.stream.work, in, out, context);
  join_parts(plan.stream.split, plan.stream.work, out, context);
}

const Register<Spmm, float, Space::device> f32{"13_adaptive", run<float>,     {},
                                               nullptr,       prepare<float>, release<float>};
const Register<Spmm, double, Space::device> f64{"13_adaptive", run<double>,     {},
                                                nullptr,       prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
