// What a kernel's variables hold that are declared without a value: rewrite/unset.py calls leave_unset() behind the declaration. A value
// that is set before it is read costs nothing, as the compiler leaves the first one out.
#pragma once

namespace plumb::simt {

/// No number, of a kind that no computation makes: a sum or product with it is the same again. memory/unset.cpp knows the two by their bits.
constexpr unsigned kUnsetFloat = 0x7fdbeef1u;
/// The same number.
constexpr unsigned long long kUnsetDouble = 0x7ffb7dde20000000ull;

/// Integers and classes are left to the compiler's own pattern (-ftrivial-auto-var-init): any bits are a value of theirs, and a class may
/// have members that nobody uses.
template <class T>
[[gnu::always_inline]] constexpr void leave_one_unset(T&) {}
[[gnu::always_inline]] constexpr void leave_one_unset(float& x) {
  if (!__builtin_is_constant_evaluated()) __builtin_memcpy(&x, &kUnsetFloat, sizeof x);
}
[[gnu::always_inline]] constexpr void leave_one_unset(double& x) {
  if (!__builtin_is_constant_evaluated()) __builtin_memcpy(&x, &kUnsetDouble, sizeof x);
}
template <class T, decltype(sizeof(0)) N>
[[gnu::always_inline]] constexpr void leave_one_unset(T (&x)[N]) {
  for (T& element : x) leave_one_unset(element);
}
template <class... T>
[[gnu::always_inline]] constexpr void leave_unset(T&... variables) {
  (leave_one_unset(variables), ...);
}

}  // namespace plumb::simt
