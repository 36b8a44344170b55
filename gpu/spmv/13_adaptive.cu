// spmv, rung 13: the rung is chosen by what the matrix looks like, and the choice is printed.
//
// Change    prepare() measures mean, maximum and spread of the row lengths on the device, and the size
//           against the L2 cache; run() is one of the rungs 4, 7 and 12.
// Traffic   of the rung chosen; the features cost one pass over row_ptr, in prepare().
// Limits    those of the rung chosen.
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    Greathouse and Daga, SC'14 (CSR-Adaptive), and its kin; thresholds our own.
#include <cmath>
#include <cstdio>

#include "gpu/spmv/features.hpp"
#include "gpu/spmv/merge_path.hpp"
#include "gpu/spmv/stream.hpp"
#include "gpu/spmv/vector_per_row.hpp"

namespace plumb {
namespace {

using namespace spmv;

constexpr int kThreads = 256;

// Integers, so that the sums, and with them the choice, are the same in every run. nnz < 2^31: the squares
// fit.
struct Features {
  unsigned long long squares;
  int longest;
  int empty;
};

__global__ void __launch_bounds__(kThreads)
    spmv_features(const std::int32_t* row_ptr /* (rows + 1) */, Index rows, Features* features /* (1) */) {
  unsigned long long squares = 0;
  int longest = 0, empty = 0;
  const Index stride = static_cast<Index>(gridDim.x) * kThreads;
  for (Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; i < rows; i += stride) {
    const int length = row_ptr[i + 1] - row_ptr[i];
    squares += static_cast<unsigned long long>(length) * static_cast<unsigned long long>(length);
    longest = length > longest ? length : longest;
    empty += length == 0;
  }
  for (int d = 16; d > 0; d /= 2) {
    squares += __shfl_down_sync(kAllLanes, squares, d);
    empty += __shfl_down_sync(kAllLanes, empty, d);
    const int other = __shfl_down_sync(kAllLanes, longest, d);
    longest = other > longest ? other : longest;
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&features->squares, squares);
    atomicMax(&features->longest, longest);
    atomicAdd(&features->empty, empty);
  }
}

enum class Rung : std::uint8_t { vector, stream, merge_path };

template <class T>
struct Plan {
  Rung rung = Rung::vector;
  int width = 2;
  const Index* starts = nullptr;
  MergePlan<T> merge{};
  char text[160];
};

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  const Index rows = in.A.rows, nnz = in.A.nnz;
  Features features{0, 0, 0};
  auto* measured = workspace_of<Features>(1, context);
  device_fill(measured, 0, sizeof features, context.stream);
  const Index most = 8 * static_cast<Index>(device_multiprocessors()), needed = ceil_div(rows, kThreads);
  launch(spmv_features, needed < most ? needed : most, kThreads, 0, context.stream, in.A.row_ptr, rows,
         measured);
  device_read(&features, measured, sizeof features, context.stream);

  const double n = rows > 0 ? static_cast<double>(rows) : 1, mean = static_cast<double>(nnz) / n;
  const double variance = static_cast<double>(features.squares) / n - mean * mean;
  const double spread = mean > 0 && variance > 0 ? std::sqrt(variance) / mean : 0;
  const double bytes = static_cast<double>(nnz) * (sizeof(T) + 4.0) + 4.0 * n +
                       sizeof(T) * (n + static_cast<double>(in.A.cols));
  const bool cached = bytes < static_cast<double>(device_l2_bytes());

  auto* plan = new Plan<T>;
  plan->width = vector_width(rows, nnz);
  const char* why = "rows of much the same length";
  constexpr double kSmall = 1 << 13;  // entries and rows: one launch costs as much as the work
  constexpr int kGiant = 4096;        // entries: a row that one warp or block is too few for
  if (static_cast<double>(nnz) + n < kSmall && features.longest < kGiant) {
    why = "small: one launch";
  } else if (features.longest >= kGiant && features.longest > 8 * mean) {
    plan->rung = Rung::merge_path, why = "a giant row";
  } else if (features.longest >= kGiant && rows < 64 * static_cast<Index>(device_multiprocessors())) {
    plan->rung = Rung::merge_path, why = "fewer rows than warps";
  } else if (spread > 1.5) {
    plan->rung = Rung::merge_path, why = "skewed rows";
  } else if (mean < 12 || spread > 0.5) {
    plan->rung = Rung::stream, why = mean < 12 ? "short rows" : "rows of mixed length";
  }
  if (plan->rung == Rung::stream) plan->starts = prepare_stream(in, context);
  if (plan->rung == Rung::merge_path) plan->merge = prepare_merge_path(in, context);
  char rung[32];
  std::snprintf(rung, sizeof rung,
                plan->rung == Rung::vector   ? "vector of %d lanes"
                : plan->rung == Rung::stream ? "stream"
                                             : "merge path",
                plan->width);
  std::snprintf(plan->text, sizeof plan->text, "%s: %s (mean %.3g, longest %d, spread %.2f, %d empty, %s L2)",
                rung, why, mean, features.longest, spread, features.empty, cached ? "within" : "beyond");
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
    case Rung::stream:
      return run_stream(plan.starts, p, in, out, context);
    case Rung::merge_path:
      return run_merge_path(plan.merge, p, in, out, context);
  }
}

const Register<Spmv, float, Space::device> f32{"13_adaptive", run<float>,     {},
                                               nullptr,       prepare<float>, release<float>};
const Register<Spmv, double, Space::device> f64{"13_adaptive", run<double>,     {},
                                                nullptr,       prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
