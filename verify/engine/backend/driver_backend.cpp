#include "verify/engine/backend/driver_backend.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/engine/backend/device_blocks.hpp"
#include "verify/engine/backend/stream_hold.hpp"
#include "verify/image/image.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kImageGuardBytes = 64 << 10;
constexpr std::int64_t kMostOrderBytes = 16 << 20;  // of an image that is read twice
constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING: the default stream has no order with it

std::uint32_t word_of(Poison poison) { return static_cast<std::uint32_t>(poison_bits(poison, 4)); }

class DriverBackend final : public Backend {
 public:
  DriverBackend();
  ~DriverBackend() override;

  Reason why_not() const override { return reason_; }
  std::string describe() const override { return reason_.empty() ? describe_cuda_device() : reason_; }
  int sm() const override { return sm_; }
  void* stream() override { return stream_; }
  bool tracks_arrays() const override { return true; }
  void begin(const CallInfo& call, Poison, std::uint64_t, bool) override;

  std::byte* upload(std::byte* image, std::int64_t bytes) override;
  void run_returned() override;
  void synchronize() override;
  void download(std::byte* image, std::int64_t bytes) override;
  std::vector<std::string> findings() override { return std::exchange(findings_, {}); }
  Reason why_void() override { return std::exchange(out_of_memory_, {}); }

  void* workspace(std::int64_t bytes, Poison poison) override;
  std::string release_workspace() override;

  void* allocate(std::int64_t bytes, CudaDriver::Handle stream);
  void free(void* memory) { blocks_.give_back(memory); }

 private:
  void make_current() { check_cuda(cuda_driver().set_context(context_), "cuCtxSetCurrent"); }
  void have_image_of(std::int64_t bytes);
  void poison_small_blocks();
  void begin_held_run();
  void compare_reads(const std::byte* image);
  void compare_early_read();
  void look_at_context();
  [[nodiscard]] std::int64_t offset_of(const ArrayInfo& a) const {
    return static_cast<std::byte*>(a.data) - reinterpret_cast<std::byte*>(image_.base());
  }
  [[nodiscard]] std::string element_at(std::int64_t offset) const;

  std::string reason_, image_damage_, out_of_memory_;
  int sm_ = 0;
  CudaDriver::Handle context_ = nullptr, stream_ = nullptr;
  DeviceBlock image_;
  DeviceBlocks blocks_;
  std::vector<void*> workspaces_;
  std::vector<ArrayInfo> arrays_;  // of the call, at their places on the device
  std::vector<std::string> findings_;
  Poison run_poison_ = Poison::nan_payload;
  int uploads_ = 0;

  // The order of the stream: in a held run inputs come late, and what is there before them was not to be touched. After every run the image is
  // read in the stream's order, and again once the device has nothing left to do.
  StreamHold hold_;
  PinnedBytes staged_, early_, in_order_;
  std::vector<std::byte> held_image_;  // what the early read should find
  bool is_held_ = false, run_due_ = false, has_early_ = false, has_in_order_ = false;
};

std::atomic<DriverBackend*> backend_of_process{nullptr};

DriverBackend::DriverBackend() : reason_(why_no_cuda_driver()) {
  if (!reason_.empty()) return;
  check_cuda(cuda_driver().retain_context(&context_, 0), "cuDevicePrimaryCtxRetain");
  make_current();
  sm_ = cuda_device_sm();
  check_cuda(cuda_driver().make_stream(&stream_, kNonBlocking), "cuStreamCreate");
  backend_of_process = this;
}

DriverBackend::~DriverBackend() { backend_of_process = nullptr; }

std::byte* DriverBackend::upload(std::byte* image, std::int64_t bytes) {
  make_current();
  // three kinds in turn, as the runs of a case use them; workspace() is told which one it is
  static constexpr Poison kKinds[] = {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b};
  run_poison_ = kKinds[uploads_ % 3];
  is_held_ = uploads_ % 2 == 1 && bytes <= kMostOrderBytes;
  ++uploads_;
  run_due_ = true, has_early_ = has_in_order_ = false;
  have_image_of(bytes);
  poison_small_blocks();
  guard_device_block(image_, stream_);
  if (is_held_) {
    copy_bytes(staged_.at_least(bytes), image, bytes);
    held_image_.assign(image, image + bytes);
  }
  check_cuda(cuda_driver().copy_up(image_.base(), image, static_cast<std::size_t>(bytes), stream_),
             "cuMemcpyHtoDAsync");
  check_cuda(cuda_driver().wait_for_context(), "cuCtxSynchronize");
  return reinterpret_cast<std::byte*>(image_.base());
}

