// Planted faults of cross_entropy: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reference/ops/cross_entropy.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

template <class T>
using P = CrossEntropy::Problem<T>;
template <class T>
using In = CrossEntropy::In<T, Space::host>;
template <class T>
using Out = CrossEntropy::Out<T, Space::host>;

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

template <class T>
void maximum_not_added(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  losses(in, out, [](const T* x, std::int32_t t, T, T sum) { return std::log(sum) - x[t]; });
}
const HostMutant<CrossEntropy> m1{
    "maximum_not_added",
    maximum_not_added<float>,
    maximum_not_added<double>,
    {0, "the maximum that was subtracted is not added again", "a step of a derivation", kNumeric}};

template <class T>
void class_from_one(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  losses(in, out,
         [](const T* x, std::int32_t t, T max, T sum) { return std::log(sum) + max - x[t > 0 ? t - 1 : 0]; });
}
const HostMutant<CrossEntropy> m2{"class_from_one",
                                  class_from_one<float>,
                                  class_from_one<double>,
                                  {0, "classes are counted from 1", "another language", kNumeric}};

template <class T>
void logarithm_to_base_two(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
  losses(in, out, [](const T* x, std::int32_t t, T max, T sum) { return std::log2(sum) + max - x[t]; });
}
const HostMutant<CrossEntropy> m3{
    "logarithm_to_base_two",
    logarithm_to_base_two<float>,
    logarithm_to_base_two<double>,
    {0, "log2 in place of log", "the faster instruction without its factor", kNumeric}};

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
