// Virtual memory of the driver. Addresses lie in a mapping of the system's, and what is mapped there is an array of the executor's: an
// access beside it is out of bounds. The contents belong to the addresses, so that memory cannot be mapped to two of them.
#include "gpu/simt/host/api/driver/driver_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <map>

#include "gpu/simt/host/api/driver/driver_calls.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"

using plumb::simt::pointer;

namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

struct Reservation {
  void* mapping;  // the system's, which begins no later
  std::size_t mapped_bytes, bytes;
};
struct PhysicalMemory {
  std::size_t bytes;
  CUmemAllocationProp properties;
  CUdeviceptr at = 0;  // 0: it is mapped nowhere
};

struct Virtual {
  std::map<CUdeviceptr, Reservation> reserved;
  std::map<CUmemGenericAllocationHandle, PhysicalMemory> made;
  CUmemGenericAllocationHandle last = 0;
};
Virtual& all() {
  static auto& one = *new Virtual;  // outlives the program's own statics
  return one;
}

bool is_multiple(std::size_t bytes) { return bytes > 0 && bytes % kGranularity == 0; }

bool is_reserved(CUdeviceptr p, std::size_t bytes) {
  auto it = all().reserved.upper_bound(p);
  if (it == all().reserved.begin()) return false;
  --it;
  return p + bytes <= it->first + it->second.bytes;
}

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  if (bytes == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* p, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long) {
  if (p == nullptr || !is_multiple(bytes) || (alignment & (alignment - 1)) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  plumb::simt::begin_by_itself();
  const auto lock = plumb::simt::enter_engine();
  const std::size_t step = std::max(alignment, kGranularity);
  void* const mapping =
      mmap(nullptr, bytes + step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = (reinterpret_cast<CUdeviceptr>(mapping) + step - 1) / step * step;
  all().reserved[*p] = {mapping, bytes + step, bytes};
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr p, std::size_t bytes) {
  const auto lock = plumb::simt::enter_engine();
  const auto it = all().reserved.find(p);
  if (it == all().reserved.end() || it->second.bytes != bytes) return CUDA_ERROR_INVALID_VALUE;
  munmap(it->second.mapping, it->second.mapped_bytes);
  all().reserved.erase(it);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  if (handle == nullptr || properties == nullptr || !is_multiple(bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > plumb::simt::kDeviceMemory) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto lock = plumb::simt::enter_engine();
  *handle = ++all().last;
  all().made[*handle] = {bytes, *properties};
  return CUDA_SUCCESS;
}

// Mapped memory stays until it is unmapped.
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const auto lock = plumb::simt::enter_engine();
  return all().made.erase(handle) != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  const auto lock = plumb::simt::enter_engine();
  const auto it = all().made.find(handle);
  if (properties == nullptr || it == all().made.end()) return CUDA_ERROR_INVALID_VALUE;
  *properties = it->second.properties;
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr p, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long, plumb::simt::Here here) {
  const auto lock = plumb::simt::enter_engine();
  const auto it = all().made.find(handle);
  if (it == all().made.end() || !is_reserved(p, bytes) || !is_multiple(bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (offset != 0 || bytes != it->second.bytes || it->second.at != 0) {
    plumb::simt::call_not_offered("memory of cuMemCreate that is mapped in part, or to two addresses", here);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  it->second.at = p;
  plumb::simt::give_mapped(pointer(p), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr p, std::size_t bytes) {
  const auto lock = plumb::simt::enter_engine();
  if (!is_reserved(p, bytes)) return CUDA_ERROR_INVALID_VALUE;
  for (CUdeviceptr at = p; at < p + bytes; at += kGranularity) plumb::simt::take_mapped(pointer(at));
  for (auto& [handle, memory] : all().made)
    if (memory.at >= p && memory.at < p + bytes) memory.at = 0;
  madvise(pointer(p), bytes, MADV_DONTNEED);
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void*, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                                      unsigned long long, plumb::simt::Here here) {
  plumb::simt::call_not_offered("memory that is shared with other processes", here);
  return CUDA_ERROR_NOT_SUPPORTED;
}
