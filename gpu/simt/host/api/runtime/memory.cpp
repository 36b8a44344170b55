// Memory: what the runtime has given to the program, or knows of the program's own.
#include "gpu/simt/host/api/runtime/memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "gpu/simt/host/api/runtime/allocations.hpp"
#include "gpu/simt/host/api/runtime/array_names.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/memory/device_pages.hpp"
#include "gpu/simt/memory/freed.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/exhaustion.hpp"

namespace plumb::simt {

namespace {

struct Allocation {
  std::size_t bytes;
  cudaMemoryType type;
  bool registered;        // the program's own memory
  bool of_graph = false;  // given and taken by nodes of graphs
  bool given = true;
  std::string name = {};
  Calls made = {};
};

struct Origin {
  const char* by;
  Calls made;
};
struct Given {
  std::map<const unsigned char*, Allocation> memory;
  int allocations = 0;
  std::map<std::string, int> named;                     // how often a variable's name was given to an array
  std::map<std::string, Origin> origins;                // by an array's name
  std::size_t bytes = 0;                                // that the program holds
  std::uint64_t graph_bytes = 0, most_graph_bytes = 0;  // given by nodes
};
Given& given() {
  static auto& all = *new Given;  // outlives the program's own statics, whose destructors may free memory
  return all;
}

thread_local const char* next_variable = nullptr;

// A name that no other array has: the variable's, or else that of the call.
std::string new_name(const char* call) {
  const int number = ++given().allocations;
  const char* const variable = std::exchange(next_variable, nullptr);
  std::string name = fmt::format("{} #{}", call, number);
  if (variable != nullptr) {
    const int before = given().named[variable]++;
    name = before == 0 ? std::string(variable) : fmt::format("{} #{}", variable, before + 1);
  }
  constexpr std::size_t kMost = 10000;  // a program that allocates without end
  if (given().origins.size() < kMost) given().origins[name] = {call, calls_here()};
  return name;
}

const Allocation* allocation_of(const void* p) {
  auto it = given().memory.upper_bound(static_cast<const unsigned char*>(p));
  if (it == given().memory.begin()) return nullptr;
  --it;
  return static_cast<const unsigned char*>(p) < it->first + it->second.bytes ? &it->second : nullptr;
}

FreedArray freed_array(const Allocation& a, void* p, const char* by) {
  constexpr std::size_t kOwnPages = std::size_t{1} << 20;
  return {static_cast<unsigned char*>(p),
          a.bytes,
          a.bytes < kOwnPages ? a.bytes : 0,
          a.name,
          by,
          a.made,
          calls_here()};
}

// Of a graph's memory the address stays: the graph may give it again.
void take(Allocation& a, void* p, const char* by) {
  if (a.given) given().graph_bytes -= a.bytes;
  a.given = false;
  remove_array(p);
  keep_freed(freed_array(a, p, by), nullptr);
}

void refuse_to_free(const char* what, const void* p) {
  const FreedArray* const freed = freed_at(p);
  const bool again = freed != nullptr && freed->base == p;
  std::fprintf(
      stderr, "%s: no pointer that such a call returned, or freed before%s\n", what,
      again ? fmt::format(": '{}', by {} at {}", freed->name, freed->by, show_calls(freed->freed)).c_str()
            : "");
}

// cudaFree takes memory of a stream for no longer in use: the host must have waited for all that uses it.
void check_unordered_free(const void* p, std::size_t bytes, const void* pc) {
  const Array* const a = array_of(static_cast<const unsigned char*>(p));
  if (a == nullptr || a->allocation == 0) return;
  host_ranges("cudaFree", const_cast<void*>(host_key()), Here{"", 0}, {{p, bytes, true}}, pc);
}

cudaError_t release(void* p, bool of_host, const char* what) {
  if (p == nullptr) return cudaSuccess;
  const auto it = given().memory.find(static_cast<const unsigned char*>(p));
  if (it == given().memory.end() || it->second.registered ||
      (it->second.type == cudaMemoryTypeHost) != of_host) {
    refuse_to_free(what, p);
    return cudaErrorInvalidValue;
  }
  if (it->second.of_graph && it->second.given) {
    take(it->second, p, what);
    return cudaSuccess;
  }
  FreedArray freed = freed_array(it->second, p, what);
  given().bytes -= std::min(given().bytes, freed.bytes);
  given().memory.erase(it);
  remove_array(p);
  empty_device_memory(p, freed.bytes);
  keep_freed(std::move(freed), &give_back_device_memory);
  return cudaSuccess;
}

void* raw_memory(std::size_t bytes) { return bytes > kDeviceMemory ? nullptr : take_device_memory(bytes); }

// An allocation that is refused: what was asked for, what there is, and what the program holds.
cudaError_t refuse(const char* call, std::size_t bytes, const std::string& why) {
  std::fprintf(stderr,
               "%s of %zu bytes: %s; the program holds %zu bytes in %zu arrays; the call answers with "
               "cudaErrorMemoryAllocation\n",
               call, bytes, why.c_str(), given().bytes, given().memory.size());
  return answer(cudaErrorMemoryAllocation);
}

std::string why_no_memory(std::size_t bytes) {
  if (bytes > kDeviceMemory) return fmt::format("more than the {} bytes of the device", kDeviceMemory);
  return "this machine has no such memory" + memory_limit_text();
}

}  // namespace

void name_array(const char* variable) { next_variable = variable; }

std::string origin_of_array(const std::string& name) {
  const auto at = given().origins.find(name);
  if (at == given().origins.end()) return "";
  return fmt::format("'{}' is of {} at {}", name, at->second.by, show_calls(at->second.made));
}

void add_held_arrays() {
  for (const auto& [p, a] : given().memory)
    if (a.given)
      add_array("memory of an earlier run", p, a.bytes, true, true, a.type == cudaMemoryTypeDevice);
}
std::int64_t held_arrays() { return static_cast<std::int64_t>(given().memory.size()); }

void* memory_of_graphs(std::size_t bytes) {
  void* p = raw_memory(bytes);
  if (p == nullptr) {
    refuse("memory of a graph", bytes, why_no_memory(bytes));
    return nullptr;
  }
  given().memory[static_cast<unsigned char*>(p)] = {bytes, cudaMemoryTypeDevice,          false,       true,
                                                    false, new_name("memory of a graph"), calls_here()};
  return p;
}

Operation give_operation(void* p, Here here) {
  return [p, here](const void* stream) {
    const auto it = given().memory.find(static_cast<unsigned char*>(p));
    if (it == given().memory.end() || it->second.given) return;
    Allocation& a = it->second;
    a.given = true;
    given().graph_bytes += a.bytes;
    given().most_graph_bytes = std::max(given().most_graph_bytes, given().graph_bytes);
    forget_freed(p);
    add_array(a.name, p, a.bytes, false, true, true);
    allocated_in_order("an allocation in a graph", stream, here, p);
  };
}

Operation take_operation(void* p, Here here) {
  return [p, here](const void* stream) {
    const auto it = given().memory.find(static_cast<unsigned char*>(p));
    if (it == given().memory.end()) return;
    // who still uses the memory from elsewhere races with it
    host_operation("cudaFreeAsync", const_cast<void*>(stream), here, p, nullptr, it->second.bytes);
    if (it->second.of_graph)
      take(it->second, p, "cudaFreeAsync");
    else
      remove_array(p);
  };
}

Side side_of(const void* p) {
  if (find_variable(static_cast<const unsigned char*>(p)) != nullptr) return Side::device;
  const Allocation* a = allocation_of(p);
  if (a == nullptr) {  // a kernel that is judged is given arrays that no call of CUDA allocated
    const Array* array = array_of(static_cast<const unsigned char*>(p));
    return array != nullptr && array->device_only ? Side::device : Side::pageable;
  }
  return a->type == cudaMemoryTypeDevice ? Side::device
         : a->type == cudaMemoryTypeHost ? Side::pinned
                                         : Side::managed;
}

bool is_plain_device(const void* p) {
  const Allocation* a = allocation_of(p);
  return a != nullptr && a->type == cudaMemoryTypeDevice;
}

cudaError_t host_malloc(void** p, std::size_t bytes, Memory kind) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (bytes == 0) {  // no memory has no address
    *p = nullptr;
    return kind == Memory::managed ? answer(cudaErrorInvalidValue) : cudaSuccess;
  }
  constexpr const char* kNames[] = {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaMallocArray"};
  constexpr cudaMemoryType kTypes[] = {cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost,
                                       cudaMemoryTypeDevice};
  const auto k = static_cast<std::size_t>(kind);
  *p = raw_memory(bytes);
  if (*p == nullptr) return refuse(kNames[k], bytes, why_no_memory(bytes));
  const bool of_device = kTypes[k] == cudaMemoryTypeDevice;
  const std::string name = new_name(kNames[k]);
  // What the host may write by itself counts as initialised.
  add_array(name, *p, bytes, !of_device, true, of_device);
  array_of(static_cast<const unsigned char*>(*p))->of_host = kind == Memory::pinned;
  if (!reserve_shadow(*p)) {
    remove_array(*p);
    give_back_device_memory(std::exchange(*p, nullptr), bytes);
    return refuse(kNames[k], bytes,
                  "no memory for the shadow that tells races, 8 times as much" + memory_limit_text());
  }
  given().bytes += bytes;
  given().memory[static_cast<unsigned char*>(*p)] = {bytes, kTypes[k], false,       false,
                                                     true,  name,      calls_here()};
  return cudaSuccess;
}

void give_mapped(void* p, std::size_t bytes) {
  add_array(fmt::format("cuMemMap #{}", ++given().allocations), p, bytes, false, true, true);
  given().memory[static_cast<unsigned char*>(p)] = {bytes, cudaMemoryTypeDevice, true};
}

void take_mapped(void* p) {
  if (given().memory.erase(static_cast<unsigned char*>(p)) != 0) remove_array(p);
}

cudaError_t host_malloc_async(void** p, std::size_t bytes, cudaStream_t stream, Here here) {
  if (!is_captured(stream)) {
    const cudaError_t e = host_malloc(p, bytes, Memory::device);
    if (e != cudaSuccess || *p == nullptr) return e;
    const auto lock = enter_engine();
    return queue(stream, cudaGraphNodeTypeMemAlloc,
                 [=, at = *p](const void* key) { allocated_in_order("cudaMallocAsync", key, here, at); });
  }
  const auto lock = enter_engine();
  if (bytes == 0) return answer(cudaErrorInvalidValue);
  *p = memory_of_graphs(bytes);
  return *p == nullptr ? answer(cudaErrorMemoryAllocation)
                       : queue(stream, cudaGraphNodeTypeMemAlloc, give_operation(*p, here));
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

cudaError_t shared_with_processes(const char* what, Here here) {
  call_not_offered(what, here);
  return answer(cudaErrorNotSupported);
}

}  // namespace plumb::simt

using namespace plumb::simt;

cudaError_t cudaFree(void* p) {
  const auto lock = enter_engine();
  if (const Allocation* a = allocation_of(p)) check_unordered_free(p, a->bytes, __builtin_return_address(0));
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
  if (is_captured(stream)) return queue(stream, cudaGraphNodeTypeMemFree, take_operation(p, here));
  const cudaError_t e = queue(stream, cudaGraphNodeTypeMemFree, [=, bytes = a->bytes](const void* key) {
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
  array_of(static_cast<const unsigned char*>(p))->of_host = true;
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
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (device != 0) return answer(cudaErrorInvalidDevice);
  const bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  const std::uint64_t bytes = high ? given().most_graph_bytes : given().graph_bytes;
  std::memcpy(value, &bytes, sizeof bytes);
  return cudaSuccess;
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType, void*) {
  if (device != 0) return answer(cudaErrorInvalidDevice);
  given().most_graph_bytes = given().graph_bytes;  // high-water marks alone can be set, and to zero
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  static char one;
  if (device != 0) return answer(cudaErrorInvalidDevice);
  *pool = reinterpret_cast<cudaMemPool_t>(&one);
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (properties->location.type != cudaMemLocationTypeDevice) return answer(cudaErrorNotSupported);
  return cudaDeviceGetDefaultMemPool(pool, properties->location.id);
}
