// The GPU for a memory checker: every array has an allocation of its own, exactly as long as the array; outputs and workspace are left
// uninitialised. The other backend's image, guards and poison would hide from the tools where an array ends and what was never written.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "gpu/device/resources.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_info.hpp"
#include "gpu/runtime/launch_log.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/backend/gpu_backend.hpp"

namespace plumb {
namespace {

class ApartBackend final : public Backend {
 public:
  ApartBackend() : reason_(device_unavailable()) {
    if (!reason_.empty()) return;
    stream_.emplace();
    info_ = device_info();
  }

  Reason why_not() const override { return reason_; }
  std::string describe() const override { return reason_.empty() ? plumb::describe(info_) : reason_; }
  int sm() const override { return info_.sm; }
  void* stream() override { return stream_->get(); }
  bool apart() const override { return true; }
  // never asked: all arrays are placed
  std::byte* upload(std::byte*, std::int64_t) override { return nullptr; }

  void* place(const ArrayInfo& array, const std::byte* at_offset, Poison poison) override {
    Placed& placed = placed_.emplace_back();
    placed.array = array;
    placed.host = const_cast<std::byte*>(at_offset);
    placed.memory = DeviceArray<std::byte>(array.span_bytes(), "an array of the case");
    placed.array.data = placed.host;
    if (array.span_bytes() > 0 && !(array.output && holds_only(placed.array, poison))) {
      copy(placed, placed.memory.data(), placed.host, cudaMemcpyHostToDevice);
    }
    stream_->wait();
    return placed.memory.data();
  }

  void download(std::byte*, std::int64_t) override {
    synchronize();
    for (const Placed& placed : placed_) {
      // an element that was never written is found here too: reading it back is a read of uninitialised memory
      if (placed.array.span_bytes() > 0)
        copy(placed, placed.host, placed.memory.data(), cudaMemcpyDeviceToHost);
    }
    stream_->wait();
    placed_.clear();
  }

  void* workspace(std::int64_t bytes, Poison) override {
    if (bytes < 0) throw Error(fmt::format("a workspace of {} bytes was asked for", bytes));
    return workspace_.emplace_back(bytes, "a workspace").data();
  }

  std::string release_workspace() override {
    placed_.clear();  // where the run threw
    workspace_.clear();
    return {};
  }

  void synchronize() override {
    PLUMB_CUDA(cudaDeviceSynchronize());
    PLUMB_CUDA(cudaGetLastError());
  }

  void watch_launches() override { start_launch_log(); }
  std::vector<KernelUse> watched_launches() override { return kernels_watched(); }

 private:
  struct Placed {
    ArrayInfo array;
    std::byte* host = nullptr;
    DeviceArray<std::byte> memory;
  };

  // Copies the elements alone; the padding between rows stays uninitialised.
  void copy(const Placed& placed, void* to, const void* from, cudaMemcpyKind kind) {
    const ArrayInfo& a = placed.array;
    const auto pitch = static_cast<std::size_t>(a.ld * a.element_bytes());
    PLUMB_CUDA(cudaMemcpy2DAsync(to, pitch, from, pitch, static_cast<std::size_t>(a.cols * a.element_bytes()),
                                 static_cast<std::size_t>(a.rows), kind,
                                 static_cast<cudaStream_t>(stream_->get())));
  }

  std::string reason_;
  DeviceInfo info_;
  std::optional<DeviceStream> stream_;  // none without a device
  std::vector<Placed> placed_;
  std::vector<DeviceArray<std::byte>> workspace_;
};

}  // namespace

namespace {

[[maybe_unused]] const bool registered = [] {
  make_gpu_apart_backend = []() -> std::unique_ptr<Backend> { return std::make_unique<ApartBackend>(); };
  return true;
}();

}  // namespace

}  // namespace plumb
