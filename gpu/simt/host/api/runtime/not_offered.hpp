// Calls of CUDA that the executor does not have, so that a program which names them is built: graphics, memory of other processes, device
// code by the driver. Whoever calls one ends the program with exit code 3 and its name.
#pragma once
#include "gpu/simt/host/api/driver/driver.hpp"

struct cudaGraphicsResource;
using cudaGraphicsResource_t = cudaGraphicsResource*;
enum cudaGraphicsRegisterFlags {
  cudaGraphicsRegisterFlagsNone = 0,
  cudaGraphicsRegisterFlagsReadOnly = 1,
  cudaGraphicsRegisterFlagsWriteDiscard = 2,
  cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
  cudaGraphicsRegisterFlagsTextureGather = 8
};
enum cudaGraphicsMapFlags {
  cudaGraphicsMapFlagsNone = 0,
  cudaGraphicsMapFlagsReadOnly = 1,
  cudaGraphicsMapFlagsWriteDiscard = 2
};
struct cudaMemPoolPtrExportData {
  unsigned char reserved[64];
};

// X(result, name)
#define PLUMB_CALLS_NOT_OFFERED(X)                      \
  X(cudaError_t, cudaGraphicsMapResources)              \
  X(cudaError_t, cudaGraphicsUnmapResources)            \
  X(cudaError_t, cudaGraphicsUnregisterResource)        \
  X(cudaError_t, cudaGraphicsResourceGetMappedPointer)  \
  X(cudaError_t, cudaGraphicsSubResourceGetMappedArray) \
  X(cudaError_t, cudaGraphicsResourceSetMapFlags)       \
  X(cudaError_t, cudaMemPoolExportPointer)              \
  X(cudaError_t, cudaMemPoolExportToShareableHandle)    \
  X(cudaError_t, cudaMemPoolImportPointer)              \
  X(cudaError_t, cudaMemPoolImportFromShareableHandle)  \
  X(CUresult, cuOccupancyMaxPotentialBlockSize)         \
  X(CUresult, cuMemImportFromShareableHandle)           \
  X(CUresult, cuLinkCreate)                             \
  X(CUresult, cuLinkAddData)                            \
  X(CUresult, cuLinkAddFile)                            \
  X(CUresult, cuLinkComplete)                           \
  X(CUresult, cuLinkDestroy)                            \
  X(CUresult, cuModuleLoadFatBinary)

#define PLUMB_DECLARE_NOT_OFFERED(result, name) result name(...);
extern "C" {
PLUMB_CALLS_NOT_OFFERED(PLUMB_DECLARE_NOT_OFFERED)
}
