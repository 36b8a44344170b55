// Device memory, streams and marks of time with an owner, for host code that brings its own: models, the judge's backends, benches. A
// variant's memory comes from its engine instead. gpu/runtime/resources.cpp defines these for a GPU, gpu/simt/host/device.cpp for the CPU
// executor, where arrays are watched host memory, so that a model's kernels are judged there as any other.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/memory.hpp"

namespace plumb {

/// `bytes` of device memory, uninitialised, 256-byte aligned, never null. Errors: throws Error with what it
/// was for, what was wanted and what is free.
[[nodiscard]] void* device_allocate(std::size_t bytes, const char* what);
void device_release(void* p) noexcept;
/// Bytes that can still be allocated.
[[nodiscard]] std::int64_t device_memory_free();
/// Throws Error, naming both numbers, where a network's `bytes` will not fit: before the first of many allocations.
void require_device_memory(std::int64_t bytes, const std::string& what);
/// Why nothing can run on a device here; null where it can. The text is valid until the program ends.
[[nodiscard]] const char* no_device();

/// An array of `size()` elements in device memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::int64_t size, const char* what)
      : data_(static_cast<T*>(device_allocate(static_cast<std::size_t>(size) * sizeof(T), what))),
        size_(size) {}
  /// A copy of `from`, there before this returns.
  DeviceArray(const std::vector<T>& from, const char* what, void* stream)
      : DeviceArray(static_cast<std::int64_t>(from.size()), what) {
    device_write(data_, from.data(), from.size() * sizeof(T), stream);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() {
    if (data_ != nullptr) device_release(data_);
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
  /// The first `count` elements, after everything queued to `stream`.
  [[nodiscard]] std::vector<T> read(std::int64_t count, void* stream) const {
    std::vector<T> host(static_cast<std::size_t>(count));
    device_read(host.data(), data_, host.size() * sizeof(T), stream);
    return host;
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Rows of a dense matrix in bytes: `count` rows of `bytes`, each `pitch` bytes after the one before, the first `offset` bytes from the begin.
struct HostRows {
  std::int64_t count = 0, bytes = 0, offset = 0, pitch = 0;
};

/// Memory of the host, uninitialised. Pinned: copies run beside the host.
class HostBytes {
 public:
  HostBytes() = default;
  /// Errors: throws Error, where the system has no more memory, or none that it pins.
  HostBytes(std::int64_t bytes, bool pinned);
  HostBytes(HostBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), pinned_(std::exchange(other.pinned_, false)) {}
  HostBytes& operator=(HostBytes&& other) noexcept {
    std::swap(data_, other.data_), std::swap(pinned_, other.pinned_);
    return *this;
  }
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  ~HostBytes();
  [[nodiscard]] char* data() const { return data_; }
  /// Queues a copy of the first `bytes` to device memory; the bytes must stay until it has run.
  void copy_to(void* device, std::int64_t bytes, void* stream) const;
  /// Queues a copy of rows that lie one after the other in device memory to where `rows` says.
  void copy_from(const void* device, const HostRows& rows, void* stream);

 private:
  char* data_ = nullptr;
  bool pinned_ = false;
};

/// Ahead: blocks of its kernels start before those of other streams that wait for a place.
enum class StreamPriority : unsigned char { usual, ahead };

/// A stream of its own, which waits for no other.
class DeviceStream {
 public:
  explicit DeviceStream(StreamPriority priority = StreamPriority::usual);
  /// Takes over a stream that was made otherwise: of another priority.
  explicit DeviceStream(void* made) : stream_(made) {}
  DeviceStream(DeviceStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  DeviceStream& operator=(DeviceStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  ~DeviceStream();  // NOLINT(performance-trivially-destructible): it is not on a GPU
  [[nodiscard]] void* get() const { return stream_; }
  /// Until everything queued has run. Errors: throws Error with the error that ended a kernel.
  void wait() const;

 private:
  void* stream_ = nullptr;
};

/// A point in a stream for which others wait, also streams of other devices.
class DeviceEvent {
 public:
  DeviceEvent();
  DeviceEvent(DeviceEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  DeviceEvent& operator=(DeviceEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  ~DeviceEvent();
  /// The point behind everything queued to `stream` so far; forgets the point before.
  void record(void* stream);
  /// What is queued to `stream` from here on comes after the point recorded last; the host does not wait.
  void wait(void* stream) const;

 private:
  void* event_ = nullptr;
};

/// A number that a kernel wrote, brought to the host beside the stream, which waits for no copy.
class DeviceNumber {
 public:
  DeviceNumber();
  DeviceNumber(const DeviceNumber&) = delete;
  DeviceNumber& operator=(const DeviceNumber&) = delete;
  ~DeviceNumber();
  /// Queues a copy of the number at `from` behind everything queued so far.
  void fetch(const std::int32_t* from, void* stream);
  /// What the last fetch() brought; waits for it alone.
  [[nodiscard]] std::int32_t value() const;

 private:
  void release() noexcept;

  DeviceStream aside_;
  std::int32_t* host_ = nullptr;
  void *written_ = nullptr, *arrived_ = nullptr;
};

/// Moments in a stream. Made before the loop that is timed; marking costs the device next to nothing.
class DeviceMarks {
 public:
  explicit DeviceMarks(std::int64_t most);
  DeviceMarks(const DeviceMarks&) = delete;
  DeviceMarks& operator=(const DeviceMarks&) = delete;
  ~DeviceMarks();
  void mark(void* stream);
  /// Holds back what is queued from here on for so long, by a kernel that waits.
  static void hold(int microseconds, void* stream);
  /// Seconds between each mark and the next; waits for the last.
  [[nodiscard]] std::vector<double> seconds() const;

 private:
  std::vector<void*> events_;
  std::size_t used_ = 0;
};

/// What the host takes to queue a run of a few launches with its mark, about.
constexpr int kQueueingMicroseconds = 15;

/// Seconds of the fastest of so many calls of `run`, by the device's clock. The device begins when the host has queued them: else the clock
/// would count the time in which it does, which is longer than a short kernel's.
template <class Run>
double least_seconds(const Run& run, int runs, void* stream) {
  DeviceMarks marks(runs + 1);
  DeviceMarks::hold(runs * kQueueingMicroseconds, stream);
  marks.mark(stream);
  for (int r = 0; r < runs; ++r) {
    run();
    marks.mark(stream);
  }
  const std::vector<double> seconds = marks.seconds();
  return *std::min_element(seconds.begin(), seconds.end());
}

}  // namespace plumb
