// Memory, streams and marks with an owner, on a GPU.
#include "gpu/device/resources.hpp"

#include <algorithm>

#include "gpu/device/devices.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_info.hpp"
#include "gpu/runtime/roofs.hpp"
#include "reference/core/resource_error.hpp"

namespace plumb {
namespace {

std::string mebibytes(std::int64_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB"; }

ResourceError too_little(std::int64_t bytes, const std::string& what) {
  return ResourceError("device memory: " + what + " needs " + mebibytes(bytes) + ", " +
                       mebibytes(device_memory_free()) + " are free");
}

thread_local HeldBytes held_bytes;

}  // namespace

void* device_allocate(std::size_t bytes, const char* what) {
  void* p = nullptr;
  const cudaError_t status = cudaMalloc(&p, bytes > 0 ? bytes : 1);
  if (status == cudaErrorMemoryAllocation) {
    ignore_cuda(status);
    throw too_little(static_cast<std::int64_t>(bytes), what);
  }
  check_cuda(status, "cudaMalloc(&p, bytes)", __FILE__, __LINE__);
  held_bytes.add(p, static_cast<std::int64_t>(bytes));
  return p;
}

void device_release(void* p) noexcept {
  held_bytes.remove(p);
  ignore_cuda(cudaFree(p));
}

std::int64_t device_memory_free() {
  std::size_t free_bytes = 0, total = 0;
  PLUMB_CUDA(cudaMemGetInfo(&free_bytes, &total));
  return static_cast<std::int64_t>(free_bytes);
}

void require_device_memory(std::int64_t bytes, const std::string& what) {
  if (bytes > device_memory_free())
    throw Error(too_little(bytes, what).what() + std::string(": fewer --inputs or --layers fit"));
}

const char* no_device() {
  static const std::string reason = device_unavailable();
  return reason.empty() ? nullptr : reason.c_str();
}

int device_count() {
  int count = 0;
  PLUMB_CUDA(cudaGetDeviceCount(&count));
  return count;
}
void use_device(int device) {
  PLUMB_CUDA(cudaSetDevice(device));
  if (const std::string reason = device_unavailable(); !reason.empty()) throw Error(reason);
}
bool connect_devices(int other) {
  int mine = 0, possible = 0;
  PLUMB_CUDA(cudaGetDevice(&mine));
  PLUMB_CUDA(cudaDeviceCanAccessPeer(&possible, mine, other));
  if (possible == 0) return false;
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  if (status != cudaErrorPeerAccessAlreadyEnabled) PLUMB_CUDA(status);
  ignore_cuda(cudaGetLastError());
  return true;
}
std::string device_name() { return device_info().name; }
std::int64_t device_peak_bytes() { return held_bytes.peak(); }

HostBytes::HostBytes(std::int64_t bytes, bool pinned) : pinned_(pinned) {
  const std::size_t wanted = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  if (!pinned) {
    data_ = new char[wanted];
    return;
  }
  const cudaError_t status = cudaHostAlloc(&data_, wanted, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    ignore_cuda(status);
    throw Error("host memory: " + mebibytes(bytes) + " cannot be pinned");
  }
  check_cuda(status, "cudaHostAlloc(&data_, wanted, cudaHostAllocPortable)", __FILE__, __LINE__);
}
HostBytes::~HostBytes() {
  if (pinned_) {
    ignore_cuda(cudaFreeHost(data_));
  } else {
    delete[] data_;
  }
}
void HostBytes::copy_to(void* device, std::int64_t bytes, void* stream) const {
  PLUMB_CUDA(cudaMemcpyAsync(device, data_, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                             static_cast<cudaStream_t>(stream)));
}
void HostBytes::copy_from(const void* device, const HostRows& rows, void* stream) {
  if (rows.count == 0) return;
  const auto width = static_cast<std::size_t>(rows.bytes);
  PLUMB_CUDA(cudaMemcpy2DAsync(data_ + rows.offset, static_cast<std::size_t>(rows.pitch), device, width,
                               width, static_cast<std::size_t>(rows.count), cudaMemcpyDeviceToHost,
                               static_cast<cudaStream_t>(stream)));
}

DeviceStream::DeviceStream(StreamPriority priority) {
  int least = 0, greatest = 0;  // the greatest has the lowest number
  PLUMB_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  PLUMB_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                          priority == StreamPriority::ahead ? greatest : 0));
  stream_ = stream;
}
DeviceStream::~DeviceStream() {
  if (stream_ != nullptr) ignore_cuda(cudaStreamDestroy(static_cast<cudaStream_t>(stream_)));
}
void DeviceStream::wait() const { PLUMB_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream_))); }

