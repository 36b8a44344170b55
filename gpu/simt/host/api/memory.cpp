// Memory: what the runtime has given to the program, or knows of the program's own.
#include "gpu/simt/host/api/memory.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "gpu/simt/host/api/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kPoisonLimit = std::size_t{1} << 28;  // more would only cost memory

struct Allocation {
  std::size_t bytes;
  cudaMemoryType type;
  bool registered;  // the program's own memory
};

struct Given {
  std::map<const unsigned char*, Allocation> memory;
  int allocations = 0;
};
Given the_given;
Given& given() { return the_given; }

const Allocation* allocation_of(const void* p) {
  auto it = given().memory.upper_bound(static_cast<const unsigned char*>(p));
  if (it == given().memory.begin()) return nullptr;
  --it;
  return static_cast<const unsigned char*>(p) < it->first + it->second.bytes ? &it->second : nullptr;
}

cudaError_t release(void* p, bool of_host, const char* what) {
  if (p == nullptr) return cudaSuccess;
  const auto it = given().memory.find(static_cast<const unsigned char*>(p));
  if (it == given().memory.end() || it->second.registered ||
      (it->second.type == cudaMemoryTypeHost) != of_host) {
    std::fprintf(stderr, "%s: no pointer that such a call returned, or freed before\n", what);
    return cudaErrorInvalidValue;
  }
  given().memory.erase(it);
  remove_array(p);
  std::free(p);
  return cudaSuccess;
}

}  // namespace

bool is_plain_device(const void* p) {
  const Allocation* a = allocation_of(p);
  return a != nullptr && a->type == cudaMemoryTypeDevice;
}

cudaError_t host_malloc(void** p, std::size_t bytes, Memory kind) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (bytes > kDeviceMemory) return answer(cudaErrorMemoryAllocation);
  *p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (*p == nullptr) return answer(cudaErrorMemoryAllocation);
  if (bytes <= kPoisonLimit) std::memset(*p, 0xa5, bytes);
  constexpr const char* kNames[] = {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaMallocArray"};
  constexpr cudaMemoryType kTypes[] = {cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost,
                                       cudaMemoryTypeDevice};
  const auto k = static_cast<std::size_t>(kind);
  const bool of_device = kTypes[k] == cudaMemoryTypeDevice;
  // What the host may write by itself counts as initialised.
  add_array(fmt::format("{} #{}", kNames[k], ++given().allocations), *p, bytes, !of_device, true, of_device);
  if (!reserve_shadow(*p)) {
    std::fprintf(
        stderr,
        "%s of %zu bytes: no memory for the shadow that tells races, 16 times as much; the call "
        "answers with cudaErrorMemoryAllocation\n",
        kNames[k], bytes);
    remove_array(*p);
    std::free(*p);
    *p = nullptr;
    return answer(cudaErrorMemoryAllocation);
  }
  given().memory[static_cast<unsigned char*>(*p)] = {bytes, kTypes[k], false};
  return cudaSuccess;
}

cudaError_t host_malloc_pitch(void** p, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return host_malloc(p, *pitch * height, Memory::device);
}

cudaError_t host_device_pointer(void** device, void* host) {
  const auto lock = enter_engine();
  const Allocation* a = allocation_of(host);
  if (a == nullptr || a->type == cudaMemoryTypeDevice) return answer(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

}  // namespace plumb::simt

using namespace plumb::simt;

cudaError_t cudaFree(void* p) {
  const auto lock = enter_engine();
  return answer(release(p, false, "cudaFree"));
}
cudaError_t cudaFreeHost(void* p) {
  const auto lock = enter_engine();
  return answer(release(p, true, "cudaFreeHost"));
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream, Here here) {
  const auto lock = enter_engine();
  const Allocation* a = allocation_of(p);
  if (a == nullptr || !is_stream(stream)) return answer(cudaErrorInvalidValue);
  // In the order of its stream: who still uses the memory from elsewhere races with it.
  const std::size_t bytes = a->bytes;
  const cudaError_t e = queue(stream, cudaGraphNodeTypeMemset, [=](const void* key) {
    host_operation("cudaFreeAsync", const_cast<void*>(key), here, p, nullptr, bytes);
  });
  return e != cudaSuccess ? e : answer(release(p, false, "cudaFreeAsync"));
}
cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (p == nullptr || bytes == 0) return answer(cudaErrorInvalidValue);
  if (allocation_of(p) != nullptr) return answer(cudaErrorHostMemoryAlreadyRegistered);
  add_array(fmt::format("cudaHostRegister #{}", ++given().allocations), p, bytes, true, true);
  given().memory[static_cast<unsigned char*>(p)] = {bytes, cudaMemoryTypeHost, true};
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* p) {
  const auto lock = enter_engine();
  const auto it = given().memory.find(static_cast<const unsigned char*>(p));
  if (it == given().memory.end() || !it->second.registered) return answer(cudaErrorHostMemoryNotRegistered);
  given().memory.erase(it);
  remove_array(p);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  const auto lock = enter_engine();
  *attributes = cudaPointerAttributes{};
  const Allocation* a = allocation_of(p);
  attributes->type = a != nullptr ? a->type : cudaMemoryTypeUnregistered;
  attributes->device = a != nullptr ? 0 : cudaInvalidDeviceId;
  void* const here = const_cast<void*>(p);
  if (a != nullptr) attributes->devicePointer = here;
  if (a == nullptr || a->type != cudaMemoryTypeDevice) attributes->hostPointer = here;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  static char one;
  if (device != 0) return answer(cudaErrorInvalidDevice);
  *pool = reinterpret_cast<cudaMemPool_t>(&one);
  return cudaSuccess;
}
