// CUDA by its driver alone, loaded where there is one: no program is linked with it, and none needs CUDA to be built.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "reference/core/reason.hpp"

namespace plumb {

/// The functions of libcuda.so.1 that are called, with the types of cuda.h: a result is 0 where all went well.
struct CudaDriver {
  using Address = std::uint64_t;  // CUdeviceptr
  using Handle = void*;           // CUcontext, CUstream, CUevent
  struct Copy2D {                 // CUDA_MEMCPY2D
    std::size_t from_x, from_y;
    int from_kind;
    const void* from_host;
    Address from_device;
    Handle from_array;
    std::size_t from_pitch;
    std::size_t to_x, to_y;
    int to_kind;
    void* to_host;
    Address to_device;
    Handle to_array;
    std::size_t to_pitch, row_bytes, rows;
  };
  enum : int { kHost = 1, kDevice = 2 };  // CUmemorytype

  int (*init)(unsigned);
  int (*driver_version)(int*);
  int (*device_count)(int*);
  int (*device)(int*, int ordinal);
  int (*device_name)(char*, int length, int device);
  int (*device_attribute)(int*, int attribute, int device);
  int (*total_memory)(std::size_t*, int device);
  int (*retain_context)(Handle*, int device);
  int (*set_context)(Handle);
  int (*get_context)(Handle*);
  int (*context_device)(int*);
  int (*wait_for_context)();
  int (*error_name)(int, const char**);
  int (*error_text)(int, const char**);
  int (*allocate)(Address*, std::size_t bytes);
  int (*free)(Address);
  int (*free_memory)(std::size_t* free, std::size_t* total);
  int (*allocate_pinned)(void**, std::size_t bytes, unsigned flags);
  int (*free_pinned)(void*);
  int (*set_bytes)(Address, unsigned char, std::size_t count, Handle stream);
  int (*set_words)(Address, unsigned, std::size_t count, Handle stream);
  int (*copy_up)(Address, const void*, std::size_t bytes, Handle stream);
  int (*copy_down)(void*, Address, std::size_t bytes, Handle stream);
  int (*copy_rows)(const Copy2D*, Handle stream);
  int (*make_stream)(Handle*, unsigned flags);
  int (*wait_for_stream)(Handle);
  int (*call_host)(Handle stream, void (*)(void*), void*);
  int (*make_event)(Handle*, unsigned flags);
  int (*record_event)(Handle event, Handle stream);
  int (*stream_waits)(Handle stream, Handle event, unsigned flags);
};

/// The driver, initialised. Throws Error where why_no_cuda_driver() says why.
[[nodiscard]] const CudaDriver& cuda_driver();
/// Why nothing runs on CUDA here: "no driver: ...", "no CUDA device"; empty where there is a device. Makes no context.
[[nodiscard]] Reason why_no_cuda_driver();
/// One line about device 0: its name, capability, memory and driver. Makes no context.
[[nodiscard]] std::string describe_cuda_device();
/// Compute capability of device 0, times 10.
[[nodiscard]] int cuda_device_sm();

/// Throws Error with the driver's words where `result` is an error of the call `what`.
void check_cuda(int result, const char* what);

/// Memory of the host that copies of a stream's reach without a wait; it grows.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  /// At least so many; what they held is lost where they grow.
  [[nodiscard]] std::byte* at_least(std::int64_t bytes);
  [[nodiscard]] std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte*) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace plumb
