// The GPU's backend: the staged image lies in guarded device memory; every memory that could hold an old answer is poisoned; runs go
// to a non-blocking stream; and a wait for the whole device follows, so that no work on another stream ends after the judge has looked.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/device/resources.hpp"
#include "gpu/runtime/device_info.hpp"
#include "gpu/runtime/disturb.hpp"
#include "gpu/runtime/handles.hpp"
#include "gpu/runtime/launch_log.hpp"
#include "gpu/runtime/poison.hpp"
#include "gpu/runtime/roofs.hpp"
#include "reference/core/error.hpp"
#include "verify/engine/backend/gpu_allocations.hpp"
#include "verify/engine/backend/gpu_backend.hpp"
#include "verify/image/image.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kDeviceGuardBytes = 64 << 10;  // on both sides of the image and of every workspace
constexpr std::int64_t kMostKept = 128 << 20;         // of a copy of outputs that is larger than it must be
constexpr std::uint64_t kGuardBits = 0x7ff5f1ce7fb5f1ceull;  // signalling NaNs in fp32 and fp64

std::int64_t round_up(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Device memory between two guard zones, kept for the next run: cudaMalloc inside a run would be timed.
struct GuardedBlock {
  DeviceArray<std::byte> memory;
  std::int64_t capacity = 0;  // bytes between the guards
  std::int64_t bytes = 0;     // of it in use
  [[nodiscard]] std::byte* base() const { return memory.data() + kDeviceGuardBytes; }
};

class GpuBackend final : public Backend {
 public:
  GpuBackend() : reason_(device_unavailable()) {
    if (!reason_.empty()) return;
    info_ = device_info();
    stream_.emplace();
    mismatches_ = DeviceArray<unsigned long long>(1, "a count of mismatches");
    PLUMB_CUDA(cudaDeviceGetLimit(&persisting_bytes_, cudaLimitPersistingL2CacheSize));
  }

  Reason why_not() const override { return reason_; }
  std::string describe() const override { return reason_.empty() ? plumb::describe(info_) : reason_; }
  int sm() const override { return info_.sm; }
  void* stream() override { return stream_now(); }

  void disturb(std::uint64_t seed, bool) override {
    if (seed == 0 || !reason_.empty()) return;
    if (!disturbance_) disturbance_.emplace();
    disturbance_->begin(seed);
    disturbed_ = true;
  }

  std::byte* upload(std::byte* image, std::int64_t bytes) override {
    if (image_.capacity < bytes) {
      image_ = {};  // freed before the next allocation: two images at once may not fit
      image_ = make_block(bytes);
    }
    image_.bytes = bytes;
    // three kinds in turn, as the runs of a case use them; workspace() is told which one it is
    static constexpr Poison kKinds[] = {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b};
    run_poison_ = poison_bits(kKinds[uploads_++ % 3], 8);
    poison_own_allocations(run_poison_);
    poison_small_blocks(run_poison_, stream_now());
    guard(image_);
    transfer(image, bytes, cudaMemcpyHostToDevice);
    PLUMB_CUDA(cudaDeviceSynchronize());
    shared_poison_due_ = true;
    return image_.base();
  }

  void download(std::byte* image, std::int64_t bytes) override {
    synchronize();
    end_disturbance();
    transfer(image, bytes, cudaMemcpyDeviceToHost);
    if (const std::string wrong = damage(image_); !wrong.empty()) {
      image_damage_ = fmt::format("{} the staged arrays of {} bytes, beyond their guards", wrong, bytes);
    }
  }

  void* workspace(std::int64_t bytes, Poison poison) override {
    if (bytes < 0) throw Error(fmt::format("a workspace of {} bytes was asked for", bytes));
    // the smallest idle block that is large enough
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->capacity >= bytes && (best == idle_.end() || it->capacity < best->capacity)) best = it;
    }
    if (best != idle_.end()) {
      used_.push_back(std::move(*best));
      idle_.erase(best);
    } else {
      used_.push_back(make_block(bytes));
    }
    GuardedBlock& block = used_.back();
    block.bytes = bytes;
    run_poison_ = poison_bits(poison, 8);
    fill_pattern(block.base(), run_poison_, block.capacity, stream_now());
    guard(block);
    return block.base();
  }

  std::string release_workspace() override {
    end_disturbance();  // where the run threw
    poison_own_allocations(0);
    std::string wrong = std::exchange(image_damage_, {});
    for (GuardedBlock& block : used_) {
      if (const std::string text = damage(block); !text.empty() && wrong.empty()) {
        wrong = fmt::format("{} a workspace of {} bytes", text, block.bytes);
      }
      idle_.push_back(std::move(block));
    }
    used_.clear();
    // one large case must not keep the memory of all later ones
    std::int64_t kept = 0;
    for (const GuardedBlock& block : idle_) kept += block.capacity;
    if (kept > info_.memory_bytes / 8) idle_.clear();
    return wrong;
  }

  void synchronize() override {
    if (shared_poison_due_) {  // directly before the run: prepare() has launched kernels of its own
      shared_poison_due_ = false;
      poison_shared_memory(run_poison_, info_.shared_per_block_bytes, stream_now());
      if (disturbed_) disturbance_->start();
    }
    PLUMB_CUDA(cudaDeviceSynchronize());
    PLUMB_CUDA(cudaGetLastError());
  }

  std::vector<std::string> findings() override {
    std::vector<std::string> found;
    int device = 0;
    PLUMB_CUDA(cudaGetDevice(&device));
    if (device != 0) {
      found.push_back(fmt::format("left device {} current instead of 0", device));
      PLUMB_CUDA(cudaSetDevice(0));
    }
    std::size_t persisting = 0;
    PLUMB_CUDA(cudaDeviceGetLimit(&persisting, cudaLimitPersistingL2CacheSize));
    if (persisting != persisting_bytes_) {
      found.push_back(fmt::format("set {} bytes of the L2 cache aside for itself", persisting));
      PLUMB_CUDA(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, persisting_bytes_));
    }
    return found;
  }

  void keep(const std::vector<ByteRange>& ranges) override {
    kept_ranges_ = ranges;
    std::int64_t bytes = 0;
    for (const ByteRange& r : ranges) bytes += round_up(r.bytes);
    if (kept_.size() < bytes || kept_.size() > std::max<std::int64_t>(2 * bytes, kMostKept)) {
      kept_ = {};
      kept_ = DeviceArray<std::byte>(bytes, "a copy of the outputs");
    }
    copy_kept(true);
    poison_own_allocations(0);  // it would be timed
    PLUMB_CUDA(cudaStreamSynchronize(stream_now()));
    if (begin_.get() == nullptr) {
      begin_ = make_event();
      end_ = make_event();
      flush_ = DeviceArray<std::byte>(4 * info_.l2_bytes / 16 * 16, "what empties L2");
      sink_ = DeviceArray<unsigned>(1, "a sink of sums");
      PLUMB_CUDA(cudaMemsetAsync(flush_.data(), 0x5a, static_cast<std::size_t>(flush_.size()), stream_now()));
    }
    hold_microseconds_ = kShortestHold;
  }

  void begin_sample(bool cold) override {
    copy_kept(false);
    if (cold) read_through(flush_.data(), flush_.size(), sink_.data(), stream_now());
    // otherwise the clock would count the time in which the host queues the work
    hold_stream(hold_microseconds_, stream_now());
    PLUMB_CUDA(cudaEventRecord(begin_.get(), stream_now()));
    queued_from_ = std::chrono::steady_clock::now();
  }

  double end_sample() override {
    PLUMB_CUDA(cudaEventRecord(end_.get(), stream_now()));
    const auto queued = std::chrono::steady_clock::now();
    double seconds = elapsed_ms(begin_, end_) / 1000.0;
    const auto finished = std::chrono::steady_clock::now();
    PLUMB_CUDA(cudaDeviceSynchronize());
    PLUMB_CUDA(cudaGetLastError());
    // work that a variant left on another stream belongs to the time; an idle device answers within some microseconds
    const double later = std::chrono::duration<double>(std::chrono::steady_clock::now() - finished).count();
    if (later > kIdleAnswerSeconds) seconds += later;
    const double queueing = std::chrono::duration<double, std::micro>(queued - queued_from_).count();
    hold_microseconds_ =
        static_cast<int>(std::clamp(1.5 * queueing + 5, double{kShortestHold}, double{kLongestHold}));
    return seconds;
  }

  void watch_launches() override { start_launch_log(); }

  std::vector<KernelUse> watched_launches() override { return kernels_watched(); }

 private:
  [[nodiscard]] cudaStream_t stream_now() const {
    return disturbed_ ? disturbance_->stream() : static_cast<cudaStream_t>(stream_->get());
  }
  void end_disturbance() {
    if (disturbed_) disturbance_->end();
    disturbed_ = false;
  }

  // Copies the image to the device or back, and waits. A copy of pageable memory runs at the speed of one thread, so a long image goes
  // through two pinned buffers: all threads fill or empty one of them while the other is copied.
  void transfer(std::byte* image, std::int64_t bytes, cudaMemcpyKind kind) {
    const bool up = kind == cudaMemcpyHostToDevice;
    const auto copy = [&](std::byte* host, std::int64_t at, std::int64_t count) {
      std::byte* const device = image_.base() + at;
      PLUMB_CUDA(cudaMemcpyAsync(up ? device : host, up ? host : device, static_cast<std::size_t>(count),
                                 kind, stream_now()));
    };
    if (bytes <= 2 * kPinnedBytes) {
      copy(image, 0, bytes);
      PLUMB_CUDA(cudaStreamSynchronize(stream_now()));
      return;
    }
    for (PinnedPiece& p : pinned_) {
      if (p.memory.get() == nullptr) p = {make_pinned(kPinnedBytes), make_event(false)};
    }
    const std::int64_t pieces = (bytes + kPinnedBytes - 1) / kPinnedBytes;
    const auto length = [&](std::int64_t piece) {
      return std::min(kPinnedBytes, bytes - piece * kPinnedBytes);
    };
    // piece n is copied while the piece before it is emptied from the other buffer, or the next piece is filled into it
    for (std::int64_t n = 0; n < pieces + (up ? 0 : 1); ++n) {
      PinnedPiece& now = pinned_[n % 2];
      auto* const host = static_cast<std::byte*>(now.memory.get());
      if (up) {
        PLUMB_CUDA(cudaEventSynchronize(now.copied.get()));
        copy_bytes(host, image + n * kPinnedBytes, length(n));
      }
      if (n < pieces) {
        copy(host, n * kPinnedBytes, length(n));
        PLUMB_CUDA(cudaEventRecord(now.copied.get(), stream_now()));
      }
      if (!up && n > 0) {
        const PinnedPiece& before = pinned_[(n - 1) % 2];
        PLUMB_CUDA(cudaEventSynchronize(before.copied.get()));
        copy_bytes(image + (n - 1) * kPinnedBytes, static_cast<const std::byte*>(before.memory.get()),
                   length(n - 1));
      }
    }
    PLUMB_CUDA(cudaStreamSynchronize(stream_now()));
  }

  // Outputs to or from their kept copy, in stream order.
  void copy_kept(bool out_of_image) {
    std::int64_t at = 0;
    for (const ByteRange& r : kept_ranges_) {
      std::byte *image = image_.base() + r.offset, *kept = kept_.data() + at;
      PLUMB_CUDA(cudaMemcpyAsync(out_of_image ? kept : image, out_of_image ? image : kept,
                                 static_cast<std::size_t>(r.bytes), cudaMemcpyDeviceToDevice, stream_now()));
      at += round_up(r.bytes);
    }
  }

  GuardedBlock make_block(std::int64_t bytes) {
    GuardedBlock block;
    block.capacity = round_up(std::max<std::int64_t>(bytes, 1));
    block.memory = DeviceArray<std::byte>(block.capacity + 2 * kDeviceGuardBytes,
                                          "an image or a workspace with its guards");
    return block;
  }

  // [bytes, capacity) and both guard zones hold the guard's pattern, to the byte.
  void guard(const GuardedBlock& block) {
    fill_pattern(block.memory.data(), kGuardBits, kDeviceGuardBytes, stream_now());
    const std::int64_t words_end = (block.bytes + 7) / 8 * 8;
    fill_pattern(block.base() + words_end, kGuardBits, block.capacity - words_end + kDeviceGuardBytes,
                 stream_now());
    if (words_end != block.bytes) {
      PLUMB_CUDA(cudaMemsetAsync(block.base() + block.bytes, kGuardByte,
                                 static_cast<std::size_t>(words_end - block.bytes), stream_now()));
    }
  }

  // "", or "wrote before the start of" or "wrote past the end of".
  std::string damage(const GuardedBlock& block) {
    const std::int64_t words_end = (block.bytes + 7) / 8 * 8;
    if (differs(block.memory.data(), kDeviceGuardBytes)) return "wrote before the start of";
    if (differs(block.base() + words_end, block.capacity - words_end + kDeviceGuardBytes))
      return "wrote past the end of";
    std::byte tail[8] = {};
    const auto odd = static_cast<std::size_t>(words_end - block.bytes);
    PLUMB_CUDA(cudaMemcpyAsync(tail, block.base() + block.bytes, odd, cudaMemcpyDeviceToHost, stream_now()));
    PLUMB_CUDA(cudaStreamSynchronize(stream_now()));
    for (std::size_t i = 0; i < odd; ++i) {
      if (tail[i] != std::byte{kGuardByte}) return "wrote past the end of";
    }
    return {};
  }

  bool differs(const std::byte* from, std::int64_t bytes) {
    PLUMB_CUDA(cudaMemsetAsync(mismatches_.data(), 0, sizeof(unsigned long long), stream_now()));
    count_mismatches(from, kGuardBits, bytes, mismatches_.data(), stream_now());
    unsigned long long count = 0;
    PLUMB_CUDA(
        cudaMemcpyAsync(&count, mismatches_.data(), sizeof count, cudaMemcpyDeviceToHost, stream_now()));
    PLUMB_CUDA(cudaStreamSynchronize(stream_now()));
    return count != 0;
  }

  static constexpr int kGuardByte = 0x5f;
  static constexpr int kShortestHold = 10, kLongestHold = 200;  // microseconds
  static constexpr double kIdleAnswerSeconds = 50e-6;

  static constexpr std::int64_t kPinnedBytes = 64 << 20;
  struct PinnedPiece {
    PinnedMemory memory;
    UniqueEvent copied;
  };

  std::string reason_, image_damage_;
  DeviceInfo info_;
  std::optional<DeviceStream> stream_;      // none without a device
  std::optional<Disturbance> disturbance_;  // of --stress
  bool disturbed_ = false;
  GuardedBlock image_;
  PinnedPiece pinned_[2];
  std::vector<GuardedBlock> used_, idle_;
  DeviceArray<unsigned long long> mismatches_;
  std::size_t persisting_bytes_ = 0;
  std::uint64_t run_poison_ = 0;
  int uploads_ = 0;
  bool shared_poison_due_ = false;
  std::vector<ByteRange> kept_ranges_;
  DeviceArray<std::byte> kept_, flush_;
  DeviceArray<unsigned> sink_;
  UniqueEvent begin_, end_;
  std::chrono::steady_clock::time_point queued_from_;
  int hold_microseconds_ = kShortestHold;
};

}  // namespace

std::vector<KernelUse> kernels_watched() {
  std::vector<KernelUse> used;
  for (const LaunchedKernel& k : take_launch_log()) {
    used.push_back({k.name, k.registers, k.shared_bytes, k.local_bytes, k.threads, k.blocks});
  }
  return used;
}

namespace {

// One guarded image holds all arrays; every memory that could hold an old answer is poisoned.
[[maybe_unused]] const bool registered = [] {
  make_gpu_backend = []() -> std::unique_ptr<Backend> { return std::make_unique<GpuBackend>(); };
  return true;
}();

}  // namespace

}  // namespace plumb
