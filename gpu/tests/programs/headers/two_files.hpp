// Seen by nvcc and by a host compiler: the host part brings what the device has built in.
#pragma once
#include <cuda_runtime.h>

#if !defined(__CUDACC__)
inline float rsqrtf(float x) { return 1.0f / x; }  // not what it says: the host's own
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
#endif

float on_host(float x);
float4 halved(float4 v);
