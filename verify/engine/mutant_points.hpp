// What a mutant schema is written with (tools/mutate): a source file in which every place that can be mutated asks, at run time,
// whether one of its mutants is in force. A place's mutants have consecutive numbers from `first` on; number 0 is the original.
// Operands are evaluated once, in the original's way, whichever mutant is in force. C++17 and lean: kernels for the CPU executor
// include it.
//
// In a constant expression every place is its original: what is used at compile time cannot be switched. A place that does not
// apply to the types of an instantiation says so, so that it is not taken for one that no case reaches.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

extern "C" {
/// Notes that the places were reached. Returns which of the `count` mutants is in force, or -1.
int plumb_mutant_at(int first, int count) noexcept;
/// Notes that these mutants do not apply to the types at hand.
void plumb_mutant_absent(int first, int count) noexcept;
}

#define PLUMB_MUTATE_INLINE __attribute__((always_inline)) constexpr

namespace plumb::mutate {

PLUMB_MUTATE_INLINE int at(int first, int count) {
  return __builtin_is_constant_evaluated() ? -1 : plumb_mutant_at(first, count);
}
PLUMB_MUTATE_INLINE void absent(int first, int count) {
  if (!__builtin_is_constant_evaluated()) plumb_mutant_absent(first, count);
}

/// One mutant: the statement or the operand is left out.
PLUMB_MUTATE_INLINE bool deleted(int first) { return at(first, 1) == 0; }

// ---- operators ----

#define PLUMB_MUTATE_OPERATOR(NAME, SIGN)                                                  \
  struct NAME {                                                                            \
    template <class A, class B>                                                            \
    __attribute__((always_inline)) constexpr auto operator()(const A& a, const B& b) const \
        -> decltype(a SIGN b) {                                                            \
      return a SIGN b;                                                                     \
    }                                                                                      \
  };
PLUMB_MUTATE_OPERATOR(Less, <)
PLUMB_MUTATE_OPERATOR(LessEqual, <=)
PLUMB_MUTATE_OPERATOR(Greater, >)
PLUMB_MUTATE_OPERATOR(GreaterEqual, >=)
PLUMB_MUTATE_OPERATOR(Equal, ==)
PLUMB_MUTATE_OPERATOR(NotEqual, !=)
PLUMB_MUTATE_OPERATOR(Plus, +)
PLUMB_MUTATE_OPERATOR(Minus, -)
PLUMB_MUTATE_OPERATOR(Times, *)
PLUMB_MUTATE_OPERATOR(Over, /)
PLUMB_MUTATE_OPERATOR(Modulo, %)
PLUMB_MUTATE_OPERATOR(And, &)
PLUMB_MUTATE_OPERATOR(Or, |)
PLUMB_MUTATE_OPERATOR(Xor, ^)
PLUMB_MUTATE_OPERATOR(Left, <<)
PLUMB_MUTATE_OPERATOR(Right, >>)
#undef PLUMB_MUTATE_OPERATOR

/// What a mutant of these operands gives, as the original's type R; with none in force, or one that does not apply, the original.
template <class R, class Original, class Next, class... Rest, class A, class B>
PLUMB_MUTATE_INLINE R pick(int which, int number, const A& a, const B& b) {
  if constexpr (std::is_invocable_r_v<R, Next, const A&, const B&>) {
    if (which == 0) return static_cast<R>(Next{}(a, b));
  } else {
    absent(number, 1);
  }
  if constexpr (sizeof...(Rest) > 0)
    return pick<R, Original, Rest...>(which - 1, number + 1, a, b);
  else
    return Original{}(a, b);
}

/// a Original b; each of Others is a mutant.
template <class Original, class... Others, class A, class B>
PLUMB_MUTATE_INLINE auto binary(int first, const A& a, const B& b)
    -> std::decay_t<decltype(Original{}(a, b))> {
  using R = std::decay_t<decltype(Original{}(a, b))>;
  return pick<R, Original, Others...>(at(first, sizeof...(Others)), first, a, b);
}

/// a && b(), or with the mutant a || b(); b() is called where the operator in force calls for it.
template <class B>
PLUMB_MUTATE_INLINE bool both(int first, bool a, const B& b) {
  return at(first, 1) == 0 ? a || b() : a && b();
}
template <class B>
PLUMB_MUTATE_INLINE bool either(int first, bool a, const B& b) {
  return at(first, 1) == 0 ? a && b() : a || b();
}

/// Original(arguments), or with the mutant Other(arguments).
template <class Original, class Other, class... A>
PLUMB_MUTATE_INLINE auto call(int first, const Original& original, const Other& other, const A&... a)
    -> std::decay_t<decltype(original(a...))> {
  using R = std::decay_t<decltype(original(a...))>;
  return at(first, 1) == 0 ? static_cast<R>(other(a...)) : static_cast<R>(original(a...));
}

// ---- values ----

template <class V>
inline constexpr bool is_number_v = std::is_arithmetic_v<V> && !std::is_same_v<V, bool>;

/// One more; with the second mutant one less.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> off(int first, const V& v, int count = 2) {
  using R = std::decay_t<const V>;
  if constexpr (is_number_v<R>) {
    const int which = at(first, count);
    if (which == 0) return static_cast<R>(v + 1);
    if (which == 1) return static_cast<R>(v - 1);
  } else {
    absent(first, count);
  }
  return v;
}

