// The sums of tensor cores, element by element and bit for bit, by the table of tensor_cores.hpp. The CPU executor makes eight elements at
// once by the same rules (gpu/simt/language/tensor_products.cpp), and tools/lab/tensor_core_bits.cu compares these with a GPU. C++17.
//
// Operands are not normalised: a subnormal number has the exponent of the smallest normal one. A product has the sum of its factors' exponents,
// so that its significand is below 4. Numbers of value 0 have no exponent to which others are aligned; see kBelowLeast. What comes to 0
// is +0.
#pragma once
#include <cstdint>

#include "reference/arithmetic/tensor_cores.hpp"
#include "reference/core/format.hpp"
#include "reference/core/small_floats.hpp"

namespace plumb {

/// A number as a tensor core takes it: significand * 2^(exponent - fraction bits). Beyond the numbers, `exponent` is kBeyond and `significand`
/// the sign of an infinity, or 0 for NaN.
struct TensorTerm {
  std::int32_t significand, exponent;
};
inline constexpr int kTermFraction =
    10;                                  // bits of an operand's significand behind the point, in every format
inline constexpr int kSumFraction = 23;  // of an accumulator's
inline constexpr int kBeyond = 1000;   // with any finite factor's exponent, still above all finite products'
inline constexpr int kNothing = -400;  // exponent of 0
// Terms are aligned to no smaller exponent than the sum's least one less this. It matters where the sum so far is 0 and all products are below,
// and was found on an H200: by it all elements are equal that tools/lab/tensor_core_bits.cu printed as different.
inline constexpr int kBelowLeast = 7;
inline constexpr int kBeyondProducts = 512;
inline constexpr unsigned kTensorNan = 0x7fffffff;  // the one NaN that comes out

namespace detail {
struct Single {
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23, kExponent = 8;
  static constexpr bool kInfinite = true;
};
struct Tf32 {  // the upper 19 bits of an fp32 number; the others are not looked at
  using Bits = std::uint32_t;
  static constexpr int kFraction = 10, kExponent = 8;
  static constexpr bool kInfinite = true;
};

template <class F, int Fraction>
inline TensorTerm term_of(std::uint32_t code) {
  constexpr int kBias = (1 << (F::kExponent - 1)) - 1;
  const std::uint32_t magnitude = code & kNanCode<F>;
  const bool negative = (code & kSignCode<F>) != 0;
  if (magnitude >= kBeyondCode<F>) {
    const bool infinite = F::kInfinite && magnitude == kBeyondCode<F>;
    return {infinite ? (negative ? -1 : 1) : 0, kBeyond};
  }
  if (magnitude == 0) return {0, kNothing};
  const auto field = static_cast<std::int32_t>(magnitude >> F::kFraction);
  auto significand = static_cast<std::int32_t>(magnitude & ((1u << F::kFraction) - 1));
  if (field != 0) significand |= 1 << F::kFraction;
  significand <<= Fraction - F::kFraction;
  return {negative ? -significand : significand, (field != 0 ? field : 1) - kBias};
}

inline std::uint32_t bits_of_float(float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float float_of_bits(std::uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
/// 2^exponent, for those of normal doubles.
inline double power_of_two(int exponent) {
  const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// `significand`, with `fraction` bits behind the point, cut to `kept` of them behind a number 2^down times as large; down >= 0.
inline std::int64_t aligned(std::int32_t significand, int fraction, int down, int kept) {
  constexpr int kRoom = 32;
  const std::int64_t sign = significand >> 31;
  const std::int64_t raised = ((significand ^ sign) - sign) << (kRoom + kept - fraction);
  return (raised >> (down < 63 - kRoom ? kRoom + down : 63) ^ sign) - sign;
}

/// The sum where a term is an infinity or NaN.
inline float beyond_numbers(const TensorTerm* a, const TensorTerm* b, int count, const TensorTerm& c) {
  bool positive = false, negative = false, none = false;
  const auto add = [&](std::int32_t sign, int exponent) {
    if (exponent < kBeyondProducts) return;
    none = none || sign == 0;  // of a product: NaN, or 0 times an infinity
    positive = positive || sign > 0;
    negative = negative || sign < 0;
  };
  for (int k = 0; k < count; ++k) add(a[k].significand * b[k].significand, a[k].exponent + b[k].exponent);
  add(c.significand, c.exponent);
  if (none || (positive && negative)) return float_of_bits(kTensorNan);
  return float_of_bits(negative ? 0xff800000u : 0x7f800000u);
}

/// An exact sum as the core hands it on: an fp32 number of `result_bits`, cut, or an f16 number, rounded; both infinite beyond their largest.
inline float handed_on(const TensorCore& core, Format sums, double sum) {
  if (sums == Format::f16) return widen<Half>(narrow<Half>(sum)) + 0.0f;
  const double magnitude = sum < 0 ? -sum : sum;
  const double unit = power_of_two(-126 - core.result_bits);  // of subnormal numbers
  std::uint64_t bits;
  __builtin_memcpy(&bits, &magnitude, sizeof bits);
  bits &= ~((std::uint64_t{1} << (52 - core.result_bits)) - 1);
  double cut;
  __builtin_memcpy(&cut, &bits, sizeof cut);
  if (magnitude < 0x1p-126) cut = static_cast<double>(static_cast<std::int64_t>(magnitude / unit)) * unit;
  const float result = cut >= 0x1p128 ? float_of_bits(0x7f800000u) : static_cast<float>(cut);
  return sum < 0 ? 0.0f - result : result;
}
}  // namespace detail

/// The element of an operand with that code, as `core` takes it. `format`: f16, bf16, tf32 (as fp32), e4m3 or e5m2.
inline TensorTerm tensor_term(const TensorCore& core, Format format, std::uint32_t code) {
  using namespace detail;
  switch (format) {
    case Format::tf32:
      return term_of<Tf32, kTermFraction>(code >> 13);
    case Format::bf16:
      return term_of<Brain, kTermFraction>(code);
    case Format::e4m3:
      if (core.as_f16)
        return term_of<Half, kTermFraction>(
            narrow<Half>(static_cast<double>(widen<E4m3>(static_cast<std::uint8_t>(code)))));
      return term_of<E4m3, kTermFraction>(code);
    case Format::e5m2:  // in f16, the same exponents
      return term_of<E5m2, kTermFraction>(code);
    default:
      return term_of<Half, kTermFraction>(code);
  }
}

/// One step: c + sum over k < count of a[k] b[k]. `sums`: f32 or f16, whose numbers c and the result are.
inline float tensor_step(const TensorCore& core, Format sums, const TensorTerm* a, const TensorTerm* b,
                         int count, float c) {
  using namespace detail;
  const TensorTerm before = term_of<Single, kSumFraction>(bits_of_float(c));
  const int least = facts(sums).min_exponent;
  int top = before.exponent == kNothing ? least - kBelowLeast
            : before.exponent < least   ? least
                                        : before.exponent;
  for (int k = 0; k < count; ++k) {
    const int exponent = a[k].exponent + b[k].exponent;
    top = exponent > top ? exponent : top;
  }
  if (top >= kBeyondProducts) return beyond_numbers(a, b, count, before);
  const int kept = core.fraction_bits;
  std::int64_t sum = aligned(before.significand, kSumFraction, top - before.exponent, kept);
  for (int k = 0; k < count; ++k)
    sum += aligned(a[k].significand * b[k].significand, 2 * kTermFraction,
                   top - a[k].exponent - b[k].exponent, kept);
  if (sum == 0) return 0;
  return handed_on(core, sums, static_cast<double>(sum) * power_of_two(top - kept));
}

/// Where element k of the `depth` along K of one instruction comes in the order of its steps, and the terms that a step of it takes.
inline int tensor_place(const TensorCore& core, int k, int depth) {
  return core.as_f16 ? k / 4 * 2 + k % 2 + k % 4 / 2 * (depth / 2) : k;
}
inline int tensor_step_terms(const TensorCore& core, int depth) {
  const int terms = core.as_f16 ? depth / 2 : depth;
  return terms < core.terms ? terms : core.terms;
}
/// What the accumulator is behind an instruction whose steps have given `sum`.
inline float tensor_total(const TensorCore& core, Format sums, float c, float sum) {
  if (!core.as_f16) return sum;
  const float total = c + sum;
  if (total != total) return detail::float_of_bits(kTensorNan);
  if (sums != Format::f16) return total;
  return widen<Half>(narrow<Half>(static_cast<double>(c) + static_cast<double>(sum)));
}

/// One element of one instruction: c plus the product of `depth` terms, a and b in the order of tensor_place().
inline float tensor_dot(const TensorCore& core, Format sums, const TensorTerm* a, const TensorTerm* b,
                        int depth, float c) {
  const int terms = tensor_step_terms(core, depth);
  float sum = core.as_f16 ? 0.0f : c;
  for (int k = 0; k < depth; k += terms)
    sum = tensor_step(core, sums, a + k, b + k, depth - k < terms ? depth - k : terms, sum);
  return tensor_total(core, sums, c, sum);
}

}  // namespace plumb
