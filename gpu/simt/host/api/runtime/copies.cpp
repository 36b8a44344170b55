// Copies and fills, in the order of a stream.
#include <cstring>

#include "gpu/simt/host/api/runtime/memory.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// A side that the copy calls a device's must not be memory of the host's alone, and the other way round.
cudaError_t check_direction(const void* to, const void* from, cudaMemcpyKind kind) {
  const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  if ((to_host && is_plain_device(to)) || (from_host && is_plain_device(from))) return cudaErrorInvalidValue;
  return cudaSuccess;
}

void move(const char* what, const void* stream, Here here, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || current().run.is_stopped) return;
  host_operation(what, const_cast<void*>(stream), here, to, from, bytes);
  if (!current().run.is_stopped) std::memmove(to, from, bytes);
}

cudaMemcpy3DParms plane(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), from_pitch, width, height);
  p.dstPtr = make_cudaPitchedPtr(to, to_pitch, width, height);
  p.extent = make_cudaExtent(width, height, 1);
  p.kind = kind;
  return p;
}

// A side that is an array as the memory it lies in. Beside an array, x and the extent count texels.
cudaError_t in_memory(cudaMemcpy3DParms& p) {
  if (p.srcArray == nullptr && p.dstArray == nullptr) return cudaSuccess;
  const std::size_t texel = texel_bytes((p.srcArray != nullptr ? p.srcArray : p.dstArray)->format);
  const auto side = [&](cudaArray_t& array, cudaPos& pos, cudaPitchedPtr& at) {
    if (array == nullptr) return true;
    const cudaExtent& whole = array->extent;
    const std::size_t planes = whole.depth > 0 ? whole.depth : 1;
    at = make_cudaPitchedPtr(array->data, array->pitch(), array->pitch(), array->height());
    pos.x *= texel_bytes(array->format);
    const bool fits = pos.x + p.extent.width * texel <= array->pitch() &&
                      pos.y + p.extent.height <= array->height() && pos.z + p.extent.depth <= planes;
    array = nullptr;
    return fits;
  };
  const bool src = side(p.srcArray, p.srcPos, p.srcPtr), dst = side(p.dstArray, p.dstPos, p.dstPtr);
  p.extent.width *= texel;
  return src && dst ? cudaSuccess : cudaErrorInvalidValue;
}

/// What the host has waited for when a copy's call returns: CUDA's page "API synchronization behavior".
enum class Waits : unsigned char { for_nothing, for_work_before, for_the_copy };
Waits waits_of(const cudaMemcpy3DParms& p, bool synchronous) {
  const Side to = side_of(p.dstPtr.ptr), from = side_of(p.srcPtr.ptr);
  const auto is_host = [](Side s) { return s == Side::pageable || s == Side::pinned; };
  if (is_host(to) && is_host(from)) return Waits::for_the_copy;
  if (!synchronous || p.kind == cudaMemcpyDeviceToDevice || (to == Side::device && from == Side::device))
    return Waits::for_nothing;
  return from == Side::pageable && to == Side::device ? Waits::for_work_before : Waits::for_the_copy;
}

// Of memory that the host writes: whether functions that streams call may write it too late.
void check_source(const cudaMemcpy3DParms& p, const void* key, Here here) {
  const Side from = side_of(p.srcPtr.ptr);
  if (from == Side::device || from == Side::managed) return;
  const auto* const begin = static_cast<const unsigned char*>(p.srcPtr.ptr);
  const std::size_t rows =
      (p.srcPos.z + p.extent.depth - 1) * p.srcPtr.ysize + p.srcPos.y + p.extent.height - 1;
  const std::size_t first = (p.srcPos.z * p.srcPtr.ysize + p.srcPos.y) * p.srcPtr.pitch + p.srcPos.x;
  const std::size_t end = rows * p.srcPtr.pitch + p.srcPos.x + p.extent.width;
  check_copy_source(begin + first, end - first, key, from == Side::pageable, here);
}

cudaError_t copy(cudaMemcpy3DParms p, cudaStream_t stream, bool waits, Here here) {
  begin_by_itself();
  const auto lock = enter_engine();
  const cudaError_t misfit = in_memory(p);
  if (misfit != cudaSuccess) return answer(misfit);
  if (p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0) return host_status();
  if (p.extent.height > 1 && (p.extent.width > p.srcPtr.pitch || p.extent.width > p.dstPtr.pitch))
    return answer(cudaErrorInvalidPitchValue);
  if (!has_addresses(p)) return answer(cudaErrorInvalidValue);
  const cudaError_t bad = check_direction(p.dstPtr.ptr, p.srcPtr.ptr, p.kind);
  if (bad != cudaSuccess) return answer(bad);
  const bool at_once = current().schedule.thread == nullptr && !is_captured(launch_key(stream));
  const Waits how = at_once ? waits_of(p, waits) : waits ? Waits::for_the_copy : Waits::for_nothing;
  if (how == Waits::for_work_before) {
    const cudaError_t before = wait_for(stream);
    if (before != cudaSuccess) return before;
  }
  const cudaError_t e = queue(stream, cudaGraphNodeTypeMemcpy, [=](const void* key) {
    if (at_once) check_source(p, key, here);
    copy_operation(p, here)(key);
  });
  return e == cudaSuccess && how == Waits::for_the_copy ? wait_for(stream) : e;
}

