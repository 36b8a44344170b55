// Planted faults of bias_relu: each is a right kernel with one thing changed. `verify --mutants` must kill
// every one of them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "reference/ops/bias_relu.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

template <class T>
using P = BiasRelu::Problem<T>;
template <class T>
using In = BiasRelu::In<T, Space::host>;
template <class T>
using Out = BiasRelu::Out<T, Space::host>;

template <class T>
T bias(const P<T>& p, const In<T>& in, std::int64_t j) {
  return in.b.size > 0 ? in.b[j] : p.bias;
}

template <class T, class F>
void each(const Out<T>& out, F&& f) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) out.y(i, j) = f(i, j);
  }
}

template <class T>
T clamp(T v, T cap) {  // right: NaN fails both comparisons
  v = v < T(0) ? T(0) : v;
  return v > cap ? cap : v;
}

template <class T>
void nan_to_zero(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j), positive = v > T(0) ? v : T(0);
    return positive > p.cap ? p.cap : positive;
  });
}
const HostMutant<BiasRelu> m25a{"nan_lost_by_max",
                                nan_to_zero<float>,
                                nan_to_zero<double>,
                                {25, "v > 0 ? v : 0 makes NaN a 0",
                                 "std::max(T(0), v), fmaxf, and vector maxima by operand order", kNumeric}};

template <class T>
void nan_to_cap(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j), positive = v < T(0) ? T(0) : v;
    return positive < p.cap ? positive : p.cap;
  });
}
const HostMutant<BiasRelu> m25b{
    "nan_becomes_the_cap",
    nan_to_cap<float>,
    nan_to_cap<double>,
    {25, "v < cap ? v : cap makes NaN the cap", "fminf, and minima by comparison", kNumeric}};

template <class T>
void cap_first(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) { return clamp(in.x(i, j), p.cap) + bias(p, in, j); });
}
const HostMutant<BiasRelu> m36a{
    "cap_before_bias",
    cap_first<float>,
    cap_first<double>,
    {36, "rectifier and cap come before the bias", "an epilogue fused in the wrong order", kNumeric}};

template <class T>
void relu_first(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T x = in.x(i, j), v = (x < T(0) ? T(0) : x) + bias(p, in, j);
    return clamp(v, p.cap);
  });
}
const HostMutant<BiasRelu> m36b{"rectifier_before_bias",
                                relu_first<float>,
                                relu_first<double>,
                                {36, "negative x is cut to 0 before the bias is added",
                                 "a sparse format that drops non-positive products early", kNumeric}};

template <class T>
void zeros_skip(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    return in.x(i, j) == T(0) ? T(0) : clamp(in.x(i, j) + bias(p, in, j), p.cap);
  });
}
const HostMutant<BiasRelu> m36c{
    "bias_only_on_nonzeros",
    zeros_skip<float>,
    zeros_skip<double>,
    {36, "entries that are 0 get no bias: right for negative biases only",
     "the challenge's own definition, taken over where biases are positive", kNumeric}};

template <class T>
void no_cap(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j);
    return v < T(0) ? T(0) : v;
  });
}
const HostMutant<BiasRelu> m36d{
    "cap_forgotten",
    no_cap<float>,
    no_cap<double>,
    {36, "there is no cap", "small networks, whose activations never reach 32", kNumeric}};

template <class T>
void wrong_bias(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    return clamp(in.x(i, j) + (in.b.size > 0 ? in.b[i % in.b.size] : p.bias), p.cap);
  });
}
const HostMutant<BiasRelu> m0a{
    "bias_by_row",
    wrong_bias<float>,
    wrong_bias<double>,
    {0, "the bias is indexed by row", "column-major layers, read row-major", kNumeric}};

template <class T>
void one_bias(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) { return clamp(in.x(i, j) + bias(p, in, 0), p.cap); });
}
const HostMutant<BiasRelu> m0b{"first_bias_for_all",
                               one_bias<float>,
                               one_bias<double>,
                               {0, "every column gets the first column's bias",
                                "networks whose layers have one constant bias", kNumeric}};

template <class T>
void ragged(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols / 8 * 8; ++j)
      out.y(i, j) = clamp(in.x(i, j) + bias(p, in, j), p.cap);
  }
}
const HostMutant<BiasRelu> m34{
    "ragged_columns_not_written",
    ragged<float>,
    ragged<double>,
    {34, "columns beyond a multiple of 8 are not written", "vector loops without a remainder", kNumeric}};

