// Types, enumerators and error codes of the CUDA runtime that several of its parts name. The values are CUDA's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// What other headers ask for to know that the CUDA runtime is there.
#if !defined(__DRIVER_TYPES_H__)
#define __DRIVER_TYPES_H__
#endif
#define __CUDA_RUNTIME_H__
#define CUDARTAPI
#define CUDART_CB
#define CUDA_CB

// In a host compiler's own files the qualifiers say nothing, as with CUDA's headers.
#if !defined(__CUDACC__) && !defined(PLUMB_SIMT)
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#endif

#include "gpu/simt/host/api/runtime/plain_types.h"
#include "gpu/simt/language/device_api.hpp"

struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUmemPoolHandle_st;
using cudaGraph_t = CUgraph_st*;
using cudaGraphNode_t = CUgraphNode_st*;
using cudaGraphExec_t = CUgraphExec_st*;
using cudaMemPool_t = CUmemPoolHandle_st*;
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(0x1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(0x2))
#define cudaStreamTailLaunch (reinterpret_cast<cudaStream_t>(0x3))  // these two in kernels alone
#define cudaStreamFireAndForget (reinterpret_cast<cudaStream_t>(0x4))
