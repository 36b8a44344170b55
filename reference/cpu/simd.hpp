// Vector registers as a type, through the compilers' vector extension. Separate because every
// register-tiled variant uses it: + and * work on whole registers, and contract to fused multiply-adds where
// the processor has them.
#pragma once
#include <cstring>

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

/// Loads and stores at any address.
template <class T>
void load(Vector<T>& to, const T* from) {
  std::memcpy(&to, from, sizeof(to));
}
template <class T>
void store(T* to, const Vector<T>& from) {
  std::memcpy(to, &from, sizeof(from));
}

}  // namespace plumb
