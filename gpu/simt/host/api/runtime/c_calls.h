// The runtime as C files of a program call it, by functions without C++'s overloads: c_calls.cpp hands each to the call of that name.
#pragma once
#include "gpu/simt/host/api/runtime/plain_types.h"

// X(result, name, parameters, arguments); `here` stands for the place of the call, which C does not tell.
#define PLUMB_C_CALLS(X)                                                                              \
  X(cudaError_t, cudaGetLastError, (void), ())                                                        \
  X(cudaError_t, cudaPeekAtLastError, (void), ())                                                     \
  X(const char*, cudaGetErrorString, (cudaError_t e), (e))                                            \
  X(const char*, cudaGetErrorName, (cudaError_t e), (e))                                              \
  X(cudaError_t, cudaDeviceSynchronize, (void), ())                                                   \
  X(cudaError_t, cudaThreadSynchronize, (void), ())                                                   \
  X(cudaError_t, cudaDeviceReset, (void), ())                                                         \
  X(cudaError_t, cudaThreadExit, (void), ())                                                          \
  X(cudaError_t, cudaSetDevice, (int device), (device))                                               \
  X(cudaError_t, cudaGetDevice, (int* device), (device))                                              \
  X(cudaError_t, cudaGetDeviceCount, (int* count), (count))                                           \
  X(cudaError_t, cudaGetDeviceProperties, (struct cudaDeviceProp * p, int device), (p, device))       \
  X(cudaError_t, cudaDeviceGetAttribute, (int* value, enum cudaDeviceAttr a, int device),             \
    (value, a, device))                                                                               \
  X(cudaError_t, cudaSetDeviceFlags, (unsigned flags), (flags))                                       \
  X(cudaError_t, cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), (limit, value))            \
  X(cudaError_t, cudaDeviceGetLimit, (size_t * value, enum cudaLimit limit), (value, limit))          \
  X(cudaError_t, cudaMemGetInfo, (size_t * unused, size_t * total), (unused, total))                  \
  X(cudaError_t, cudaProfilerStart, (void), ())                                                       \
  X(cudaError_t, cudaProfilerStop, (void), ())                                                        \
  X(cudaError_t, cudaMalloc, (void** p, size_t bytes), (p, bytes))                                    \
  X(cudaError_t, cudaMallocManaged, (void** p, size_t bytes, unsigned flags), (p, bytes, flags))      \
  X(cudaError_t, cudaMallocAsync, (void** p, size_t bytes, cudaStream_t s), (p, bytes, s, here))      \
  X(cudaError_t, cudaMallocHost, (void** p, size_t bytes), (p, bytes))                                \
  X(cudaError_t, cudaHostAlloc, (void** p, size_t bytes, unsigned flags), (p, bytes, flags))          \
  X(cudaError_t, cudaMallocPitch, (void** p, size_t* pitch, size_t width, size_t height),             \
    (p, pitch, width, height))                                                                        \
  X(cudaError_t, cudaFree, (void* p), (p))                                                            \
  X(cudaError_t, cudaFreeAsync, (void* p, cudaStream_t s), (p, s, here))                              \
  X(cudaError_t, cudaFreeHost, (void* p), (p))                                                        \
  X(cudaError_t, cudaHostRegister, (void* p, size_t bytes, unsigned flags), (p, bytes, flags))        \
  X(cudaError_t, cudaHostUnregister, (void* p), (p))                                                  \
  X(cudaError_t, cudaHostGetDevicePointer, (void** p, void* host, unsigned flags), (p, host, flags))  \
  X(cudaError_t, cudaPointerGetAttributes, (struct cudaPointerAttributes * a, const void* p), (a, p)) \
  X(cudaError_t, cudaMemcpy, (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind),    \
    (to, from, bytes, kind, here))                                                                    \
  X(cudaError_t, cudaMemcpyAsync,                                                                     \
    (void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s),             \
    (to, from, bytes, kind, s, here))                                                                 \
  X(cudaError_t, cudaMemcpy2D,                                                                        \
    (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,     \
     enum cudaMemcpyKind kind),                                                                       \
    (to, to_pitch, from, from_pitch, width, height, kind, here))                                      \
  X(cudaError_t, cudaMemcpy2DAsync,                                                                   \
    (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,     \
     enum cudaMemcpyKind kind, cudaStream_t s),                                                       \
    (to, to_pitch, from, from_pitch, width, height, kind, s, here))                                   \
  X(cudaError_t, cudaMemset, (void* p, int byte, size_t bytes), (p, byte, bytes, here))               \
  X(cudaError_t, cudaMemsetAsync, (void* p, int byte, size_t bytes, cudaStream_t s),                  \
    (p, byte, bytes, s, here))                                                                        \
  X(cudaError_t, cudaMemset2D, (void* p, size_t pitch, int byte, size_t width, size_t height),        \
    (p, pitch, byte, width, height, here))                                                            \
  X(cudaError_t, cudaStreamCreate, (cudaStream_t * s), (s))                                           \
  X(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags), (s, flags))           \
  X(cudaError_t, cudaStreamDestroy, (cudaStream_t s), (s))                                            \
  X(cudaError_t, cudaStreamSynchronize, (cudaStream_t s), (s))                                        \
  X(cudaError_t, cudaStreamQuery, (cudaStream_t s), (s))                                              \
  X(cudaError_t, cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned flags),            \
    (s, event, flags))                                                                                \
  X(cudaError_t, cudaEventCreate, (cudaEvent_t * event), (event))                                     \
  X(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))     \
  X(cudaError_t, cudaEventDestroy, (cudaEvent_t event), (event))                                      \
  X(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t s), (event, s))                    \
  X(cudaError_t, cudaEventQuery, (cudaEvent_t event), (event))                                        \
  X(cudaError_t, cudaEventSynchronize, (cudaEvent_t event), (event))                                  \
  X(cudaError_t, cudaEventElapsedTime, (float* milliseconds, cudaEvent_t start, cudaEvent_t end),     \
    (milliseconds, start, end))

