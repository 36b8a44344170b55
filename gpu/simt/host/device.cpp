// gpu/device on the executor: its launches, copies, memory and streams. gpu/runtime holds the same functions for a GPU.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "gpu/device/devices.hpp"
#include "gpu/device/launch.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/device/resources.hpp"
#include "gpu/simt/executor.hpp"
#include "gpu/simt/host/ptx_kernels.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/error.hpp"

namespace plumb {

// ---- launch.hpp and memory.hpp ----

void Grid::narrow(long long x) {
  if (x < 0 || x > 0x7fffffffLL) throw input_error(file, line, "grid extent out of range", std::to_string(x));
  extent.x = static_cast<unsigned>(x);
}

namespace launching {

void launch_packed(const void* kernel, void (*invoke)(const void*, void**), Grid grid, dim3 block,
                   std::size_t shared_bytes, void* stream, void** args, Together together) {
  if (grid.extent.x == 0 || grid.extent.y == 0 || grid.extent.z == 0) return;
  const simt::KernelCode code = simt::code_of({kernel, invoke});
  simt::launch_packed(code.kernel, code.invoke, args,
                      {{},
                       code.kernel,
                       grid.extent,
                       block,
                       shared_bytes,
                       stream,
                       together.cooperative,
                       true,
                       {grid.file, grid.line},
                       nullptr,
                       nullptr,
                       together.cluster > 1 ? uint3{together.cluster, 1, 1} : uint3{0, 0, 0},
                       together.dependent});
}

}  // namespace launching

void device_fill(void* ptr, int byte, std::size_t bytes, void* stream, const char* file, int line) {
  const auto lock = simt::enter_engine();
  if (bytes == 0 || simt::stopped()) return;
  simt::host_operation("device_fill", stream, {file, line}, ptr, nullptr, bytes);
  if (!simt::stopped()) std::memset(ptr, byte, bytes);
}

void device_copy(void* to, const void* from, std::size_t bytes, void* stream, const char* file, int line) {
  const auto lock = simt::enter_engine();
  if (bytes == 0 || simt::stopped()) return;
  simt::host_operation("device_copy", stream, {file, line}, to, from, bytes);
  if (!simt::stopped()) std::memcpy(to, from, bytes);
}

namespace {
/// A copy that the host waits for.
void copy_and_wait(void* to, const void* from, std::size_t bytes, void* stream, const char* file, int line) {
  device_copy(to, from, bytes, stream, file, line);
  const auto lock = simt::enter_engine();
  simt::order_streams(simt::host_key(), stream);
}
}  // namespace

// Once the run is stopped the bytes are not what its kernels would have written: the host must not go on with them.
void device_read(void* host, const void* device, std::size_t bytes, void* stream, const char* file,
                 int line) {
  copy_and_wait(host, device, bytes, stream, file, line);
  if (bytes == 0) return;
  const auto lock = simt::enter_engine();
  if (simt::stopped()) throw input_error(file, line, "nothing to read", "the run was stopped before");
}
void device_write(void* device, const void* host, std::size_t bytes, void* stream, const char* file,
                  int line) {
  copy_and_wait(device, host, bytes, stream, file, line);
}

int device_multiprocessors() { return simt::current().run.options.multiprocessors; }
int device_sm() { return kAnySm; }
long long device_l2_bytes() { return 4LL << 20; }
long long device_shared_bytes() { return 227LL << 10; }  // of sm_90
bool device_has_clock() { return false; }

// ---- resources.hpp and devices.hpp ----

namespace {
constexpr int kLogicalDevices = 8;
thread_local HeldBytes held_bytes;
}  // namespace

int device_count() { return kLogicalDevices; }
void use_device(int device) {
  if (device < 0 || device >= kLogicalDevices)
    throw Error("the CPU executor has no device " + std::to_string(device));
}
bool connect_devices(int) { return true; }
std::string device_name() { return "CPU executor"; }
std::int64_t device_peak_bytes() { return held_bytes.peak(); }

void* device_allocate(std::size_t bytes, const char* what) {
  void* const p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
  if (p == nullptr) throw std::bad_alloc();
  held_bytes.add(p, static_cast<std::int64_t>(bytes));
  const auto lock = simt::enter_engine();
  simt::add_array(what, p, bytes, false, true, true);
  return p;
}
void device_release(void* p) noexcept {
  held_bytes.remove(p);
  {
    const auto lock = simt::enter_engine();
    simt::remove_array(p);
  }
  std::free(p);
}
std::int64_t device_memory_free() { return std::int64_t{1} << 34; }
void require_device_memory(std::int64_t, const std::string&) {}
const char* no_device() { return nullptr; }

// Pinned memory is watched, as copies of two streams may race there; the host's own accesses are not.
HostBytes::HostBytes(std::int64_t bytes, bool pinned)
    : data_(new char[static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))]), pinned_(pinned) {
  if (!pinned_) return;
  const auto lock = simt::enter_engine();
  simt::add_array("pinned memory of the host", data_, static_cast<std::size_t>(bytes), true, true);
}
HostBytes::~HostBytes() {
  if (pinned_) {
    const auto lock = simt::enter_engine();
    simt::remove_array(data_);
  }
  delete[] data_;
}
void HostBytes::copy_to(void* device, std::int64_t bytes, void* stream) const {
  device_copy(device, data_, static_cast<std::size_t>(bytes), stream);
}
void HostBytes::copy_from(const void* device, const HostRows& rows, void* stream) {
  for (std::int64_t i = 0; i < rows.count; ++i)
    device_copy(data_ + rows.offset + i * rows.pitch, static_cast<const char*>(device) + i * rows.bytes,
                static_cast<std::size_t>(rows.bytes), stream);
}

