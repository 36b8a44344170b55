// The CUDA side of the launch seam: the runtime's launches with their errors turned into one line that names the
// caller, in a range that profilers show under the file that launched.
#include "gpu/device/launch.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#if __has_include(<nvtx3/nvToolsExt.h>)  // a package of its own in some distributions of the toolkit
#include <nvtx3/nvToolsExt.h>
#define PLUMB_NVTX 1
#endif

#include <fmt/format.h>

#include "gpu/device/launch_limits.hpp"
#include "gpu/runtime/launch_hook.hpp"
#include "gpu/runtime/launch_log.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

void check(cudaError_t status, const char* what, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // a refused call is not sticky: leave nothing for the next check to trip over
  throw input_error(file, line, what,
                    std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status));
}

// "gemm/04_padded.cu" of ".../gpu/gemm/04_padded.cu": what Nsight shows around the launch. Without a profiler it costs a load.
class Range {
 public:
  explicit Range([[maybe_unused]] const char* file) {
#if defined(PLUMB_NVTX)
    const char* room = std::strstr(file, "gpu/");
    for (const char* later; room != nullptr && (later = std::strstr(room + 1, "gpu/")) != nullptr;)
      room = later;
    nvtxRangePushA(room != nullptr ? room + 4 : file);
#endif
  }
  ~Range() {
#if defined(PLUMB_NVTX)
    nvtxRangePop();
#endif
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

std::string refused_launch(dim3 grid, dim3 block) {
  return fmt::format("launch of grid ({}, {}, {}) block ({}, {}, {}) refused", grid.x, grid.y, grid.z,
                     block.x, block.y, block.z);
}

int device_attribute(cudaDeviceAttr which, const Grid& at) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "no current device", at.file, at.line);
  check(cudaDeviceGetAttribute(&value, which, device), "device attribute refused", at.file, at.line);
  return value;
}

// What the runtime knows of a kernel on the current device. Asked once: a kernel may be launched many times per millisecond.
struct Known {
  std::size_t static_shared_bytes;
  int compiled_for;  // 90: for compute capability 9.0
};
Known known_of(const void* kernel, const Grid& at) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, Known> known;
  int device = 0;
  check(cudaGetDevice(&device), "no current device", at.file, at.line);
  const std::lock_guard lock(mutex);
  const auto found = known.find({device, kernel});
  if (found != known.end()) return found->second;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "kernel attributes refused", at.file, at.line);
  return known[{device, kernel}] = {attributes.sharedSizeBytes, attributes.ptxVersion};
}

// A block may have 48 KiB of shared memory, static and dynamic together, and more only where the kernel's attribute says how
// much of it is dynamic.
void ask_for_shared_memory(const void* kernel, std::size_t dynamic_bytes, const Grid& at) {
  if (dynamic_bytes == 0) return;  // nvcc refuses a kernel with more than 48 KiB of static shared memory
  const std::size_t static_bytes = known_of(kernel, at).static_shared_bytes;
  if (!launching::must_ask_for_shared_memory(static_bytes, dynamic_bytes)) return;
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, at);
  const std::string refusal =
      launching::shared_memory_refusal(static_bytes, dynamic_bytes, static_cast<std::size_t>(most));
  if (!refusal.empty()) throw input_error(at.file, at.line, "launch refused", refusal);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(dynamic_bytes)),
        "dynamic shared memory refused", at.file, at.line);
}

cudaError_t start(const void* kernel, const Grid& grid, dim3 block, std::size_t shared_bytes, void* stream,
                  void** args, launching::Together together) {
  auto* const s = static_cast<cudaStream_t>(stream);
  if (together.cooperative)
    return cudaLaunchCooperativeKernel(kernel, grid.extent, block, args, shared_bytes, s);
  // code for older chips does not wait for its primary
  const bool beside = together.dependent && known_of(kernel, grid).compiled_for >= 90;
  if (together.cluster == 1 && !beside)
    return cudaLaunchKernel(kernel, grid.extent, block, args, shared_bytes, s);
  cudaLaunchAttribute attribute{};
  if (beside) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  } else {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {together.cluster, 1, 1};
  }
  const cudaLaunchConfig_t config{grid.extent, block, shared_bytes, s, &attribute, 1};
  return cudaLaunchKernelExC(&config, kernel, args);
}

}  // namespace

void Grid::narrow(long long x) {
  if (x < 0 || x > 0x7fffffffLL) throw input_error(file, line, "grid extent out of range", std::to_string(x));
  extent.x = static_cast<unsigned>(x);
}

namespace launching {

void launch_packed(const void* kernel, void (*)(const void*, void**), Grid grid, dim3 block,
                   std::size_t shared_bytes, void* stream, void** args, Together together) {
  if (grid.extent.x == 0 || grid.extent.y == 0 || grid.extent.z == 0) return;
  ask_for_shared_memory(kernel, shared_bytes, grid);
  if (launch_log_on()) log_launch(kernel, grid.extent, block, shared_bytes);
  if (launch_hook != nullptr) launch_hook(stream);
  const Range range(grid.file);
  const cudaError_t status = start(kernel, grid, block, shared_bytes, stream, args, together);
  if (status != cudaSuccess) {
    check(status, refused_launch(grid.extent, block).c_str(), grid.file, grid.line);
  }
}

}  // namespace launching

void device_fill(void* ptr, int byte, std::size_t bytes, void* stream, const char* file, int line) {
  if (bytes == 0) return;
  check(cudaMemsetAsync(ptr, byte, bytes, static_cast<cudaStream_t>(stream)), "device fill refused", file,
        line);
}

void device_copy(void* to, const void* from, std::size_t bytes, void* stream, const char* file, int line) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
        "device copy refused", file, line);
}

int device_multiprocessors() {
  int device = 0;
  int count = 0;
  check(cudaGetDevice(&device), "no current device", __FILE__, __LINE__);
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device attribute refused",
        __FILE__, __LINE__);
  return count;
}

}  // namespace plumb
