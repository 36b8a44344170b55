// Nodes of graphs that run by a condition: declared, so that a program which has them is built. A call ends it with exit code 3.
#pragma once
#include "gpu/simt/host/api/runtime/graphs.hpp"
#include "gpu/simt/host/api/runtime/streams.hpp"

namespace plumb::simt {
cudaError_t conditional_node(Here here);
}  // namespace plumb::simt

constexpr auto cudaGraphNodeTypeConditional = static_cast<cudaGraphNodeType>(13);
using cudaGraphConditionalHandle = unsigned long long;
enum cudaGraphConditionalHandleFlags { cudaGraphCondAssignDefault = 1 };
enum cudaGraphConditionalNodeType { cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch };
struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned size;
  cudaGraph_t* phGraph_out;
};
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  int reserved0[3];
  union {
    cudaKernelNodeParams kernel;
    cudaMemsetParams memset;
    cudaHostNodeParams host;
    cudaConditionalNodeParams conditional;
  };
};
enum cudaStreamUpdateCaptureDependenciesFlags {
  cudaStreamAddCaptureDependencies,
  cudaStreamSetCaptureDependencies
};

inline cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle*, cudaGraph_t, unsigned = 0,
                                                    unsigned = 0, PLUMB_SIMT_HERE) {
  return plumb::simt::conditional_node(here);
}
inline void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned, PLUMB_SIMT_HERE) {
  plumb::simt::conditional_node(here);
}
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                    const cudaGraphEdgeData*, std::size_t, cudaGraphNodeParams*,
                                    PLUMB_SIMT_HERE) {
  return plumb::simt::conditional_node(here);
}
inline cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t*,
                                                 const cudaGraphEdgeData*, std::size_t, cudaStreamCaptureMode,
                                                 PLUMB_SIMT_HERE) {
  return plumb::simt::conditional_node(here);
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*,
                                            cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                            std::size_t*, PLUMB_SIMT_HERE) {
  return plumb::simt::conditional_node(here);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t*,
                                                       const cudaGraphEdgeData*, std::size_t, unsigned = 0,
                                                       PLUMB_SIMT_HERE) {
  return plumb::simt::conditional_node(here);
}