cudaError_t fill(const cudaMemsetParams& p, cudaStream_t stream, Here here) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (p.width == 0 || p.height == 0) return host_status();
  if (!has_address(p)) return answer(cudaErrorInvalidValue);
  if (p.height > 1 && p.width > p.pitch) return answer(cudaErrorInvalidPitchValue);
  return queue(stream, cudaGraphNodeTypeMemset, fill_operation(p, here));
}

}  // namespace

bool has_addresses(const cudaMemcpy3DParms& p) {
  const bool nothing = p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0;
  return nothing || (p.srcPtr.ptr != nullptr && p.dstPtr.ptr != nullptr);
}
bool has_address(const cudaMemsetParams& p) { return p.width == 0 || p.height == 0 || p.dst != nullptr; }

Operation copy_operation(const cudaMemcpy3DParms& p, Here here) {
  return [p, here](const void* stream) {
    const auto at = [](const cudaPitchedPtr& side, const cudaPos& pos, std::size_t y, std::size_t z) {
      const std::size_t rows = (pos.z + z) * side.ysize + pos.y + y;
      return static_cast<unsigned char*>(side.ptr) + rows * side.pitch + pos.x;
    };
    const cudaExtent& e = p.extent;
    // Rows that follow each other without a gap on both sides are one copy.
    const bool whole = e.depth == 1 && p.srcPtr.pitch == e.width && p.dstPtr.pitch == e.width;
    for (std::size_t z = 0; z < e.depth; ++z) {
      for (std::size_t y = 0; y < (whole ? 1 : e.height); ++y) {
        move("cudaMemcpy", stream, here, at(p.dstPtr, p.dstPos, y, z), at(p.srcPtr, p.srcPos, y, z),
             whole ? e.width * e.height : e.width);
      }
    }
  };
}

Operation fill_operation(const cudaMemsetParams& p, Here here) {
  return [p, here](const void* stream) {
    for (std::size_t y = 0; y < p.height && !current().run.is_stopped; ++y) {
      auto* row = static_cast<unsigned char*>(p.dst) + y * p.pitch;
      host_operation("cudaMemset", const_cast<void*>(stream), here, row, nullptr, p.width * p.elementSize);
      if (current().run.is_stopped) return;
      for (std::size_t x = 0; x < p.width * p.elementSize; ++x)
        row[x] = static_cast<unsigned char>(p.value >> 8 * (x % p.elementSize));
    }
  };
}

cudaError_t host_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                      bool waits, Here here) {
  return copy(plane(to, bytes, from, bytes, bytes, 1, kind), stream, waits, here);
}

}  // namespace plumb::simt

using namespace plumb::simt;

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, Here here) {
  return copy(plane(to, to_pitch, from, from_pitch, width, height, kind), nullptr, true, here);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                              Here here) {
  return copy(plane(to, to_pitch, from, from_pitch, width, height, kind), stream, false, here);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p, Here here) { return copy(*p, nullptr, true, here); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream, Here here) {
  return copy(*p, stream, false, here);
}
cudaError_t cudaMemset(void* p, int byte, std::size_t bytes, Here here) {
  return cudaMemset2D(p, bytes, byte, bytes, 1, here);
}
cudaError_t cudaMemsetAsync(void* p, int byte, std::size_t bytes, cudaStream_t stream, Here here) {
  return cudaMemset2DAsync(p, bytes, byte, bytes, 1, stream, here);
}
cudaError_t cudaMemset2D(void* p, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                         Here here) {
  const cudaError_t e = cudaMemset2DAsync(p, pitch, byte, width, height, nullptr, here);
  // Of the device's memory it is queued, and the host goes on; for the host's own it waits.
  const auto lock = enter_engine();
  return e == cudaSuccess && !is_plain_device(p) ? wait_for(nullptr) : e;
}
cudaError_t cudaMemset2DAsync(void* p, std::size_t pitch, int byte, std::size_t width, std::size_t height,
                              cudaStream_t stream, Here here) {
  return fill({p, pitch, static_cast<unsigned>(byte) & 0xffu, 1, width, height}, stream, here);
}