// In a held run inputs are zeros until their contents come: rows of a sparse matrix are then empty, and an index is one.
void DriverBackend::begin(const CallInfo& call, Poison, std::uint64_t, bool) {
  arrays_ = call.arrays;
  if (!is_held_) return;
  for (const ArrayInfo& a : arrays_) {
    if (a.output || a.span_bytes() == 0) continue;
    fill_with_word(reinterpret_cast<CudaDriver::Address>(a.data), a.span_bytes(), 0, stream_);
    std::fill_n(held_image_.begin() + offset_of(a), a.span_bytes(), std::byte{});
  }
  check_cuda(cuda_driver().wait_for_stream(stream_), "cuStreamSynchronize");
}

void DriverBackend::have_image_of(std::int64_t bytes) {
  if (image_.capacity < bytes) {
    free_device_block(image_);  // before the next allocation: two images at once may not fit
    image_ = make_device_block(bytes, kImageGuardBytes);
  }
  image_.bytes = bytes;
}

// What a variant allocates past the frameworks that are asked to allocate here: small blocks come as they were given back, larger ones cleared.
void DriverBackend::poison_small_blocks() {
  std::vector<DeviceBlock> blocks;
  for (const std::int64_t bytes : {512, 4 << 10, 32 << 10, 256 << 10, 1 << 20}) {
    blocks.push_back(make_device_block(bytes, 0));
    fill_with_word(blocks.back().base(), bytes, word_of(run_poison_), stream_);
  }
  check_cuda(cuda_driver().wait_for_stream(stream_), "cuStreamSynchronize");
  for (DeviceBlock& block : blocks) free_device_block(block);
}

void DriverBackend::synchronize() {
  make_current();
  if (std::exchange(run_due_, false) && is_held_) return begin_held_run();
  check_cuda(cuda_driver().wait_for_context(), "cuCtxSynchronize");
}

// Everything is in the stream's order: the wait, a copy of what the image holds before its contents come, the contents.
void DriverBackend::begin_held_run() {
  const auto bytes = static_cast<std::size_t>(image_.bytes);
  std::byte* const early = early_.at_least(image_.bytes);
  hold_.begin(stream_);
  check_cuda(cuda_driver().copy_down(early, image_.base(), bytes, stream_), "cuMemcpyDtoHAsync");
  check_cuda(cuda_driver().copy_up(image_.base(), staged_.data(), bytes, stream_), "cuMemcpyHtoDAsync");
  has_early_ = true;
}

void DriverBackend::run_returned() {
  hold_.end();
  if (image_.bytes > kMostOrderBytes) return;
  make_current();
  check_cuda(cuda_driver().copy_down(in_order_.at_least(image_.bytes), image_.base(),
                                     static_cast<std::size_t>(image_.bytes), stream_),
             "cuMemcpyDtoHAsync");
  check_cuda(cuda_driver().wait_for_stream(stream_), "cuStreamSynchronize");
  has_in_order_ = true;
}

void DriverBackend::download(std::byte* image, std::int64_t bytes) {
  make_current();
  check_cuda(cuda_driver().wait_for_context(), "cuCtxSynchronize");
  check_cuda(cuda_driver().copy_down(image, image_.base(), static_cast<std::size_t>(bytes), stream_),
             "cuMemcpyDtoHAsync");
  check_cuda(cuda_driver().wait_for_stream(stream_), "cuStreamSynchronize");
  compare_early_read();
  compare_reads(image);
  if (const std::string wrong = damage_of(image_, stream_); !wrong.empty())
    image_damage_ = fmt::format("{} the staged arrays of {} bytes, beyond their guards", wrong, bytes);
  look_at_context();
}

void DriverBackend::compare_early_read() {
  if (!has_early_) return;
  const std::byte* const early = early_.data();
  const std::byte* const at = std::mismatch(early, early + image_.bytes, held_image_.begin()).first;
  if (at == early + image_.bytes) return;
  findings_.push_back(fmt::format(
      "race: {} was written by work that did not wait for what the call's stream had to do before "
      "(inputs come in the stream's order; launch there, or wait for it)",
      element_at(at - early)));
}

void DriverBackend::compare_reads(const std::byte* image) {
  if (!has_in_order_) return;
  const std::byte* const before = in_order_.data();
  const std::int64_t at = std::mismatch(before, before + image_.bytes, image).first - before;
  if (at == image_.bytes) return;
  findings_.push_back(
      fmt::format("race: {} was written after all that the call's stream had to do, by work that it does "
                  "not wait for (launch there, or let it wait)",
                  element_at(at)));
}