#if !defined(__cplusplus)
#define CUDARTAPI
#define CUDART_CB
#define __host__
#define __device__
#define __global__
#define __constant__
#define __align__(n) __attribute__((aligned(n)))
#define PLUMB_C_DECLARATION(result, name, parameters, arguments) result name parameters;
PLUMB_C_CALLS(PLUMB_C_DECLARATION)
#undef PLUMB_C_DECLARATION

static inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
static inline cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

// Vectors of numbers; those of two and four are aligned as a whole, up to 16 bytes.
#define PLUMB_C_VECTORS(type, name)                                                           \
  typedef struct name##1 {                                                                    \
    type x;                                                                                   \
  }                                                                                           \
  name##1;                                                                                    \
  typedef struct __attribute__((aligned(2 * sizeof(type)))) name##2 {                         \
    type x, y;                                                                                \
  }                                                                                           \
  name##2;                                                                                    \
  typedef struct name##3 {                                                                    \
    type x, y, z;                                                                             \
  }                                                                                           \
  name##3;                                                                                    \
  typedef struct __attribute__((aligned(sizeof(type) < 4 ? 4 * sizeof(type) : 16))) name##4 { \
    type x, y, z, w;                                                                          \
  }                                                                                           \
  name##4;
PLUMB_C_VECTORS(signed char, char)
PLUMB_C_VECTORS(unsigned char, uchar)
PLUMB_C_VECTORS(short, short)
PLUMB_C_VECTORS(unsigned short, ushort)
PLUMB_C_VECTORS(int, int)
PLUMB_C_VECTORS(unsigned, uint)
PLUMB_C_VECTORS(long, long)
PLUMB_C_VECTORS(unsigned long, ulong)
PLUMB_C_VECTORS(long long, longlong)
PLUMB_C_VECTORS(unsigned long long, ulonglong)
PLUMB_C_VECTORS(float, float)
PLUMB_C_VECTORS(double, double)
#undef PLUMB_C_VECTORS
typedef struct dim3 {
  unsigned x, y, z;
} dim3;
#endif
