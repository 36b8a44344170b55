#include "verify/engine/backend/device_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kBlockAlignment = 512;
constexpr std::int64_t kWorkspaceGuardBytes = 16 << 10;
constexpr std::uint32_t kGuardWord = 0x7fb5f1ce;  // a signalling NaN in fp32, one in half of all halves
constexpr std::int64_t kIdleSpareBytes =
    1 << 20;  // by which an idle block may be larger than four times what is asked for
constexpr std::int64_t kIdlePart = 8;  // of the device's memory is kept for the next run at most

void fill_bytes_of_word(CudaDriver::Address at, std::int64_t bytes, std::uint32_t word,
                        CudaDriver::Handle stream) {
  for (std::int64_t i = 0; i < bytes; ++i, ++at)
    check_cuda(cuda_driver().set_bytes(at, static_cast<unsigned char>(word >> (8 * (at % 4))), 1, stream),
               "cuMemsetD8Async");
}

// Whether memory of the host, which begins at this address of the device, holds the guard.
bool is_guard(const std::byte* copy, CudaDriver::Address at, std::int64_t bytes) {
  return std::all_of(copy, copy + bytes, [&at](std::byte b) {
    return b == static_cast<std::byte>(kGuardWord >> (8 * (at++ % 4)));
  });
}

std::string text_of(const std::string& damage, const DeviceBlock& block) {
  return damage.empty() ? damage : fmt::format("{} a workspace of {} bytes", damage, block.bytes);
}

}  // namespace

void fill_with_word(CudaDriver::Address at, std::int64_t bytes, std::uint32_t word,
                    CudaDriver::Handle stream) {
  const std::int64_t head = std::min<std::int64_t>(bytes, static_cast<std::int64_t>((4 - at % 4) % 4));
  const std::int64_t words = (bytes - head) / 4;
  const CudaDriver::Address from = at + static_cast<CudaDriver::Address>(head);
  fill_bytes_of_word(at, head, word, stream);
  if (words > 0)
    check_cuda(cuda_driver().set_words(from, word, static_cast<std::size_t>(words), stream),
               "cuMemsetD32Async");
  fill_bytes_of_word(from + static_cast<CudaDriver::Address>(4 * words), bytes - head - 4 * words, word,
                     stream);
}

DeviceBlock make_device_block(std::int64_t bytes, std::int64_t guard) {
  DeviceBlock block;
  block.guard = guard;
  block.capacity =
      (std::max<std::int64_t>(bytes, 1) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  check_cuda(cuda_driver().allocate(&block.memory, static_cast<std::size_t>(block.capacity + 2 * guard)),
             "cuMemAlloc");
  return block;
}

void free_device_block(DeviceBlock& block) {
  if (block.memory != 0) check_cuda(cuda_driver().free(block.memory), "cuMemFree");
  block = {};
}

void guard_device_block(const DeviceBlock& block, CudaDriver::Handle stream) {
  fill_with_word(block.memory, block.guard, kGuardWord, stream);
  fill_with_word(block.base() + static_cast<CudaDriver::Address>(block.bytes), block.guard, kGuardWord,
                 stream);
}

std::string damage_of(const DeviceBlock& block, CudaDriver::Handle stream) {
  static PinnedBytes copies;
  const CudaDriver::Address behind = block.base() + static_cast<CudaDriver::Address>(block.bytes);
  std::byte* const copy = copies.at_least(2 * block.guard);
  const auto bytes = static_cast<std::size_t>(block.guard);
  check_cuda(cuda_driver().copy_down(copy, block.memory, bytes, stream), "cuMemcpyDtoHAsync");
  check_cuda(cuda_driver().copy_down(copy + block.guard, behind, bytes, stream), "cuMemcpyDtoHAsync");
  check_cuda(cuda_driver().wait_for_stream(stream), "cuStreamSynchronize");
  if (!is_guard(copy, block.memory, block.guard)) return "wrote before the start of";
  if (!is_guard(copy + block.guard, behind, block.guard)) return "wrote past the end of";
  return {};
}

void* DeviceBlocks::take(std::int64_t bytes, std::uint32_t poison, CudaDriver::Handle stream) {
  if (bytes < 0) throw Error(fmt::format("a workspace of {} bytes was asked for", bytes));
  const std::lock_guard lock(mutex_);
  DeviceBlock block = fresh_or_idle(bytes);
  block.bytes = bytes;
  used_.push_back(block);
  fill_with_word(block.base(), bytes, poison, stream);
  guard_device_block(block, stream);
  return reinterpret_cast<void*>(block.base());
}

// The smallest idle block that is large enough, or a new one; where the device has no more, one that was given back in this run.
DeviceBlock DeviceBlocks::fresh_or_idle(std::int64_t bytes) {
  const auto idle = [&]() -> DeviceBlock {
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      const bool fits = it->capacity >= bytes && it->capacity <= 4 * bytes + kIdleSpareBytes;
      if (fits && (best == idle_.end() || it->capacity < best->capacity)) best = it;
    }
    if (best == idle_.end()) return {};
    const DeviceBlock found = *best;
    idle_.erase(best);
    return found;
  };
  if (const DeviceBlock found = idle(); found.memory != 0) return found;
  try {
    return make_device_block(bytes, kWorkspaceGuardBytes);
  } catch (const Error&) {
    check_cuda(cuda_driver().wait_for_context(), "cuCtxSynchronize");
    for (DeviceBlock& block : given_back_) {
      if (damage_.empty()) damage_ = text_of(damage_of(block, nullptr), block);
      free_device_block(block);
    }
    given_back_.clear();
    for (DeviceBlock& block : idle_) free_device_block(block);
    idle_.clear();
  }
  return make_device_block(bytes, kWorkspaceGuardBytes);
}

void DeviceBlocks::give_back(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(used_.begin(), used_.end(), [memory](const DeviceBlock& block) {
    return reinterpret_cast<void*>(block.base()) == memory;
  });
  if (at == used_.end()) return;
  given_back_.push_back(*at);
  used_.erase(at);
}

std::string DeviceBlocks::check(CudaDriver::Handle stream) {
  const std::lock_guard lock(mutex_);
  std::string wrong = std::exchange(damage_, {});
  if (used_.empty() && given_back_.empty()) return wrong;
  check_cuda(cuda_driver().wait_for_context(), "cuCtxSynchronize");
  for (const auto* blocks : {&used_, &given_back_}) {
    for (const DeviceBlock& block : *blocks) {
      if (wrong.empty()) wrong = text_of(damage_of(block, stream), block);
    }
  }
  idle_.insert(idle_.end(), given_back_.begin(), given_back_.end());
  given_back_.clear();
  trim();
  return wrong;
}

// One large case must not keep the memory of all later ones.
void DeviceBlocks::trim() {
  std::size_t free = 0, total = 0;
  std::int64_t kept = 0;
  for (const DeviceBlock& block : idle_) kept += block.capacity;
  check_cuda(cuda_driver().free_memory(&free, &total), "cuMemGetInfo");
  if (kept <= static_cast<std::int64_t>(total) / kIdlePart) return;
  for (DeviceBlock& block : idle_) free_device_block(block);
  idle_.clear();
}

}  // namespace plumb
