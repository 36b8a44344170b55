// Planted faults of rmsnorm: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <cmath>
#include <cstdint>

#include "reference/ops/rmsnorm.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(RmsNorm);

// Sums `terms` squares of a row; root(sum) gives what the row is divided by.
template <class T, class Root>
void normalised(const In<T>& in, const Out<T>& out, std::int64_t terms, Root&& root) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    T squares = 0;
    for (std::int64_t j = 0; j < terms; ++j) squares += in.x(i, j) * in.x(i, j);
    const T divisor = root(squares);
    for (std::int64_t j = 0; j < in.x.cols; ++j) out.y(i, j) = in.x(i, j) * in.w[j] / divisor;
  }
}

PLUMB_FAULT(outside, "epsilon_outside_of_the_root", 0, "epsilon is added to the root, not to the mean",
            "two papers' definitions confused", kNumeric) {
  normalised<T>(in, out, in.x.cols, [&](T s) { return std::sqrt(s / static_cast<T>(in.x.cols)) + p.eps; });
}

PLUMB_FAULT(no_epsilon, "epsilon_left_out", 0, "epsilon is not added", "taken for a guard against 0 alone",
            kNumeric) {
  normalised<T>(in, out, in.x.cols, [&](T s) { return std::sqrt(s / static_cast<T>(in.x.cols)); });
}

PLUMB_FAULT(last_dropped, "last_square_dropped", 0, "the last element of a row is not in the sum",
            "a loop's bound", kNumeric) {
  normalised<T>(in, out, in.x.cols > 1 ? in.x.cols - 1 : 1,
                [&](T s) { return std::sqrt(s / static_cast<T>(in.x.cols) + p.eps); });
}

PLUMB_FAULT(tail_dropped, "tail_behind_warps_dropped", 0,
            "what is left of a row behind whole warps is not in the sum", "a loop over whole warps",
            kNumeric) {
  const std::int64_t whole = in.x.cols < 32 ? in.x.cols : in.x.cols / 32 * 32;
  normalised<T>(in, out, whole, [&](T s) { return std::sqrt(s / static_cast<T>(in.x.cols) + p.eps); });
}

PLUMB_FAULT(rescaled, "scale_off_by_a_128th", 0, "all is smaller by 2^-7", "a factor kept in bf16",
            kNumeric) {
  normalised<T>(in, out, in.x.cols,
                [&](T s) { return std::sqrt(s / static_cast<T>(in.x.cols) + p.eps) * T(1 + 0x1p-7); });
}

PLUMB_FAULT(divided_by_rows, "mean_over_the_other_extent", 0, "the sum is divided by the number of rows",
            "extents confused", kNumeric) {
  normalised<T>(in, out, in.x.cols, [&](T s) { return std::sqrt(s / static_cast<T>(in.x.rows) + p.eps); });
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t cols = in.x.cols;
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      const auto x = [&](std::int64_t j) { return Fault::read(in.x(i, j)); };
      float squares = 0;
      for (std::int64_t j = 0; j < cols; ++j) {
        if (Fault::takes(j, cols)) squares = Fault::kept(squares + x(j) * x(j));
      }
      const float root = std::sqrt(squares / static_cast<float>(cols) + p.eps);
      for (std::int64_t j = 0; j < cols; ++j)
        out.y(i, j) = Fault::template write<out_t<T>>(x(j) * Fault::read(in.w[j]) / root);
    }
  }
};
const NarrowMutants<RmsNorm, Narrow, narrow_faults::OfSums, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
