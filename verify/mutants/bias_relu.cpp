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

PLUMB_FAULTS_OF(BiasRelu);

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

PLUMB_FAULT(nan_to_zero, "nan_lost_by_max", 25, "v > 0 ? v : 0 makes NaN a 0",
            "std::max(T(0), v), fmaxf, and vector maxima by operand order", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j), positive = v > T(0) ? v : T(0);
    return positive > p.cap ? p.cap : positive;
  });
}

PLUMB_FAULT(nan_to_cap, "nan_becomes_the_cap", 25, "v < cap ? v : cap makes NaN the cap",
            "fminf, and minima by comparison", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j), positive = v < T(0) ? T(0) : v;
    return positive < p.cap ? positive : p.cap;
  });
}

PLUMB_FAULT(cap_first, "cap_before_bias", 36, "rectifier and cap come before the bias",
            "an epilogue fused in the wrong order", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) { return clamp(in.x(i, j), p.cap) + bias(p, in, j); });
}

PLUMB_FAULT(relu_first, "rectifier_before_bias", 36, "negative x is cut to 0 before the bias is added",
            "a sparse format that drops non-positive products early", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T x = in.x(i, j), v = (x < T(0) ? T(0) : x) + bias(p, in, j);
    return clamp(v, p.cap);
  });
}

PLUMB_FAULT(zeros_skip, "bias_only_on_nonzeros", 36,
            "entries that are 0 get no bias: right for negative biases only",
            "the challenge's own definition, taken over where biases are positive", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    return in.x(i, j) == T(0) ? T(0) : clamp(in.x(i, j) + bias(p, in, j), p.cap);
  });
}

PLUMB_FAULT(no_cap, "cap_forgotten", 36, "there is no cap",
            "small networks, whose activations never reach 32", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j);
    return v < T(0) ? T(0) : v;
  });
}

PLUMB_FAULT(wrong_bias, "bias_by_row", 0, "the bias is indexed by row", "column-major layers, read row-major",
            kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    return clamp(in.x(i, j) + (in.b.size > 0 ? in.b[i % in.b.size] : p.bias), p.cap);
  });
}

PLUMB_FAULT(one_bias, "first_bias_for_all", 0, "every column gets the first column's bias",
            "networks whose layers have one constant bias", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) { return clamp(in.x(i, j) + bias(p, in, 0), p.cap); });
}

PLUMB_FAULT(ragged, "ragged_columns_not_written", 34, "columns beyond a multiple of 8 are not written",
            "vector loops without a remainder", kNumeric) {
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols / 8 * 8; ++j)
      out.y(i, j) = clamp(in.x(i, j) + bias(p, in, j), p.cap);
  }
}

PLUMB_FAULT(packed, "leading_dimension_ignored", 18, "the matrix is taken to be packed",
            "element-wise kernels over rows * cols elements", kNumeric) {
  for (std::int64_t at = 0; at < out.y.rows * out.y.cols; ++at) {
    out.y.data[at] = clamp(in.x.data[at] + bias(p, in, at % out.y.cols), p.cap);
  }
}

PLUMB_FAULT(in_place, "adds_the_bias_in_place", 39, "x itself receives the bias",
            "a second pass that is then one bias too many", kNumeric) {
  each(out, [&](std::int64_t i, std::int64_t j) {
    const_cast<T*>(in.x.data)[i * in.x.ld + j] += bias(p, in, j);
    return clamp(in.x(i, j), p.cap);
  });
}

PLUMB_FAULT(flushed_cap, "cap_below_the_normal_numbers", 0, "a cap below the smallest normal number is zero",
            "scalars that are read with subnormals flushed", kNumeric) {
  each(out,
       [&](std::int64_t i, std::int64_t j) { return clamp(in.x(i, j) + bias(p, in, j), flushed(p.cap)); });
}

PLUMB_FAULT(uncapped_tail, "nan_lost_behind_vectors_without_cap", 25,
            "without a cap, NaN behind the last whole vector is 0",
            "a rectifier without a cap has code of its own, and its tail another comparison", kNumeric) {
  const bool capped = p.cap <= std::numeric_limits<T>::max();
  each(out, [&](std::int64_t i, std::int64_t j) {
    const T v = in.x(i, j) + bias(p, in, j);
    if (capped || j < out.y.cols / 4 * 4) return clamp(v, p.cap);
    return v > T(0) ? v : T(0);
  });
}

PLUMB_FAULT(no_cap_of_vectors, "cap_of_zero_is_none_in_vectors", 0,
            "where rows are whole vectors on 16 bytes, a cap of 0 means that there is none",
            "a scalar whose zero stands for its absence, in one of two paths", kNumeric) {
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

template <class T>
void* plan_of_cap(const P<T>& p, const In<T>&, const Out<T>&, Context& context) {
  return new (context.workspace(sizeof(bool))) bool(p.cap <= std::numeric_limits<T>::max());
}
PLUMB_FAULT(capped_by_plan, "cap_of_the_plan", 0,
            "whether there is a cap is asked when the plan is made, not in each of its runs",
            "a kernel without the comparison, chosen once", kNumeric, {}, nullptr, nullptr,
            plan_of_cap<float>, plan_of_cap<double>) {
  const bool capped = *static_cast<const bool*>(context.plan);
  each(out, [&](std::int64_t i, std::int64_t j) {
    return clamp(in.x(i, j) + bias(p, in, j), capped ? p.cap : std::numeric_limits<T>::infinity());
  });
}

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