/// Where a sum begins: one instead of nothing.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> uncleared(int first, const V& v) {
  return off(first, v, 1);
}

/// Half of a width of lanes.
template <class V>
PLUMB_MUTATE_INLINE V halved(int first, const V& v) {
  return at(first, 1) == 0 ? static_cast<V>(v / 2) : v;
}

/// A mask of lanes without its last, or without its first.
PLUMB_MUTATE_INLINE unsigned mask(int first, unsigned v) {
  const int which = at(first, 2);
  return which == 0 ? v & 0x7fffffffu : which == 1 ? v & ~1u : v;
}

/// A condition: negated, always true.
PLUMB_MUTATE_INLINE bool condition(int first, bool v, int count) {
  const int which = at(first, count);
  return which == 0 ? !v : which == 1 || v;
}

/// Minus v, or v.
template <class V>
PLUMB_MUTATE_INLINE auto negative(int first, const V& v) {
  using R = std::decay_t<decltype(-v)>;
  if constexpr (is_number_v<R>) {
    if (at(first, 1) == 0) return static_cast<R>(v);
  } else {
    absent(first, 1);
  }
  return static_cast<R>(-v);
}

/// A scalar of the contract: ignored (1), applied twice.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> scalar(int first, const V& v) {
  using R = std::decay_t<const V>;
  if constexpr (is_number_v<R>) {
    const int which = at(first, 2);
    if (which == 0) return R(1);
    if (which == 1) return static_cast<R>(v * v);
  } else {
    absent(first, 2);
  }
  return v;
}

/// Rounded to half precision: 11 bits, infinite beyond 65504, nothing below 2^-25.
inline float to_half(float v) {
  std::uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  if ((bits & 0x7f800000u) == 0x7f800000u) return v;
  bits += 0xfffu + ((bits >> 13) & 1u);
  bits &= ~0x1fffu;
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  const float size = rounded < 0 ? -rounded : rounded;
  if (size > 65504.0f) return rounded * __builtin_inff();
  return size < 0x1p-25f ? 0 * v : rounded;
}

/// The value in the width of Narrow, with V's sign.
template <class Narrow, class V>
PLUMB_MUTATE_INLINE V through(const V& v) {
  if constexpr (std::is_signed_v<V>)
    return static_cast<V>(static_cast<Narrow>(v));
  else
    return static_cast<V>(static_cast<std::make_unsigned_t<Narrow>>(v));
}

/// Through a narrower type: int to 16 bits, double to float, float to half. The second mutant: int64 to 32 bits.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> narrow(int first, const V& v) {
  using R = std::decay_t<const V>;
  if constexpr (std::is_integral_v<R> && sizeof(R) >= 4) {
    const int which = at(first, sizeof(R) == 8 ? 2 : 1);
    if constexpr (sizeof(R) == 4) absent(first + 1, 1);
    if (which == 0) return through<std::int16_t>(v);
    if (which == 1) return through<std::int32_t>(v);
  } else if constexpr (std::is_same_v<R, double> || std::is_same_v<R, float>) {
    absent(first + 1, 1);
    if (at(first, 1) == 0) {
      if constexpr (std::is_same_v<R, float>)
        return to_half(v);
      else
        return static_cast<float>(v);
    }
  } else {
    absent(first, 2);
  }
  return v;
}

// ---- assignments ----

/// to = v; with the mutant to += v.
template <class To, class V>
PLUMB_MUTATE_INLINE To& assign(int first, To& to, const V& v) {
  if constexpr (is_number_v<std::remove_cv_t<To>> && is_number_v<V>) {
    if (at(first, 1) == 0) return to = static_cast<To>(to + v);
  } else {
    absent(first, 1);
  }
  to = v;
  return to;
}

/// to = to Operation v; with the mutant to = v.
template <class Operation, class To, class V>
PLUMB_MUTATE_INLINE To& update(int first, To& to, const V& v) {
  if constexpr (is_number_v<std::remove_cv_t<To>> && is_number_v<V>) {
    if (at(first, 1) == 0)
      to = static_cast<To>(v);
    else
      to = static_cast<To>(Operation{}(to, v));
  } else {
    absent(first, 1);
    to = Operation{}(to, v);
  }
  return to;
}

}  // namespace plumb::mutate
