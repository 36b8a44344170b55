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
/// Notes that the places were reached and that each of their mutants does something. Returns which of the `count` mutants is in force,
/// or -1.
int plumb_mutant_at(int first, int count) noexcept;
/// Notes that the places were reached. As above; kAsking where the original runs: the place then says by plumb_mutant_felt which of its
/// mutants would have given something else, so that no run is spent on those that would not.
int plumb_mutant_asked(int first, int count) noexcept;
void plumb_mutant_felt(int number) noexcept;
/// Notes that these mutants do not apply to the types at hand.
void plumb_mutant_absent(int first, int count) noexcept;
}

#define PLUMB_MUTATE_INLINE __attribute__((always_inline)) constexpr

namespace plumb::mutate {

inline constexpr int kAsking = -2;

/// Leaves the place's number in the program, in section .plumb_places, where its code is: what the arguments of a template leave out has
/// none, and its mutants are no other program. Not where nothing is optimised: first is no constant there.
__attribute__((always_inline)) inline void mark(int first) {
  if (__builtin_constant_p(first))
    __asm__ volatile(".pushsection .plumb_places,\"\",@progbits\n\t.long %c0\n\t.popsection" : : "i"(first));
}

PLUMB_MUTATE_INLINE int at(int first, int count) {
  if (__builtin_is_constant_evaluated()) return -1;
  mark(first);
  return plumb_mutant_at(first, count);
}
PLUMB_MUTATE_INLINE void absent(int first, int count) {
  if (!__builtin_is_constant_evaluated()) plumb_mutant_absent(first, count);
}

PLUMB_MUTATE_INLINE int asked(int first, int count) {
  if (__builtin_is_constant_evaluated()) return -1;
  mark(first);
  return plumb_mutant_asked(first, count);
}

/// Where the original runs: mutant `number` would have given `other` instead of `value`. Values of classes count as different.
template <class V>
PLUMB_MUTATE_INLINE void compare(int number, const V& value, const V& other) {
  if constexpr (std::is_scalar_v<V>) {
    if (__builtin_memcmp(&value, &other, sizeof(V)) == 0) return;
  }
  plumb_mutant_felt(number);
}

/// The value that `which` chooses among a mutant's and the next's, down to the original.
template <class V>
PLUMB_MUTATE_INLINE V choose(int first, int which, const V& value, const V& other) {
  if (which == 0) return other;
  if (which == kAsking) compare(first, value, other);
  return value;
}
template <class V>
PLUMB_MUTATE_INLINE V choose(int first, int which, const V& value, const V& other, const V& second) {
  if (which == 1) return second;
  if (which == kAsking) compare(first + 1, value, second);
  return choose(first, which, value, other);
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
template <class R, class Next, class... Rest, class A, class B>
PLUMB_MUTATE_INLINE R pick(int which, int place, int number, const R& original, const A& a, const B& b) {
  if constexpr (std::is_invocable_r_v<R, Next, const A&, const B&>) {
    if (which == place) return static_cast<R>(Next{}(a, b));
    if (which == kAsking) compare(number, original, static_cast<R>(Next{}(a, b)));
  } else {
    absent(number, 1);
  }
  if constexpr (sizeof...(Rest) > 0)
    return pick<R, Rest...>(which, place + 1, number + 1, original, a, b);
  else
    return original;
}

/// a Original b; each of Others is a mutant.
template <class Original, class... Others, class A, class B>
PLUMB_MUTATE_INLINE auto binary(int first, const A& a, const B& b)
    -> std::decay_t<decltype(Original{}(a, b))> {
  using R = std::decay_t<decltype(Original{}(a, b))>;
  return pick<R, Others...>(asked(first, sizeof...(Others)), 0, first, Original{}(a, b), a, b);
}

/// a && b(), or with the mutants a || b(), a, b(); b() is called where the operator in force calls for it.
template <class B>
PLUMB_MUTATE_INLINE bool both(int first, bool a, const B& b) {
  const int which = asked(first, 3);
  if (which == 0) return a || b();
  if (which == 1) return a;
  if (which == 2) return b();
  const bool value = a && b();
  if (which == kAsking) {  // what b() would be where a is false is not asked
    if (!a || !value) plumb_mutant_felt(first);
    if (a && !value) plumb_mutant_felt(first + 1);
    if (!a) plumb_mutant_felt(first + 2);
  }
  return value;
}
/// a || b(), or with the mutants a && b(), a, b().
template <class B>
PLUMB_MUTATE_INLINE bool either(int first, bool a, const B& b) {
  const int which = asked(first, 3);
  if (which == 0) return a && b();
  if (which == 1) return a;
  if (which == 2) return b();
  const bool value = a || b();
  if (which == kAsking) {
    if (a || value) plumb_mutant_felt(first);
    if (!a && value) plumb_mutant_felt(first + 1);
    if (a) plumb_mutant_felt(first + 2);
  }
  return value;
}

/// Original(arguments), or with the mutant Other(arguments).
template <class Original, class Other, class... A>
PLUMB_MUTATE_INLINE auto call(int first, const Original& original, const Other& other, const A&... a)
    -> std::decay_t<decltype(original(a...))> {
  using R = std::decay_t<decltype(original(a...))>;
  return at(first, 1) == 0 ? static_cast<R>(other(a...)) : static_cast<R>(original(a...));
}
/// The same with two mutants.
template <class Original, class Other, class Second, class... A>
PLUMB_MUTATE_INLINE auto call2(int first, const Original& original, const Other& other, const Second& second,
                               const A&... a) -> std::decay_t<decltype(original(a...))> {
  using R = std::decay_t<decltype(original(a...))>;
  const int which = at(first, 2);
  return which == 0   ? static_cast<R>(other(a...))
         : which == 1 ? static_cast<R>(second(a...))
                      : static_cast<R>(original(a...));
}
/// The same of functions that change nothing: both are called where the original runs.
template <class Original, class Other, class... A>
PLUMB_MUTATE_INLINE auto pure(int first, const Original& original, const Other& other, const A&... a)
    -> std::decay_t<decltype(original(a...))> {
  using R = std::decay_t<decltype(original(a...))>;
  const int which = asked(first, 1);
  if (which == 0) return static_cast<R>(other(a...));
  const R value = original(a...);
  if (which == kAsking) compare(first, value, static_cast<R>(other(a...)));
  return value;
}

// ---- values ----

template <class V>
inline constexpr bool is_number_v = std::is_arithmetic_v<V> && !std::is_same_v<V, bool>;

/// `step` more; with the second mutant, where there are two, `step` less.
template <class V, class S>
PLUMB_MUTATE_INLINE std::decay_t<const V> by(int first, const V& v, const S& step, int count = 2) {
  using R = std::decay_t<const V>;
  if constexpr (is_number_v<R> && is_number_v<S>) {
    const int which = asked(first, count);
    if (count > 1) return choose<R>(first, which, v, static_cast<R>(v + step), static_cast<R>(v - step));
    return choose<R>(first, which, v, static_cast<R>(v + step));
  } else {
    absent(first, count);
    return v;
  }
}

/// One more; with the second mutant one less.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> off(int first, const V& v, int count = 2) {
  return by(first, v, 1, count);
}

/// Where a sum begins: one instead of nothing.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> uncleared(int first, const V& v) {
  return off(first, v, 1);
}

