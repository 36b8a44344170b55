// Intrinsics whose result is rounded in a stated direction, and conversions between numbers, as CUDA defines
// them: exact, and saturating where an integer cannot hold the value.
#pragma once
#include <cmath>
#include <limits>
#include <type_traits>

#include "reference/core/small_floats.hpp"

namespace plumb::simt {

using ::plumb::Round;
enum class Arithmetic : unsigned char { add, sub, mul, div, fma, sqrt };

template <class T>
T rounded(Arithmetic what, Round round, T a, T b = T(0), T c = T(0));
extern template float rounded(Arithmetic, Round, float, float, float);
extern template double rounded(Arithmetic, Round, double, double, double);

/// `x` as a floating-point number that may be too narrow for it.
template <class To, class From>
To narrowed(Round round, From x);
extern template float narrowed(Round, int);
extern template float narrowed(Round, unsigned);
extern template float narrowed(Round, long long);
extern template float narrowed(Round, unsigned long long);
extern template float narrowed(Round, double);
extern template double narrowed(Round, long long);
extern template double narrowed(Round, unsigned long long);

/// The integer that `x` rounds to; the nearest there is, and for a NaN what the conversion instruction gives.
template <class To, class From>
To to_integer(Round round, From x) {
  if (x != x) {
    const bool wide = sizeof(From) == 8 || sizeof(To) == 8;
    return wide ? static_cast<To>(static_cast<std::make_unsigned_t<To>>(1) << (8 * sizeof(To) - 1)) : To(0);
  }
  const From r = round == Round::nearest ? std::nearbyint(x)
                 : round == Round::zero  ? std::trunc(x)
                 : round == Round::up    ? std::ceil(x)
                                         : std::floor(x);
  // The largest integer may not be representable: compare with the power of two above it.
  if (r >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
  if (r <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(r);
}

}  // namespace plumb::simt

#define PLUMB_SIMT_ROUNDED_OF(T, letter, suffix, R)                                                  \
  inline T __##letter##add_##suffix(T a, T b) {                                                      \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::add, ::plumb::simt::Round::R, a, b);    \
  }                                                                                                  \
  inline T __##letter##sub_##suffix(T a, T b) {                                                      \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::sub, ::plumb::simt::Round::R, a, b);    \
  }                                                                                                  \
  inline T __##letter##mul_##suffix(T a, T b) {                                                      \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::mul, ::plumb::simt::Round::R, a, b);    \
  }                                                                                                  \
  inline T __##letter##div_##suffix(T a, T b) {                                                      \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::div, ::plumb::simt::Round::R, a, b);    \
  }                                                                                                  \
  inline T __##letter##rcp_##suffix(T a) {                                                           \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::div, ::plumb::simt::Round::R, T(1), a); \
  }                                                                                                  \
  inline T __##letter##sqrt_##suffix(T a) {                                                          \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::sqrt, ::plumb::simt::Round::R, a);      \
  }
#define PLUMB_SIMT_ROUNDED(suffix, R)                                                                \
  PLUMB_SIMT_ROUNDED_OF(float, f, suffix, R)                                                         \
  PLUMB_SIMT_ROUNDED_OF(double, d, suffix, R)                                                        \
  inline float __fmaf_##suffix(float a, float b, float c) {                                          \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::fma, ::plumb::simt::Round::R, a, b, c); \
  }                                                                                                  \
  inline double __fma_##suffix(double a, double b, double c) {                                       \
    return ::plumb::simt::rounded(::plumb::simt::Arithmetic::fma, ::plumb::simt::Round::R, a, b, c); \
  }
PLUMB_SIMT_ROUNDED(rz, zero)
PLUMB_SIMT_ROUNDED(ru, up)
PLUMB_SIMT_ROUNDED(rd, down)
#undef PLUMB_SIMT_ROUNDED
#undef PLUMB_SIMT_ROUNDED_OF

#define PLUMB_SIMT_CONVERSION(from, F, to, T, call, suffix, R) \
  inline T __##from##2##to##_##suffix(F x) { return ::plumb::simt::call(::plumb::simt::Round::R, x); }
#define PLUMB_SIMT_CONVERSIONS(from, F, to, T, call)       \
  PLUMB_SIMT_CONVERSION(from, F, to, T, call, rn, nearest) \
  PLUMB_SIMT_CONVERSION(from, F, to, T, call, rz, zero)    \
  PLUMB_SIMT_CONVERSION(from, F, to, T, call, ru, up)      \
  PLUMB_SIMT_CONVERSION(from, F, to, T, call, rd, down)
PLUMB_SIMT_CONVERSIONS(float, float, int, int, to_integer<int>)
PLUMB_SIMT_CONVERSIONS(float, float, uint, unsigned, to_integer<unsigned>)
PLUMB_SIMT_CONVERSIONS(float, float, ll, long long, to_integer<long long>)
PLUMB_SIMT_CONVERSIONS(float, float, ull, unsigned long long, to_integer<unsigned long long>)
PLUMB_SIMT_CONVERSIONS(double, double, int, int, to_integer<int>)
PLUMB_SIMT_CONVERSIONS(double, double, uint, unsigned, to_integer<unsigned>)
PLUMB_SIMT_CONVERSIONS(double, double, ll, long long, to_integer<long long>)
PLUMB_SIMT_CONVERSIONS(double, double, ull, unsigned long long, to_integer<unsigned long long>)
PLUMB_SIMT_CONVERSIONS(int, int, float, float, narrowed<float>)
PLUMB_SIMT_CONVERSIONS(uint, unsigned, float, float, narrowed<float>)
PLUMB_SIMT_CONVERSIONS(ll, long long, float, float, narrowed<float>)
PLUMB_SIMT_CONVERSIONS(ull, unsigned long long, float, float, narrowed<float>)
PLUMB_SIMT_CONVERSIONS(double, double, float, float, narrowed<float>)
PLUMB_SIMT_CONVERSIONS(ll, long long, double, double, narrowed<double>)
PLUMB_SIMT_CONVERSIONS(ull, unsigned long long, double, double, narrowed<double>)
#undef PLUMB_SIMT_CONVERSIONS
#undef PLUMB_SIMT_CONVERSION
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
