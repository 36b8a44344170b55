// What a kernel's variables hold that are declared without a value: rewrite/unset.py calls leave_unset() behind the declaration. A value
// that is set before it is read costs nothing, as the compiler leaves the first one out.
#pragma once
#include "gpu/simt/language/vector_types.hpp"

namespace plumb::simt {

/// No number, of a kind that no computation makes: a sum or product with it is the same again. memory/unset.cpp knows them by their bits.
/// Parts are components of vectors, of which some may be nobody's. The doubles are the same numbers.
constexpr unsigned kUnsetFloat = 0x7fdbeef1u, kUnsetPart = 0x7fdbeef3u;
constexpr unsigned long long kUnsetDouble = 0x7ffb7dde20000000ull, kUnsetDoublePart = 0x7ffb7dde60000000ull;

/// Bytes of integers, and of classes: those of the compiler's own pattern.
constexpr unsigned long long kUnsetBytes = 0xfefefefefefefefeull;

/// What a declaration leaves its variables with, and whether that has been asked for: a value that is set before it is read is not, as the
/// compiler leaves such code out. Each has an entry, which its instruction makes; a trial gives it another word (scheduler/unset_trial.cpp).
struct UnsetEntry {
  const void* place;  // behind the instruction
  unsigned long long word;
  unsigned char seen, of_class;
  unsigned char unused[6];
};

template <unsigned long long Bits, bool OfClass>
[[gnu::always_inline]] inline unsigned long long unset_word() {
#if defined(__x86_64__)
  unsigned long long word;
  __asm__(
      "movb $1, 880f+16(%%rip)\n\tmovq 880f+8(%%rip), %0\n881:\n\t"
      ".pushsection plumb_unset,\"aw?\",@progbits\n\t.balign 8\n"
      "880:\t.quad 881b\n\t.long %c1, %c2\n\t.byte 0, %c3, 0, 0, 0, 0, 0, 0\n\t.popsection"
      : "=r"(word)
      : "i"(static_cast<int>(Bits & 0xffffffffu)), "i"(static_cast<int>(Bits >> 32)), "i"(OfClass ? 1 : 0));
  return word;
#else
  return Bits;
#endif
}

constexpr decltype(sizeof(0)) kMostUnset = 1024;  // bytes; what is larger is left to the compiler's pattern

template <unsigned long long Bits, bool OfClass, class T>
[[gnu::always_inline]] constexpr void set_word(T& x) {
  if (__builtin_is_constant_evaluated() || sizeof(T) > kMostUnset) return;
  const unsigned long long word = unset_word<Bits, OfClass>();
  auto* const bytes = reinterpret_cast<unsigned char*>(&x);
  for (decltype(sizeof(0)) i = 0; i < sizeof(T); i += 8)
    __builtin_memcpy(bytes + i, &word, sizeof(T) - i < 8 ? sizeof(T) - i : 8);
}

constexpr unsigned long long twice(unsigned bits) {
  return static_cast<unsigned long long>(bits) << 32 | bits;
}

/// How a type is left unset, by its elements'. A class that makes its own value is left alone.
template <class T>
struct LeftUnset {
  [[gnu::always_inline]] static constexpr void leave(T& x) {
    if constexpr (__is_class(T) && __is_trivially_constructible(T) && __is_trivially_copyable(T)) {
      set_word<kUnsetBytes, true>(x);
    } else if constexpr (!__is_class(T) && !__is_union(T)) {
      set_word<kUnsetBytes, false>(x);
    }
  }
};
template <>
struct LeftUnset<bool> {  // any other byte than 0 and 1 is none
  [[gnu::always_inline]] static constexpr void leave(bool& x) {
    if (!__builtin_is_constant_evaluated()) x = (unset_word<kUnsetBytes, false>() >> 1 & 1) != 0;
  }
};
template <>
struct LeftUnset<float> {
  [[gnu::always_inline]] static constexpr void leave(float& x) { set_word<twice(kUnsetFloat), false>(x); }
};
template <>
struct LeftUnset<double> {
  [[gnu::always_inline]] static constexpr void leave(double& x) { set_word<kUnsetDouble, false>(x); }
};
#define PLUMB_SIMT_UNSET_VECTOR(T, bits)                                                  \
  template <>                                                                             \
  struct LeftUnset<T> {                                                                   \
    [[gnu::always_inline]] static constexpr void leave(T& x) { set_word<bits, true>(x); } \
  };
PLUMB_SIMT_UNSET_VECTOR(float2, twice(kUnsetPart))
PLUMB_SIMT_UNSET_VECTOR(float3, twice(kUnsetPart))
PLUMB_SIMT_UNSET_VECTOR(float4, twice(kUnsetPart))
PLUMB_SIMT_UNSET_VECTOR(double2, kUnsetDoublePart)
PLUMB_SIMT_UNSET_VECTOR(double3, kUnsetDoublePart)
PLUMB_SIMT_UNSET_VECTOR(double4, kUnsetDoublePart)
#undef PLUMB_SIMT_UNSET_VECTOR
template <class T, decltype(sizeof(0)) N>
struct LeftUnset<T[N]> {
  [[gnu::always_inline]] static constexpr void leave(T (&x)[N]) {
    if constexpr (N * sizeof(T) <= kMostUnset) {
      for (T& element : x) LeftUnset<T>::leave(element);
    }
  }
};
template <class T>
[[gnu::always_inline]] constexpr void leave_one_unset(T& x) {
  LeftUnset<T>::leave(x);
}
template <class... T>
[[gnu::always_inline]] constexpr void leave_unset(T&... variables) {
  (leave_one_unset(variables), ...);
}

}  // namespace plumb::simt
