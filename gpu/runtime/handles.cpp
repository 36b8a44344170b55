// Making streams, events and graphs.
#include "gpu/runtime/handles.hpp"

namespace plumb {

UniqueStream make_stream() {
  cudaStream_t stream = nullptr;
  PLUMB_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return UniqueStream(stream);
}

UniqueEvent make_event(bool timed) {
  cudaEvent_t event = nullptr;
  PLUMB_CUDA(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming));
  return UniqueEvent(event);
}

PinnedMemory make_pinned(std::int64_t bytes) {
  void* memory = nullptr;
  PLUMB_CUDA(cudaMallocHost(&memory, static_cast<std::size_t>(bytes)));
  return PinnedMemory(memory);
}

float elapsed_ms(const UniqueEvent& begin, const UniqueEvent& end) {
  PLUMB_CUDA(cudaEventSynchronize(end.get()));
  float ms = 0;
  PLUMB_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return ms;
}

namespace detail {

UniqueGraph end_capture(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  PLUMB_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  ignore_cuda(cudaGraphDestroy(graph));
  check_cuda(status, "cudaGraphInstantiate", __FILE__, __LINE__);
  return UniqueGraph(executable);
}

void abandon_capture(cudaStream_t stream) noexcept {
  cudaGraph_t graph = nullptr;
  ignore_cuda(cudaStreamEndCapture(stream, &graph));
  if (graph != nullptr) ignore_cuda(cudaGraphDestroy(graph));
}

}  // namespace detail
}  // namespace plumb
