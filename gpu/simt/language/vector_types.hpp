// CUDA's built-in vector types and dim3, with CUDA's alignments, for the CPU executor. Apart from the shim
// because the executor itself, which is no kernel, needs dim3 too.
#pragma once

// CUDA's headers that are read as they are ask for these, to know that the others were read.
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __DEVICE_TYPES_H__
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#define PLUMB_SIMT_VECTOR(name, T, a1, a2, a3, a4)                      \
  struct alignas(a1) name##1 {                                          \
    T x;                                                                \
  };                                                                    \
  struct alignas(a2) name##2 {                                          \
    T x, y;                                                             \
  };                                                                    \
  struct alignas(a3) name##3 {                                          \
    T x, y, z;                                                          \
  };                                                                    \
  struct alignas(a4) name##4 {                                          \
    T x, y, z, w;                                                       \
  };                                                                    \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

PLUMB_SIMT_VECTOR(char, signed char, 1, 2, 1, 4)
PLUMB_SIMT_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
PLUMB_SIMT_VECTOR(short, short, 2, 4, 2, 8)
PLUMB_SIMT_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
PLUMB_SIMT_VECTOR(int, int, 4, 8, 4, 16)
PLUMB_SIMT_VECTOR(uint, unsigned, 4, 8, 4, 16)
PLUMB_SIMT_VECTOR(long, long, 8, 16, 8, 16)
PLUMB_SIMT_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
PLUMB_SIMT_VECTOR(longlong, long long, 8, 16, 8, 16)
PLUMB_SIMT_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
PLUMB_SIMT_VECTOR(float, float, 4, 8, 4, 16)
PLUMB_SIMT_VECTOR(double, double, 8, 16, 8, 16)
#undef PLUMB_SIMT_VECTOR
// Vectors of four numbers of 64 bits whose names say how they are aligned.
#define PLUMB_SIMT_ALIGNED(name, T, bytes)   \
  struct alignas(bytes) name##4_##bytes##a { \
    T x, y, z, w;                            \
  };                                         \
  constexpr name##4_##bytes##a make_##name##4_##bytes##a(T x, T y, T z, T w) { return {x, y, z, w}; }
PLUMB_SIMT_ALIGNED(long, long, 16)
PLUMB_SIMT_ALIGNED(long, long, 32)
PLUMB_SIMT_ALIGNED(ulong, unsigned long, 16)
PLUMB_SIMT_ALIGNED(ulong, unsigned long, 32)
PLUMB_SIMT_ALIGNED(longlong, long long, 16)
PLUMB_SIMT_ALIGNED(longlong, long long, 32)
PLUMB_SIMT_ALIGNED(ulonglong, unsigned long long, 16)
PLUMB_SIMT_ALIGNED(ulonglong, unsigned long long, 32)
PLUMB_SIMT_ALIGNED(double, double, 16)
PLUMB_SIMT_ALIGNED(double, double, 32)
#undef PLUMB_SIMT_ALIGNED

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