DeviceEvent::DeviceEvent() {
  cudaEvent_t event = nullptr;
  PLUMB_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  event_ = event;
}
DeviceEvent::~DeviceEvent() {
  if (event_ != nullptr) ignore_cuda(cudaEventDestroy(static_cast<cudaEvent_t>(event_)));
}
void DeviceEvent::record(void* stream) {
  PLUMB_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(event_), static_cast<cudaStream_t>(stream)));
}
void DeviceEvent::wait(void* stream) const {
  PLUMB_CUDA(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), static_cast<cudaEvent_t>(event_), 0));
}

DeviceNumber::DeviceNumber() {
  try {
    for (void** const event : {&written_, &arrived_}) {
      cudaEvent_t made = nullptr;
      PLUMB_CUDA(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
      *event = made;
    }
    PLUMB_CUDA(cudaMallocHost(&host_, sizeof(std::int32_t)));
  } catch (...) {
    release();
    throw;
  }
}
DeviceNumber::~DeviceNumber() { release(); }
void DeviceNumber::release() noexcept {
  for (void* const event : {written_, arrived_}) {
    if (event != nullptr) ignore_cuda(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
  }
  if (host_ != nullptr) ignore_cuda(cudaFreeHost(host_));
}
void DeviceNumber::fetch(const std::int32_t* from, void* stream) {
  auto* const aside = static_cast<cudaStream_t>(aside_.get());
  PLUMB_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(written_), static_cast<cudaStream_t>(stream)));
  PLUMB_CUDA(cudaStreamWaitEvent(aside, static_cast<cudaEvent_t>(written_)));
  PLUMB_CUDA(cudaMemcpyAsync(host_, from, sizeof(std::int32_t), cudaMemcpyDeviceToHost, aside));
  PLUMB_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(arrived_), aside));
}
std::int32_t DeviceNumber::value() const {
  PLUMB_CUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(arrived_)));
  return *host_;
}

DeviceMarks::DeviceMarks(std::int64_t most) {
  for (std::int64_t i = 0; i < most; ++i) {
    cudaEvent_t event = nullptr;
    PLUMB_CUDA(cudaEventCreate(&event));
    events_.push_back(event);
  }
}
DeviceMarks::~DeviceMarks() {
  for (void* event : events_) ignore_cuda(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
}
void DeviceMarks::mark(void* stream) {
  PLUMB_CUDA(
      cudaEventRecord(static_cast<cudaEvent_t>(events_.at(used_++)), static_cast<cudaStream_t>(stream)));
}
void DeviceMarks::hold(int microseconds, void* stream) { hold_stream(microseconds, stream); }
std::vector<double> DeviceMarks::seconds() const {
  std::vector<double> between;
  if (used_ == 0) return between;
  PLUMB_CUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(events_[used_ - 1])));
  for (std::size_t i = 1; i < used_; ++i) {
    float ms = 0;
    PLUMB_CUDA(cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(events_[i - 1]),
                                    static_cast<cudaEvent_t>(events_[i])));
    between.push_back(1e-3 * static_cast<double>(ms));
  }
  return between;
}

}  // namespace plumb