/// Half of a width of lanes.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> halved(int first, const V& v) {
  return choose<std::decay_t<const V>>(first, asked(first, 1), v, v / 2);
}

/// The other parity of a phase.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> flipped(int first, const V& v) {
  return choose<std::decay_t<const V>>(first, asked(first, 1), v, v ^ 1);
}

/// A mask of lanes without its last, or without its first.
PLUMB_MUTATE_INLINE unsigned mask(int first, unsigned v) {
  return choose(first, asked(first, 2), v, v & 0x7fffffffu, v & ~1u);
}

/// A condition: negated, always true.
PLUMB_MUTATE_INLINE bool condition(int first, bool v, int count) {
  const int which = asked(first, count);
  return count > 1 ? choose<bool>(first, which, v, !v, true) : choose<bool>(first, which, v, !v);
}

/// Minus v, or v.
template <class V>
PLUMB_MUTATE_INLINE auto negative(int first, const V& v) {
  using R = std::decay_t<decltype(-v)>;
  if constexpr (is_number_v<R>) {
    return choose(first, asked(first, 1), static_cast<R>(-v), static_cast<R>(v));
  } else {
    absent(first, 1);
    return static_cast<R>(-v);
  }
}

/// A scalar of the contract: ignored (1), applied twice.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> scalar(int first, const V& v) {
  using R = std::decay_t<const V>;
  if constexpr (is_number_v<R>) {
    return choose<R>(first, asked(first, 2), v, R(1), static_cast<R>(v * v));
  } else {
    absent(first, 2);
    return v;
  }
}

