// Host memory: the image is used where it lies, workspace comes from the heap between fences.
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/engine/backend.hpp"

namespace plumb {
namespace {

class HostBackend final : public Backend {
 public:
  std::string describe() const override { return fmt::format("host, {} cores", sysconf(_SC_NPROCESSORS_ONLN)); }
  std::byte* upload(std::byte* image, std::int64_t) override { return image; }
  void download(std::byte*, std::int64_t) override {}

  void* workspace(std::int64_t bytes, Poison poison) override {
    if (bytes < 0) throw Error(fmt::format("a workspace of {} bytes was asked for", bytes));
    Block& block = blocks_.emplace_back();
    block.bytes = bytes;
    const auto whole = static_cast<std::size_t>((bytes + 2 * kFenceBytes + 255) / 256 * 256);
    block.memory.reset(static_cast<std::byte*>(std::aligned_alloc(256, whole)));
    if (!block.memory) throw Error(fmt::format("no memory for a workspace of {} bytes", bytes));
    const std::uint64_t bits = poison_bits(poison, 8);
    for (std::size_t i = 0; i + 8 <= whole; i += 8) std::memcpy(block.memory.get() + i, &bits, 8);
    block.whole = static_cast<std::int64_t>(whole);
    block.bits = bits;
    return block.memory.get() + kFenceBytes;
  }

  std::string release_workspace() override {
    std::string wrong;
    for (const Block& block : blocks_) {
      const auto damaged = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          if (block.memory.get()[i] != static_cast<std::byte>(block.bits >> (8 * (i % 8)))) return true;
        }
        return false;
      };
      if (damaged(0, kFenceBytes)) wrong = fmt::format("wrote before the start of a workspace of {} bytes", block.bytes);
      if (damaged(kFenceBytes + block.bytes, block.whole)) {
        wrong = fmt::format("wrote past the end of a workspace of {} bytes", block.bytes);
      }
    }
    blocks_.clear();
    return wrong;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::int64_t bytes = 0, whole = 0;
    std::uint64_t bits = 0;
  };
  std::vector<Block> blocks_;
};

class MissingBackend final : public Backend {
 public:
  explicit MissingBackend(std::string reason) : reason_(std::move(reason)) {}
  std::string unavailable() const override { return reason_; }
  std::string describe() const override { return reason_; }
  std::byte* upload(std::byte*, std::int64_t) override { throw Error(reason_); }
  void download(std::byte*, std::int64_t) override { throw Error(reason_); }
  void* workspace(std::int64_t, Poison) override { throw Error(reason_); }
  std::string release_workspace() override { return {}; }

 private:
  std::string reason_;
};

}  // namespace

#if defined(PLUMB_WITH_CUDA)
std::unique_ptr<Backend> make_gpu_backend();  // gpu_backend.cpp
#endif

std::unique_ptr<Backend> make_backend(Device device) {
  switch (device) {
    case Device::cpu: return std::make_unique<HostBackend>();
    case Device::gpu:
#if defined(PLUMB_WITH_CUDA)
      return make_gpu_backend();
#else
      return std::make_unique<MissingBackend>("this build has no GPU side (configured without nvcc)");
#endif
    case Device::simt:
      if (make_simt_backend != nullptr) return make_simt_backend();
      return std::make_unique<MissingBackend>("the CPU executor runs in a worker of its own");
  }
  return nullptr;
}

}  // namespace plumb