// A stream is the runtime's, so that a kernel's host code may record events in it; an event is what is known at its point.
DeviceStream::DeviceStream(StreamPriority) : stream_(simt::make_stream()) {}
DeviceStream::~DeviceStream() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}
void DeviceStream::wait() const {
  const auto lock = simt::enter_engine();
  simt::order_streams(simt::host_key(), stream_);
}

DeviceEvent::DeviceEvent() : event_(new std::vector<int>) {}
DeviceEvent::~DeviceEvent() { delete static_cast<std::vector<int>*>(event_); }
void DeviceEvent::record(void* stream) {
  const auto lock = simt::enter_engine();
  simt::enter_stream(stream);
  *static_cast<std::vector<int>*>(event_) = simt::knowledge_of(stream);
}
void DeviceEvent::wait(void* stream) const {
  const auto lock = simt::enter_engine();
  simt::add_knowledge(stream, *static_cast<const std::vector<int>*>(event_));
}

DeviceNumber::DeviceNumber() : host_(new std::int32_t(0)) {}
DeviceNumber::~DeviceNumber() { delete host_; }
void DeviceNumber::fetch(const std::int32_t* from, void* stream) {
  device_read(host_, from, sizeof(std::int32_t), stream);
}
std::int32_t DeviceNumber::value() const { return *host_; }

DeviceMarks::DeviceMarks(std::int64_t most) : events_(static_cast<std::size_t>(most)) {}
DeviceMarks::~DeviceMarks() = default;
void DeviceMarks::mark(void*) {
  const auto nanoseconds = std::chrono::steady_clock::now().time_since_epoch().count();
  events_.at(used_++) = reinterpret_cast<void*>(nanoseconds);
}
void DeviceMarks::hold(int, void*) {}  // launches end before they return
std::vector<double> DeviceMarks::seconds() const {
  std::vector<double> between;
  for (std::size_t i = 1; i < used_; ++i) {
    between.push_back(1e-9 * static_cast<double>(reinterpret_cast<std::intptr_t>(events_[i]) -
                                                 reinterpret_cast<std::intptr_t>(events_[i - 1])));
  }
  return between;
}

}  // namespace plumb