/// An order of memory, or with the mutant a weaker one.
template <class Order>
PLUMB_MUTATE_INLINE Order order(int first, Order v, Order weaker) {
  return at(first, 1) == 0 ? weaker : v;
}

/// What a volatile variable holds, read plainly with the mutant.
template <class V>
PLUMB_MUTATE_INLINE V plainly(int first, const volatile V& v) {
  return at(first, 1) == 0 ? const_cast<const V&>(v) : v;
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

/// The value through the next narrower type that the mutants are made for: int to 16 bits, double to float, float to half.
template <class V>
PLUMB_MUTATE_INLINE V narrower(const V& v) {
  if constexpr (std::is_integral_v<V>)
    return through<std::int16_t>(v);
  else if constexpr (std::is_same_v<V, float>)
    return to_half(v);
  else
    return static_cast<float>(v);
}

/// Through a narrower type. The second mutant: int64 to 32 bits.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> narrow(int first, const V& v) {
  using R = std::decay_t<const V>;
  constexpr bool whole = std::is_integral_v<R> && sizeof(R) >= 4;
  if constexpr (whole && sizeof(R) == 8) {
    return choose<R>(first, asked(first, 2), v, narrower<R>(v), through<std::int32_t, R>(v));
  } else if constexpr (whole || std::is_same_v<R, double> || std::is_same_v<R, float>) {
    absent(first + 1, 1);
    const int which = asked(first, 1);
    return which == -1 ? v : choose<R>(first, which, v, narrower<R>(v));
  } else {
    absent(first, 2);
    return v;
  }
}
/// The same of a constant: one that the narrower type holds has no such mutant.
template <class V>
PLUMB_MUTATE_INLINE std::decay_t<const V> narrow_constant(int first, const V& v) {
  using R = std::decay_t<const V>;
  if constexpr (is_number_v<R>) {
    if (__builtin_is_constant_evaluated()) return v;
    if constexpr (sizeof(R) >= 4 && (std::is_integral_v<R> || sizeof(R) <= 8)) {
      if (narrower<R>(v) == v) {
        absent(first, 2);
        return v;
      }
    }
  }
  return narrow(first, v);
}
/// The same of a value whose size is at most `size`, which is constant.
template <class V, class S>
PLUMB_MUTATE_INLINE std::decay_t<const V> narrow_within(int first, const V& v, const S& size) {
  if constexpr (std::is_integral_v<std::decay_t<const V>> && std::is_integral_v<S>) {
    if (!__builtin_is_constant_evaluated() &&
        through<std::int16_t>(static_cast<std::int64_t>(size)) == size) {
      absent(first, 2);
      return v;
    }
  }
  return narrow(first, v);
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

/// The same of a volatile variable; the second mutant writes it plainly.
template <class To, class V>
PLUMB_MUTATE_INLINE void assign_volatile(int first, volatile To& to, const V& v) {
  const int which = at(first, 2);
  if (which == 0)
    to = static_cast<To>(to + v);
  else if (which == 1)
    const_cast<To&>(to) = v;
  else
    to = v;
}

/// to = to Operation v; with the mutant to = v.
template <class Operation, class To, class V>
PLUMB_MUTATE_INLINE To& update(int first, To& to, const V& v) {
  using R = std::remove_cv_t<To>;
  if constexpr (is_number_v<R> && is_number_v<V>) {
    const int which = asked(first, 1);
    if (which == 0) return to = static_cast<R>(v);
    const R value = static_cast<R>(Operation{}(to, v));
    if (which == kAsking) compare(first, value, static_cast<R>(v));
    to = value;
  } else {
    absent(first, 1);
    to = Operation{}(to, v);
  }
  return to;
}

}  // namespace plumb::mutate
