// Where a variant's memory lies and how a run is timed: the host, a GPU, or the CPU executor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reference/core/abi.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/image/image.hpp"

namespace plumb {

/// Bytes [offset, offset + bytes) of an image.
struct ByteRange {
  std::int64_t offset = 0, bytes = 0;
};

/// What one kernel of a run took of the device; sizes in bytes. Library kernels do not pass the launch seam and are not seen.
struct KernelUse {
  std::string name;
  int registers = 0;     // per thread
  int shared_bytes = 0;  // per block, static and dynamic
  int local_bytes = 0;   // per thread: spills and indexed arrays
  int threads = 0;       // per block
  std::int64_t blocks = 0;
};

/// In place of a number of OpenMP threads: every team has one, and what asks beforehand is told of as many as usual. So it is in a caller's
/// own parallel region, and under a limit.
inline constexpr int kOneUnawares = -1;

/// Serves one process. A failure of the device is thrown as Error and becomes the verdict `error`.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Why nothing can run here: "no CUDA device".
  [[nodiscard]] virtual Reason why_not() const { return {}; }
  /// One line about the device: name, memory, driver.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Compute capability * 10; 0: whatever a variant needs.
  [[nodiscard]] virtual int sm() const { return 0; }
  /// Makes the image reachable by variants; returns its base there. The image stays valid until download().
  [[nodiscard]] virtual std::byte* upload(std::byte* image, std::int64_t bytes) = 0;
  /// Brings everything of the image back, guards included.
  virtual void download(std::byte* image, std::int64_t bytes) = 0;
  [[nodiscard]] virtual void* stream() { return nullptr; }
  /// Another stream, which nothing orders with that one; null on the host, and where a second caller is not known.
  [[nodiscard]] virtual void* second_stream() { return nullptr; }
  /// Calls both at once, by two threads whose launches overlap where nothing orders them; here one after the other.
  virtual void call_together(const std::function<void()>& first, const std::function<void()>& second) {
    first(), second();
  }
  /// Whether begin() wants to be told what a run may touch.
  [[nodiscard]] virtual bool tracks_arrays() const { return false; }
  /// Before everything else of a run: the arrays of the call, at their places in the uploaded image; for the CPU executor, the
  /// schedule's seed and whether every access is checked.
  virtual void begin(const CallInfo&, Poison, std::uint64_t /*schedule*/, bool /*check_accesses*/) {}
  /// Before begin(): the next run may ask the CPU executor for so many threads, over all its launches.
  virtual void admit_threads(std::int64_t) {}
  /// Whether every array is to be put by place() into memory of its own, instead of all by upload() into one image.
  [[nodiscard]] virtual bool apart() const { return false; }
  /// Memory for one array of the image; `at_offset` is where it lies there, with its contents. An output that holds only poison is left as
  /// memory comes. download() brings all of them back.
  [[nodiscard]] virtual void* place(const ArrayInfo&, const std::byte* at_offset, Poison);
  /// Disturbs the next run from this seed: load beside it, delays, another priority, other contents of caches. 0: no more. On the host it
  /// has more OpenMP threads than cores, or one.
  virtual void disturb(std::uint64_t /*seed*/, bool /*one_thread*/) {}
  /// The next run has so many OpenMP threads on the host, where the system has as many to give, or kOneUnawares; until
  /// download() or release_workspace().
  virtual void use_threads(int) {}
  /// Why the last run says nothing: the problem is too large for this device.
  [[nodiscard]] virtual Reason why_void() { return {}; }
  /// Guarded and poisoned, 256-byte aligned, kept until release_workspace().
  [[nodiscard]] virtual void* workspace(std::int64_t bytes, Poison poison) = 0;
  /// Checks the guards of every workspace handed out since the last call, then frees them. Returns what was wrong, or "".
  [[nodiscard]] virtual std::string release_workspace() = 0;
  /// The variant has returned, and nobody has waited for the device so far.
  virtual void run_returned() {}
  /// Waits for everything started since the last call; throws Error on a device error.
  virtual void synchronize() {}
  /// Instruments' findings since the last call, one line each: traps and races of the CPU executor.
  [[nodiscard]] virtual std::vector<std::string> findings() { return {}; }

  // ---- timing ----
  /// Remembers these ranges of the uploaded image, the outputs: every sample begins with them as they are now.
  virtual void keep(const std::vector<ByteRange>&);
  /// Puts the kept bytes back, empties the caches when `cold`, and starts the clock of one run.
  virtual void begin_sample(bool cold);
  /// Stops it: seconds by the device's own clock, with what the run left working elsewhere.
  [[nodiscard]] virtual double end_sample();
  /// Starts noting the kernels that are launched.
  virtual void watch_launches() {}
  /// The kernels launched since watch_launches(), each once; stops noting.
  [[nodiscard]] virtual std::vector<KernelUse> watched_launches() { return {}; }
};

/// Set by gpu_backend.cpp and gpu_apart_backend.cpp in the programs that are linked with them; null in all others.
inline std::unique_ptr<Backend> (*make_gpu_backend)() = nullptr;
inline std::unique_ptr<Backend> (*make_gpu_apart_backend)() = nullptr;

/// Set by the programs that hold kernels for the CPU executor (verify/simt); null in all others.
inline std::unique_ptr<Backend> (*make_simt_backend)() = nullptr;

/// The backend of a device in this program; its why_not() says why where there is none.
[[nodiscard]] std::unique_ptr<Backend> make_backend(Device);
/// That of a GPU with every array in an allocation of its own, nothing poisoned and nothing guarded: a checker of memory then knows
/// where each array ends and what was never written.
[[nodiscard]] std::unique_ptr<Backend> make_apart_backend();

/// Whether every element of the array, which lies in memory of the host, is this poison.
[[nodiscard]] bool holds_only(const ArrayInfo&, Poison);

/// Bytes of the host's last-level cache.
[[nodiscard]] std::int64_t last_level_cache_bytes();

}  // namespace plumb
