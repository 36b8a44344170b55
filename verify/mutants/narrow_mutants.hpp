// Faults that only narrow types have: what a kernel may do wrong where it reads, sums and stores numbers of 16 and 8 bits. Each is one
// type. An operator gives one right kernel that asks a fault for each of these steps, and registers it under every fault of a list:
//   template <class T, class Fault> struct Narrow { static void run(const P<T>&, const In<T>&, const Out<T>&, Context&); };
//   const NarrowMutants<Spmv, Narrow, narrow_faults::Faults<narrow_faults::TowardZero>, f16, bf16> narrow_m;
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/core/values.hpp"
#include "verify/mutants/mutant.hpp"

namespace plumb {
namespace narrow_faults {

/// What a right kernel does, and in which types a change of it is a fault.
struct Right {
  template <class T>
  static constexpr bool kIn = true;
  template <class E>
  static float read(E e) {
    return value(e);
  }
  static bool takes(std::int64_t /*term*/, std::int64_t /*of*/) { return true; }
  static float kept(float sum) { return sum; }
  template <class E>
  static E write(float x) {
    return stored<E>(x);
  }
};

template <class E>
inline constexpr const FormatFacts& kFactsOf = facts(kFormat<E>);
template <class T>
inline constexpr bool kOfLessRange = kFactsOf<out_t<T>>.max_exponent < facts(Format::f32).max_exponent;
/// Whether a product of two operands is beyond the largest number of the output.
template <class T>
inline constexpr bool kReachesTop = 2 * kFactsOf<in_t<T>>.max_exponent >= kFactsOf<out_t<T>>.max_exponent;
template <class T>
inline constexpr bool kHasInfinity = kFactsOf<out_t<T>>.infinity;

/// x with so many digits, to nearest even.
inline float of_digits(float x, int digits) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const int drop = 24 - digits;
  bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1u);
  bits &= ~((1u << drop) - 1);
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

struct FlushesInputs : Right {
  static constexpr const char *kName = "narrow_inputs_flushed",
                              *kFault = "operands below the normal numbers of their format are read as 0",
                              *kIncident = "a conversion with flush-to-zero set";
  template <class E>
  static float read(E e) {
    const float x = value(e);
    return std::fabs(x) < static_cast<float>(kFactsOf<E>.smallest_normal) ? 0.0F * x : x;
  }
};

/// bf16 and f16, e4m3 and e5m2.
struct ReadsOtherFormat : Right {
  static constexpr const char *kName = "narrow_other_format",
                              *kFault = "operands are read as the other format of their size",
                              *kIncident = "half and bfloat16 pointers are both two bytes: a cast compiles";
  static float read(f16 e) { return value(bf16{e.bits}); }
  static float read(bf16 e) { return value(f16{e.bits}); }
  static float read(e4m3 e) { return value(e5m2{e.bits}); }
};

struct NanIs480 : Right {
  static constexpr const char *kName = "narrow_nan_is_480", *kFault = "e4m3's NaN is read as the number 480",
                              *kIncident = "a conversion by exponent and fraction alone";
  template <class T>
  static constexpr bool kIn = kFormat<in_t<T>> == Format::e4m3;
  template <class E>
  static float read(E e) {
    const float x = value(e);
    return std::isnan(x) ? std::copysign(480.0F, x) : x;
  }
};

struct SumsInF16 : Right {
  static constexpr const char *kName = "narrow_sums_in_f16", *kFault = "sums are kept in f16, undeclared",
                              *kIncident = "HFMA2, and accumulators of tensor cores in f16";
  static float kept(float sum) { return value(stored<f16>(sum)); }
};

struct SumsInBf16 : Right {
  static constexpr const char *kName = "narrow_sums_in_bf16", *kFault = "sums are kept in bf16, undeclared",
                              *kIncident = "a sum in a variable of the output's type";
  static float kept(float sum) { return value(stored<bf16>(sum)); }
};

struct LosesTailOfTwo : Right {
  static constexpr const char *kName = "narrow_tail_of_two_lost",
                              *kFault = "terms are taken by packed twos, and the last one is left",
                              *kIncident = "half2 loops over n / 2";
  static bool takes(std::int64_t term, std::int64_t of) { return term < of / 2 * 2; }
};

struct DropsOneTerm : Right {
  static constexpr const char *kName = "narrow_one_term_dropped",
                              *kFault = "one term of 64 or more is left out",
                              *kIncident = "a bound between two tiles that is off by one";
  static bool takes(std::int64_t term, std::int64_t of) { return of < 64 || term != of / 2; }
};

struct Saturates : Right {
  static constexpr const char *kName = "narrow_saturates",
                              *kFault = "results beyond the largest number become that, undeclared",
                              *kIncident = "a clamp before the conversion";
  template <class T>
  static constexpr bool kIn = kOfLessRange<T>;
  template <class E>
  static E write(float x) {
    const auto largest = static_cast<float>(kFactsOf<E>.largest);
    return stored<E>(std::isfinite(x) && std::fabs(x) > largest ? std::copysign(largest, x) : x);
  }
};

struct SaturatesInfinity : Right {
  static constexpr const char *kName = "narrow_infinity_saturates",
                              *kFault = "infinite results become the largest number, undeclared",
                              *kIncident = "cvt.satfinite";
  template <class T>
  static constexpr bool kIn = kHasInfinity<T> && (kFactsOf<in_t<T>>.infinity || kReachesTop<T>);
  template <class E>
  static E write(float x) {
    const auto largest = static_cast<float>(kFactsOf<E>.largest);
    return stored<E>(std::fabs(x) > largest ? std::copysign(largest, x) : x);
  }
};

struct OverflowsEarly : Right {
  static constexpr const char *kName = "narrow_overflows_early",
                              *kFault = "results of the largest exponent become infinite",
                              *kIncident = "the largest exponent taken for that of infinities";
  template <class T>
  static constexpr bool kIn = kHasInfinity<T>&& kReachesTop<T>;
  template <class E>
  static E write(float x) {
    const bool large = std::fabs(x) >= std::ldexp(1.0F, kFactsOf<E>.max_exponent);
    return stored<E>(large ? std::copysign(std::numeric_limits<float>::infinity(), x) : x);
  }
};

struct FlushesOutputs : Right {
  static constexpr const char *kName = "narrow_outputs_flushed",
                              *kFault = "results below the normal numbers of the output become 0",
                              *kIncident = "-ftz=true, and conversions that know no subnormals";
  template <class T>
  static constexpr bool kIn = 2 * kFactsOf<in_t<T>>.min_exponent <= kFactsOf<out_t<T>>.min_exponent;
  template <class E>
  static E write(float x) {
    return stored<E>(std::fabs(x) < static_cast<float>(kFactsOf<E>.smallest_normal) ? 0.0F * x : x);
  }
};

struct TowardZero : Right {
  static constexpr const char *kName = "narrow_toward_zero", *kFault = "results are cut, not rounded",
                              *kIncident = "the upper half of a float taken for its bf16";
  template <class E>
  static E write(float x) {
    E to = stored<E>(x);
    if (std::fabs(value(to)) > std::fabs(x)) --to.bits;
    return to;
  }
};

struct RoundsTwice : Right {
  static constexpr const char *kName = "narrow_rounded_twice",
                              *kFault = "results are rounded to three digits more before the last rounding",
                              *kIncident = "float to tf32 or half, and from there to bfloat16";
  template <class E>
  static E write(float x) {
    return stored<E>(std::isfinite(x) ? of_digits(x, kFactsOf<E>.digits + 3) : x);
  }
};

struct ScaleOff : Right {
  static constexpr const char *kName = "narrow_scale_off", *kFault = "results are too large by 2^-7 of them",
                              *kIncident = "a scale held in bf16";
  template <class E>
  static E write(float x) {
    return stored<E>(x * 1.0078125F);
  }
};

template <class... All>
struct Faults {
  template <class... More>
  using With = Faults<All..., More...>;
};
/// Those that show in a few answers of any size within the format's range.
using Usual = Faults<FlushesInputs, ReadsOtherFormat, NanIs480, SumsInF16, SumsInBf16, LosesTailOfTwo,
                     DropsOneTerm, SaturatesInfinity, OverflowsEarly, FlushesOutputs, TowardZero, ScaleOff>;
using All = Usual::With<Saturates, RoundsTwice>;
/// Of operators whose operands are no subnormal numbers and whose results are not infinite: those of every element, and of their sums too.
using OfElements = Faults<ReadsOtherFormat, TowardZero, RoundsTwice, ScaleOff>;
using OfSums = OfElements::With<SumsInF16, SumsInBf16, LosesTailOfTwo, DropsOneTerm>;

}  // namespace narrow_faults

namespace detail {
template <class Op, template <class, class> class Kernel, class T, class Fault, bool = Fault::template kIn<T>>
struct NarrowMutant {
  RegisterMutant<Op, T, Space::host> mutant{
      Fault::kName, Kernel<T, Fault>::run, {0, Fault::kFault, Fault::kIncident, kNumeric}};
};
template <class Op, template <class, class> class Kernel, class T, class Fault>
struct NarrowMutant<Op, Kernel, T, Fault, false> {};

template <class Op, template <class, class> class Kernel, class T, class List>
struct NarrowMutantsOf;
template <class Op, template <class, class> class Kernel, class T, class... All>
struct NarrowMutantsOf<Op, Kernel, T, narrow_faults::Faults<All...>> : NarrowMutant<Op, Kernel, T, All>... {};
}  // namespace detail

/// Registers Kernel<T, Fault>::run for every fault of List and every type T of those behind it.
template <class Op, template <class, class> class Kernel, class List, class... Types>
struct NarrowMutants : detail::NarrowMutantsOf<Op, Kernel, Types, List>... {};

}  // namespace plumb
