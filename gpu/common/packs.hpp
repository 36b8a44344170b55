// Neighbours in memory that are moved together: loads of elements as they are stored, and stores of sums as an output holds them. For
// elements of any type. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/core/values.hpp"

namespace plumb {

/// N neighbours, at an address that is a multiple of their size or of 16 bytes.
template <class E, int N>
struct alignas(N * sizeof(E) < 16 ? N * sizeof(E) : 16) Pack {
  E at[N];
};

namespace detail {
template <int Bytes, class E>
struct WordOf;
template <class E>
struct WordOf<2, E> {
  using type = unsigned short;
};
template <class E>
struct WordOf<4, E> {
  using type = unsigned;
};
template <class E>
struct WordOf<8, E> {
  using type = uint2;
};
template <class E>
struct WordOf<16, E> {
  using type = uint4;
};
// in registers of their own kind: an fp64 number in two of 32 bits would be moved first
template <>
struct WordOf<4, float> {
  using type = float;
};
template <>
struct WordOf<8, float> {
  using type = float2;
};
template <>
struct WordOf<16, float> {
  using type = float4;
};
template <>
struct WordOf<8, double> {
  using type = double;
};
template <>
struct WordOf<16, double> {
  using type = double2;
};
/// What one instruction moves N elements as.
template <class E, int N>
using Word = typename WordOf<N* static_cast<int>(sizeof(E)), E>::type;

template <class W>
PLUMB_DEVICE void store_word(W* to, W word) {
  if constexpr (sizeof(W) > 4)
    store_global(to, word);
  else
    *to = word;
}
PLUMB_DEVICE void store_word(double* to, double word) { *to = word; }
}  // namespace detail

/// Elements of E in 16 bytes.
template <class E>
inline constexpr int kPackOf = 16 / static_cast<int>(sizeof(E));

/// p[0..N) by one load of up to 16 bytes, through the read-only path.
template <int N, class E>
PLUMB_DEVICE Pack<E, N> load_pack(const E* p) {
  return detail::as<Pack<E, N>>(__ldg(reinterpret_cast<const detail::Word<E, N>*>(p)));
}

/// *p through the read-only path, as a number.
template <class E>
PLUMB_DEVICE value_t<E> load_value(const E* p) {
  return value(load_pack<1>(p).at[0]);
}

/// The same of an element that is read once: it leaves the second-level cache first.
template <class E>
PLUMB_DEVICE value_t<E> load_value_once(const E* p) {
  return value(detail::as<Pack<E, 1>>(__ldcs(reinterpret_cast<const detail::Word<E, 1>*>(p))).at[0]);
}

/// Two numbers as neighbours of type f16 or bf16, by one instruction.
PLUMB_DEVICE unsigned pair_of(float low, float high, f16) {
#if defined(__CUDA_ARCH__)
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  return stored<f16>(low).bits | static_cast<unsigned>(stored<f16>(high).bits) << 16;
#endif
}
PLUMB_DEVICE unsigned pair_of(float low, float high, bf16) {
#if defined(__CUDA_ARCH__)
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  return stored<bf16>(low).bits | static_cast<unsigned>(stored<bf16>(high).bits) << 16;
#endif
}

/// N numbers as O stores them.
template <class O, int N, class V>
PLUMB_DEVICE Pack<O, N> stored_pack(const V* numbers) {
  Pack<O, N> pack;
  if constexpr (sizeof(O) == 2 && N > 1) {
    Pack<unsigned, N / 2> pairs;
#pragma unroll
    for (int i = 0; i < N / 2; ++i) pairs.at[i] = pair_of(numbers[2 * i], numbers[2 * i + 1], O{});
    pack = detail::as<Pack<O, N>>(pairs);
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) pack.at[i] = stored<O>(numbers[i]);
  }
  return pack;
}

/// to[0..N) = numbers, by stores of up to 16 bytes, on whose boundary `to` lies in global memory. `streamed` marks them as not read again soon,
/// so that they leave the caches first.
template <int N, class O, class V>
PLUMB_DEVICE void store_pack(O* to, const V* numbers, bool streamed = true) {
  constexpr int kOne = N < kPackOf<O> ? N : kPackOf<O>;
#pragma unroll
  for (int i = 0; i < N; i += kOne) {
    using Word = detail::Word<O, kOne>;
    const Word word = detail::as<Word>(stored_pack<O, kOne>(numbers + i));
    auto* const at = reinterpret_cast<Word*>(to + i);
    if (streamed)
      __stcs(at, word);
    else
      detail::store_word(at, word);
  }
}

/// *to = number, as store_pack() has it.
template <class O, class V>
PLUMB_DEVICE void store_value(O* to, V number, bool streamed = true) {
  store_pack<1>(to, &number, streamed);
}

}  // namespace plumb