template <class T>
void packed(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t at = 0; at < out.y.rows * out.y.cols; ++at) {
    out.y.data[at] = clamp(in.x.data[at] + bias(p, in, at % out.y.cols), p.cap);
  }
}
const HostMutant<BiasRelu> m18{
    "leading_dimension_ignored",
    packed<float>,
    packed<double>,
    {18, "the matrix is taken to be packed", "element-wise kernels over rows * cols elements", kNumeric}};

template <class T>
void in_place(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const_cast<T*>(in.x.data)[i * in.x.ld + j] += bias(p, in, j);
    return clamp(in.x(i, j), p.cap);
  });
}
const HostMutant<BiasRelu> m39{
    "adds_the_bias_in_place",
    in_place<float>,
    in_place<double>,
    {39, "x itself receives the bias", "a second pass that is then one bias too many", kNumeric}};

template <class T>
void flushed_cap(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  each(out,
       [&](std::int64_t i, std::int64_t j) { return clamp(in.x(i, j) + bias(p, in, j), flushed(p.cap)); });
}
const HostMutant<BiasRelu> flushed_cap_m{"cap_below_the_normal_numbers",
                                         flushed_cap<float>,
                                         flushed_cap<double>,
                                         {0, "a cap below the smallest normal number is zero",
                                          "scalars that are read with subnormals flushed", kNumeric}};

template <class T>
void uncapped_tail(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const bool capped = p.cap <= std::numeric_limits<T>::max();
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j);
    if (capped || j < out.y.cols / 4 * 4) return clamp(v, p.cap);
    return v > T(0) ? v : T(0);
  });
}
const HostMutant<BiasRelu> uncapped_tail_m{
    "nan_lost_behind_vectors_without_cap",
    uncapped_tail<float>,
    uncapped_tail<double>,
    {25, "without a cap, NaN behind the last whole vector is 0",
     "a rectifier without a cap has code of its own, and its tail another comparison", kNumeric}};

template <class T>
void no_cap_of_vectors(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const auto whole = [](const T* data, std::int64_t cols, std::int64_t ld) {
    constexpr std::int64_t kBytes = 16, kSize = sizeof(T);
    return reinterpret_cast<std::uintptr_t>(data) % kBytes == 0 && ld * kSize % kBytes == 0 &&
           cols * kSize % kBytes == 0;
  };
  const bool vectors =
      whole(in.x.data, in.x.cols, in.x.ld) && whole(out.y.data, out.y.cols, out.y.ld) && p.cap == T(0);
  each(out, [&](std::int64_t i, std::int64_t j) {
    return clamp(in.x(i, j) + bias(p, in, j), vectors ? std::numeric_limits<T>::infinity() : p.cap);
  });
}
const HostMutant<BiasRelu> no_cap_of_vectors_m{
    "cap_of_zero_is_none_in_vectors",
    no_cap_of_vectors<float>,
    no_cap_of_vectors<double>,
    {0, "where rows are whole vectors on 16 bytes, a cap of 0 means that there is none",
     "a scalar whose zero stands for its absence, in one of two paths", kNumeric}};

template <class T>
void* plan_of_cap(const P<T>& p, const In<T>&, const Out<T>&, Context& context) {
  return new (context.workspace(sizeof(bool))) bool(p.cap <= std::numeric_limits<T>::max());
}
template <class T>
void capped_by_plan(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const bool capped = *static_cast<const bool*>(context.plan);
  each(out, [&](std::int64_t i, std::int64_t j) {
    return clamp(in.x(i, j) + bias(p, in, j), capped ? p.cap : std::numeric_limits<T>::infinity());
  });
}
const HostMutant<BiasRelu> capped_by_plan_m{
    "cap_of_the_plan",
    capped_by_plan<float>,
    capped_by_plan<double>,
    {0, "whether there is a cap is asked when the plan is made, not in each of its runs",
     "a kernel without the comparison, chosen once", kNumeric},
    {},
    nullptr,
    nullptr,
    plan_of_cap<float>,
    plan_of_cap<double>};

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      for (std::int64_t j = 0; j < in.x.cols; ++j) {
        const float b = in.b.size > 0 ? Fault::read(in.b[j]) : p.bias;
        float y = Fault::read(in.x(i, j)) + b;
        if (y < 0) y = 0;
        if (y > p.cap) y = p.cap;
        out.y(i, j) = Fault::template write<out_t<T>>(y);
      }
    }
  }
};
const NarrowMutants<BiasRelu, Narrow,
                    narrow_faults::Faults<narrow_faults::ReadsOtherFormat, narrow_faults::SaturatesInfinity,
                                          narrow_faults::FlushesOutputs, narrow_faults::TowardZero,
                                          narrow_faults::RoundsTwice, narrow_faults::ScaleOff>,
                    f16, bf16>
    narrow_types_m;

}  // namespace
}  // namespace plumb
