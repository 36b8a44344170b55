// Planted faults of cross_entropy: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reference/ops/cross_entropy.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(CrossEntropy);

template <class T, class F>
void losses(const In<T>& in, const Out<T>& out, F&& loss) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* const x = in.x.data + i * in.x.ld;
    const T max = *std::max_element(x, x + in.x.cols);
    T sum = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) sum += std::exp(x[j] - max);
    out.l[i] = loss(x, in.t[i], max, sum);
  }
}

PLUMB_FAULT(maximum_not_added, "maximum_not_added", 0, "the maximum that was subtracted is not added again",
            "a step of a derivation", kNumeric) {
  losses(in, out, [](const T* x, std::int32_t t, T, T sum) { return std::log(sum) - x[t]; });
}

PLUMB_FAULT(class_from_one, "class_from_one", 0, "classes are counted from 1", "another language", kNumeric) {
  losses(in, out,
         [](const T* x, std::int32_t t, T max, T sum) { return std::log(sum) + max - x[t > 0 ? t - 1 : 0]; });
}

PLUMB_FAULT(logarithm_to_base_two, "logarithm_to_base_two", 0, "log2 in place of log",
            "the faster instruction without its factor", kNumeric) {
  losses(in, out, [](const T* x, std::int32_t t, T max, T sum) { return std::log2(sum) + max - x[t]; });
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t cols = in.x.cols;
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      const auto x = [&](std::int64_t j) { return Fault::read(in.x(i, j)); };
      float max = x(0), sum = 0;
      for (std::int64_t j = 0; j < cols; ++j) max = std::max(max, x(j));
      for (std::int64_t j = 0; j < cols; ++j) {
        if (Fault::takes(j, cols)) sum = Fault::kept(sum + std::exp(x(j) - max));
      }
      out.l[i] = Fault::template write<out_t<T>>(std::log(sum) + max - x(in.t[i]));
    }
  }
};
const NarrowMutants<CrossEntropy, Narrow, narrow_faults::OfSums, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
