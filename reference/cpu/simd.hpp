// Vector registers as a type, through the compilers' vector extension. Separate because every
// register-tiled variant uses it: + and * work on whole registers, and contract to fused multiply-adds where
// the processor has them.
#pragma once
#include <cstdint>
#include <cstring>

#include "reference/core/values.hpp"

namespace plumb {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kVectorRegisters = 32;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kVectorRegisters = 16;
#elif defined(__aarch64__)
inline constexpr int kVectorBytes = 16, kVectorRegisters = 32;
#else
inline constexpr int kVectorBytes = 16, kVectorRegisters = 16;
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using type = float __attribute__((vector_size(kVectorBytes)));
};
template <>
struct VectorOf<double> {
  using type = double __attribute__((vector_size(kVectorBytes)));
};

/// One vector register of T.
template <class T>
using Vector = typename VectorOf<T>::type;

/// Elements of T in one register.
template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

/// Integers of the width of a lane each, one for a lane.
template <class T>
using LaneNumbers = decltype(Vector<T>{} < Vector<T>{});

/// Loads and stores at any address.
template <class T>
void load(Vector<T>& to, const T* from) {
  std::memcpy(&to, from, sizeof(to));
}
template <class T>
void store(T* to, const Vector<T>& from) {
  std::memcpy(to, &from, sizeof(from));
}

/// Loads kLanes<V> elements of any type, widened; and stores them, rounded once.
template <class V, class E>
void load_values(Vector<V>& to, const E* from) {
  if constexpr (kFormat<E> == kFormat<V>) {
    load<V>(to, from);
  } else {
    V wide[kLanes<V>];
    for (int l = 0; l < kLanes<V>; ++l) wide[l] = value(from[l]);
    load<V>(to, wide);
  }
}
template <class V, class E>
void store_values(E* to, const Vector<V>& from) {
  if constexpr (kFormat<E> == kFormat<V>) {
    store<V>(to, from);
  } else {
    for (int l = 0; l < kLanes<V>; ++l) to[l] = stored<E>(from[l]);
  }
}

/// N lanes of T.
template <class T, int N>
struct Lanes {
  using type [[gnu::vector_size(N * sizeof(T))]] = T;
};

/// The sum of N lanes, by halves, in registers.
template <class T, int N>
T sum_of_lanes(const typename Lanes<T, N>::type& v) {
  if constexpr (N == 2) {
    return v[0] + v[1];
  } else {
    typename Lanes<T, N / 2>::type half[2];
    std::memcpy(half, &v, sizeof v);
    return sum_of_lanes<T, N / 2>(half[0] + half[1]);
  }
}

/// Lane l is lane index[l], modulo 2 kLanes<T>, of `a` and `b` behind one another.
template <class T, class Index>
Vector<T> picked(const Vector<T>& a, const Vector<T>& b, const Index& index) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_shuffle(a, b, index);
#else  // clang has no shuffle by a register for all widths
  Vector<T> to{};
  for (int l = 0; l < kLanes<T>; ++l) {
    const auto from = index[l] & (2 * kLanes<T> - 1);
    to[l] = from < kLanes<T> ? a[from] : b[from - kLanes<T>];
  }
  return to;
#endif
}

/// Lane l is table[index[l] modulo kLanes<T>].
template <class T, class Index>
Vector<T> looked_up(const Vector<T>& table, const Index& index) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_shuffle(table, index);
#else
  Vector<T> to{};
  for (int l = 0; l < kLanes<T>; ++l) to[l] = table[index[l] & (kLanes<T> - 1)];
  return to;
#endif
}

/// In each 2 W lanes: W sums of two lanes W apart of `a`, and then those of `b`.
template <int W, class T>
Vector<T> folded(const Vector<T>& a, const Vector<T>& b) {
  LaneNumbers<T> low{};
  for (int l = 0; l < kLanes<T>; ++l) low[l] = l % (2 * W) < W ? l : l - W + kLanes<T>;
  return picked<T>(a, b, low) + picked<T>(a, b, low + W);
}

/// Folds C vectors, each of kLanes / C groups of C lanes, until C lanes of each group are the group's sums in the order of the vectors.
template <int C, class T>
Vector<T> sums_of_groups(Vector<T>* v) {
  if constexpr (C == 1) {
    return v[0];
  } else {
    for (int i = 0; i < C / 2; ++i) v[i] = folded<C / 2, T>(v[i], v[i + C / 2]);
    return sums_of_groups<C / 2, T>(v);
  }
}

}  // namespace plumb
