#include "verify/engine/backend/cuda_driver.hpp"

#include <dlfcn.h>

#include <algorithm>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr const char* kDriverLibrary = "libcuda.so.1";
enum : int { kCapabilityMajor = 75, kCapabilityMinor = 76, kNoDevice = 100 };  // of cuda.h

struct LoadedDriver {
  CudaDriver calls{};
  int device = 0;
  std::string why_not;  // empty: it is initialised, and has a device
};

// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
std::string words_of(const CudaDriver& driver, int result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.error_name(result, &name) != 0 || name == nullptr) return fmt::format("CUDA error {}", result);
  if (driver.error_text(result, &text) != 0 || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

// The first function that the library lacks, or null.
const char* find_calls(void* library, CudaDriver& d) {
  const char* missing = nullptr;
  const auto find = [&](auto& call, const char* symbol) {
    void* const found = dlsym(library, symbol);
    if (found == nullptr && missing == nullptr) missing = symbol;
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(found);
  };
  find(d.init, "cuInit"), find(d.driver_version, "cuDriverGetVersion");
  find(d.device_count, "cuDeviceGetCount"), find(d.device, "cuDeviceGet");
  find(d.device_name, "cuDeviceGetName"), find(d.device_attribute, "cuDeviceGetAttribute");
  find(d.total_memory, "cuDeviceTotalMem_v2"), find(d.retain_context, "cuDevicePrimaryCtxRetain");
  find(d.set_context, "cuCtxSetCurrent"), find(d.get_context, "cuCtxGetCurrent");
  find(d.context_device, "cuCtxGetDevice"), find(d.wait_for_context, "cuCtxSynchronize");
  find(d.error_name, "cuGetErrorName"), find(d.error_text, "cuGetErrorString");
  find(d.allocate, "cuMemAlloc_v2"), find(d.free, "cuMemFree_v2");
  find(d.free_memory, "cuMemGetInfo_v2"), find(d.allocate_pinned, "cuMemHostAlloc");
  find(d.free_pinned, "cuMemFreeHost"), find(d.set_bytes, "cuMemsetD8Async");
  find(d.set_words, "cuMemsetD32Async"), find(d.copy_up, "cuMemcpyHtoDAsync_v2");
  find(d.copy_down, "cuMemcpyDtoHAsync_v2"), find(d.copy_rows, "cuMemcpy2DAsync_v2");
  find(d.make_stream, "cuStreamCreate"), find(d.wait_for_stream, "cuStreamSynchronize");
  find(d.call_host, "cuLaunchHostFunc"), find(d.make_event, "cuEventCreate");
  find(d.record_event, "cuEventRecord"), find(d.stream_waits, "cuStreamWaitEvent");
  return missing;
}

LoadedDriver load_driver() {
  LoadedDriver loaded;
  CudaDriver& d = loaded.calls;
  void* const library = dlopen(kDriverLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.why_not = fmt::format("no driver: {} is not here", kDriverLibrary);
    return loaded;
  }
  if (const char* const missing = find_calls(library, d); missing != nullptr) {
    loaded.why_not = fmt::format("driver too old: {} lacks {}", kDriverLibrary, missing);
    return loaded;
  }
  int count = 0;
  int result = d.init(0);
  if (result == 0) result = d.device_count(&count);
  if (result == kNoDevice || (result == 0 && count == 0))
    loaded.why_not = "no CUDA device";
  else if (result == 0)
    result = d.device(&loaded.device, 0);
  if (result != 0 && loaded.why_not.empty()) loaded.why_not = "no usable CUDA device: " + words_of(d, result);
  return loaded;
}

const LoadedDriver& loaded_driver() {
  static const LoadedDriver loaded = load_driver();
  return loaded;
}

}  // namespace

Reason why_no_cuda_driver() { return loaded_driver().why_not; }

const CudaDriver& cuda_driver() {
  const LoadedDriver& loaded = loaded_driver();
  if (!loaded.why_not.empty()) throw Error(loaded.why_not);
  return loaded.calls;
}

int cuda_device_sm() {
  int major = 0, minor = 0;
  const CudaDriver& d = cuda_driver();
  check_cuda(d.device_attribute(&major, kCapabilityMajor, loaded_driver().device), "cuDeviceGetAttribute");
  check_cuda(d.device_attribute(&minor, kCapabilityMinor, loaded_driver().device), "cuDeviceGetAttribute");
  return 10 * major + minor;
}

std::string describe_cuda_device() {
  const CudaDriver& d = cuda_driver();
  char name[256] = {};
  std::size_t bytes = 0;
  int version = 0;
  check_cuda(d.device_name(name, sizeof name - 1, loaded_driver().device), "cuDeviceGetName");
  check_cuda(d.total_memory(&bytes, loaded_driver().device), "cuDeviceTotalMem");
  check_cuda(d.driver_version(&version), "cuDriverGetVersion");
  return fmt::format("{}, sm_{}, {:.1f} GiB, driver CUDA {}.{}", name, cuda_device_sm(),
                     static_cast<double>(bytes) / (1 << 30), version / 1000, version % 1000 / 10);
}

void check_cuda(int result, const char* what) {
  if (result != 0) throw Error(fmt::format("{}: {}", what, words_of(cuda_driver(), result)));
}

void PinnedBytes::Free::operator()(std::byte* memory) const { (void)cuda_driver().free_pinned(memory); }

std::byte* PinnedBytes::at_least(std::int64_t bytes) {
  if (bytes_ >= bytes && memory_) return memory_.get();
  memory_.reset();
  bytes_ = std::max<std::int64_t>(bytes, 4096);
  void* memory = nullptr;
  check_cuda(cuda_driver().allocate_pinned(&memory, static_cast<std::size_t>(bytes_), 0), "cuMemHostAlloc");
  memory_.reset(static_cast<std::byte*>(memory));
  return memory_.get();
}

}  // namespace plumb
