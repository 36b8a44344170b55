// What a kernel's variables hold that are declared without a value: rewrite/unset.py calls leave_unset() behind the declaration. A value
// that is set before it is read costs nothing, as the compiler leaves the first one out.
#pragma once
#include "gpu/simt/language/vector_types.hpp"

namespace plumb::simt {

/// No number, of a kind that no computation makes: a sum or product with it is the same again. memory/unset.cpp knows them by their bits.
/// Parts are components of vectors, of which some may be nobody's. The doubles are the same numbers.
constexpr unsigned kUnsetFloat = 0x7fdbeef1u, kUnsetPart = 0x7fdbeef3u;
constexpr unsigned long long kUnsetDouble = 0x7ffb7dde20000000ull, kUnsetDoublePart = 0x7ffb7dde60000000ull;

template <class T, class Bits>
[[gnu::always_inline]] constexpr void set_bits(T& x, const Bits& bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  if (!__builtin_is_constant_evaluated()) __builtin_memcpy(&x, &bits, sizeof x);
}

/// Integers and classes are left to the compiler's own pattern (-ftrivial-auto-var-init): any bits are a value of theirs, and a class may
/// have members that nobody uses.
template <class T>
[[gnu::always_inline]] constexpr void leave_one_unset(T&) {}
[[gnu::always_inline]] constexpr void leave_one_unset(float& x) { set_bits(x, kUnsetFloat); }
[[gnu::always_inline]] constexpr void leave_one_unset(double& x) { set_bits(x, kUnsetDouble); }
#define PLUMB_SIMT_UNSET_VECTORS(T, bits)                                               \
  [[gnu::always_inline]] constexpr void leave_one_unset(T##2 & v) {                     \
    set_bits(v.x, bits), set_bits(v.y, bits);                                           \
  }                                                                                     \
  [[gnu::always_inline]] constexpr void leave_one_unset(T##3 & v) {                     \
    set_bits(v.x, bits), set_bits(v.y, bits), set_bits(v.z, bits);                      \
  }                                                                                     \
  [[gnu::always_inline]] constexpr void leave_one_unset(T##4 & v) {                     \
    set_bits(v.x, bits), set_bits(v.y, bits), set_bits(v.z, bits), set_bits(v.w, bits); \
  }
PLUMB_SIMT_UNSET_VECTORS(float, kUnsetPart)
PLUMB_SIMT_UNSET_VECTORS(double, kUnsetDoublePart)
#undef PLUMB_SIMT_UNSET_VECTORS
template <class T, decltype(sizeof(0)) N>
[[gnu::always_inline]] constexpr void leave_one_unset(T (&x)[N]) {
  for (T& element : x) leave_one_unset(element);
}
template <class... T>
[[gnu::always_inline]] constexpr void leave_unset(T&... variables) {
  (leave_one_unset(variables), ...);
}

}  // namespace plumb::simt