// "C(3, 17)", or "a guard" where no array lies.
std::string DriverBackend::element_at(std::int64_t offset) const {
  for (const ArrayInfo& a : arrays_) {
    const std::int64_t from = offset_of(a);
    if (offset < from || offset >= from + a.span_bytes()) continue;
    const std::int64_t element = (offset - from) / a.element_bytes();
    return a.vector ? fmt::format("{}[{}]", a.name, element)
                    : fmt::format("{}({}, {})", a.name, element / a.ld, element % a.ld);
  }
  return "a guard";
}

void DriverBackend::look_at_context() {
  CudaDriver::Handle current = nullptr;
  int device = 0;
  check_cuda(cuda_driver().get_context(&current), "cuCtxGetCurrent");
  if (current == nullptr || current == context_) return;
  check_cuda(cuda_driver().context_device(&device), "cuCtxGetDevice");
  if (device != 0) findings_.push_back(fmt::format("left device {} current instead of 0", device));
  make_current();
}

void* DriverBackend::workspace(std::int64_t bytes, Poison poison) {
  workspaces_.push_back(blocks_.take(bytes, word_of(poison), stream_));
  return workspaces_.back();
}

std::string DriverBackend::release_workspace() {
  for (void* const memory : std::exchange(workspaces_, {})) blocks_.give_back(memory);
  arrays_.clear();
  make_current();
  std::string wrong = blocks_.check(stream_);
  if (!image_damage_.empty()) wrong = std::exchange(image_damage_, {});
  return wrong;
}

void* DriverBackend::allocate(std::int64_t bytes, CudaDriver::Handle stream) {
  try {
    return blocks_.take(bytes, word_of(run_poison_), stream);
  } catch (const Error& e) {
    out_of_memory_ = fmt::format("out of device memory: {} bytes were asked for: {}", bytes, e.what());
    return nullptr;
  }
}

}  // namespace

std::unique_ptr<Backend> make_driver_backend() { return std::make_unique<DriverBackend>(); }

bool is_driver_backend_here() { return backend_of_process != nullptr; }

void* allocate_during_call(std::int64_t bytes, CudaDriver::Handle stream) {
  DriverBackend* const backend = backend_of_process;
  return backend != nullptr ? backend->allocate(bytes, stream) : nullptr;
}

void free_during_call(void* memory) {
  if (DriverBackend* const backend = backend_of_process; backend != nullptr) backend->free(memory);
}

void copy_rows_to_device(const RowsOfDevice& to, const RowsToCopy& from, std::int64_t row_bytes,
                         std::int64_t rows, CudaDriver::Handle stream) {
  if (row_bytes == 0 || rows == 0) return;
  CudaDriver::Copy2D copy{};
  copy.from_kind = from.on_host ? CudaDriver::kHost : CudaDriver::kDevice;
  if (from.on_host)
    copy.from_host = from.at;
  else
    copy.from_device = reinterpret_cast<CudaDriver::Address>(from.at);
  copy.from_pitch = static_cast<std::size_t>(rows > 1 ? from.pitch : row_bytes);
  copy.to_kind = CudaDriver::kDevice;
  copy.to_device = reinterpret_cast<CudaDriver::Address>(to.at);
  copy.to_pitch = static_cast<std::size_t>(rows > 1 ? to.pitch : row_bytes);
  copy.row_bytes = static_cast<std::size_t>(row_bytes), copy.rows = static_cast<std::size_t>(rows);
  check_cuda(cuda_driver().copy_rows(&copy, stream), "cuMemcpy2DAsync");
  if (from.on_host) check_cuda(cuda_driver().wait_for_stream(stream), "cuStreamSynchronize");
}

void order_streams(CudaDriver::Handle first, CudaDriver::Handle second) {
  static const CudaDriver::Handle event = [] {
    constexpr unsigned kWithoutTimes = 2;  // CU_EVENT_DISABLE_TIMING
    CudaDriver::Handle made = nullptr;
    check_cuda(cuda_driver().make_event(&made, kWithoutTimes), "cuEventCreate");
    return made;
  }();
  check_cuda(cuda_driver().record_event(event, first), "cuEventRecord");
  check_cuda(cuda_driver().stream_waits(second, event, 0), "cuStreamWaitEvent");
}

}  // namespace plumb
