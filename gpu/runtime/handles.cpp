// Making events and page-locked memory.
#include "gpu/runtime/handles.hpp"

namespace plumb {

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

}  // namespace plumb
