// Between the bits of an element and the number that a kernel computes with: value() widens exactly, stored<E>() rounds once, to nearest
// even; for float and double both are nothing. For kernels of any type: C++17, no standard library.
#pragma once
#include "reference/core/abi.hpp"
#include "reference/core/small_floats.hpp"

namespace plumb {

// The compiler's own half, which has instructions on the host; nvcc's host pass takes the bits apart.
#if !defined(__CUDACC__) && defined(__FLT16_MAX__)
#define PLUMB_HOST_HALF 1
#endif

namespace detail {
template <class To, class From>
PLUMB_HOST_DEVICE To as(From bits) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  __builtin_memcpy(&to, &bits, sizeof to);
  return to;
}
}  // namespace detail

PLUMB_HOST_DEVICE float value(float x) { return x; }
PLUMB_HOST_DEVICE double value(double x) { return x; }
PLUMB_HOST_DEVICE float value(bf16 x) { return detail::as<float>(static_cast<std::uint32_t>(x.bits) << 16); }
PLUMB_HOST_DEVICE float value(f16 x) {
#if defined(__CUDA_ARCH__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#elif defined(PLUMB_HOST_HALF)
  return static_cast<float>(detail::as<_Float16>(x.bits));
#else
  return widen<Half>(x.bits);
#endif
}
PLUMB_HOST_DEVICE float value(e5m2 x) { return value(f16{static_cast<std::uint16_t>(x.bits << 8)}); }
PLUMB_HOST_DEVICE float value(e4m3 x) {
  const std::uint32_t sign = (x.bits & 0x80u) << 24, magnitude = x.bits & 0x7fu;
  if (magnitude == 0x7fu) return detail::as<float>(sign | 0x7fffffffu);
  // the exponent's bias is 7 in place of 127; subnormal numbers become normal ones
  const float wide = detail::as<float>(magnitude << 20) * 0x1p120f;
  return detail::as<float>(detail::as<std::uint32_t>(wide) | sign);
}

namespace detail {
PLUMB_HOST_DEVICE void store(float& to, float x) { to = x; }
PLUMB_HOST_DEVICE void store(double& to, double x) { to = x; }
PLUMB_HOST_DEVICE void store(f16& to, float x) {
#if defined(__CUDA_ARCH__)
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#elif defined(PLUMB_HOST_HALF)
  to.bits = as<std::uint16_t>(static_cast<_Float16>(x));
#else
  to.bits = narrow<Half>(x);
#endif
}
PLUMB_HOST_DEVICE void store(bf16& to, float x) {
  const auto bits = as<std::uint32_t>(x);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  // half of the last place that stays, less what makes a tie even; a carry goes into the exponent, up to infinity
  const std::uint32_t rounded = nan ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
  to.bits = static_cast<std::uint16_t>(rounded >> 16);
}
#if !defined(__CUDA_ARCH__)
inline void store(e4m3& to, float x) { to.bits = narrow<E4m3>(x); }
inline void store(e5m2& to, float x) { to.bits = narrow<E5m2>(x); }
#endif
}  // namespace detail

/// x as an element of type E holds it.
template <class E, class V>
PLUMB_HOST_DEVICE E stored(V x) {
  E element;
  detail::store(element, x);
  return element;
}

/// The type of value(E): float, or double.
template <class E>
using value_t = decltype(value(E{}));

/// Whether an output of T holds sums without a rounding: else partial sums stand elsewhere.
template <class T>
inline constexpr bool kHoldsSums = kFormat<out_t<T>> == kFormat<scalar_t<T>>;

}  // namespace plumb
