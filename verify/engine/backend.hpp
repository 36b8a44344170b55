// Where a variant's memory lies and how a run is fenced in time: the host, a GPU, or the CPU executor.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reference/core/abi.hpp"
#include "verify/engine/entry.hpp"
#include "verify/engine/image.hpp"

namespace plumb {

/// Serves one process. A failure of the device is thrown as Error and becomes the verdict `error`.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Why nothing can run here ("no CUDA device"), or "".
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  /// One line about the device: name, memory, driver.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Makes the image reachable by variants; returns its base there. The image stays valid until download().
  [[nodiscard]] virtual std::byte* upload(std::byte* image, std::int64_t bytes) = 0;
  /// Brings everything of the image back, fences included.
  virtual void download(std::byte* image, std::int64_t bytes) = 0;
  [[nodiscard]] virtual void* stream() { return nullptr; }
  /// Whether begin() wants to be told what a run may touch.
  [[nodiscard]] virtual bool tracks_arrays() const { return false; }
  /// Before everything else of a run: the arrays of the call, at their places in the uploaded image, and the schedule's seed.
  virtual void begin(const CallInfo&, Poison, std::uint64_t /*schedule*/) {}
  /// Why the run just made says nothing (a problem too large for this device), or "".
  [[nodiscard]] virtual std::string declined() { return {}; }
  /// Fenced and poisoned, 256-byte aligned, kept until release_workspace().
  [[nodiscard]] virtual void* workspace(std::int64_t bytes, Poison poison) = 0;
  /// Checks the fences of every workspace handed out since the last call, then frees them. Returns what was wrong, or "".
  [[nodiscard]] virtual std::string release_workspace() = 0;
  /// Waits for everything started since the last call; throws Error on a device error.
  virtual void synchronize() {}
  /// Instruments' findings since the last call, one line each: traps and races of the CPU executor.
  [[nodiscard]] virtual std::vector<std::string> findings() { return {}; }
};

/// Set by the programs that hold kernels for the CPU executor (verify/simt); null in all others.
inline std::unique_ptr<Backend> (*make_simt_backend)() = nullptr;

/// The backend of a device in this build; its unavailable() says why where there is none.
[[nodiscard]] std::unique_ptr<Backend> make_backend(Device);

}  // namespace plumb
