#include "gpu/simt/scheduler/launch_limits.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "gpu/simt/race/race.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr int kFirstWithClusters = 90;
constexpr std::uint64_t kMostInCluster = 8,
                        kMostInLargeCluster = 16;  // CUDA C++ Programming Guide, "Thread Block Clusters"
// chip, shared memory: default, opt-in, per multiprocessor, reserved per block; threads per block and per multiprocessor, blocks
// per multiprocessor, multiprocessors
constexpr ChipLimits kChips[] = {
    {70, 48 * kKiB, 96 * kKiB, 96 * kKiB, 0, 1024, 2048, 32, 80},
    {75, 48 * kKiB, 64 * kKiB, 64 * kKiB, 0, 1024, 1024, 16, 72},
    {80, 48 * kKiB, 163 * kKiB, 164 * kKiB, kKiB, 1024, 2048, 32, 108},
    {86, 48 * kKiB, 99 * kKiB, 100 * kKiB, kKiB, 1024, 1536, 16, 84},
    {89, 48 * kKiB, 99 * kKiB, 100 * kKiB, kKiB, 1024, 1536, 24, 142},
    {90, 48 * kKiB, 227 * kKiB, 228 * kKiB, kKiB, 1024, 2048, 32, 132},
    {100, 48 * kKiB, 227 * kKiB, 228 * kKiB, kKiB, 1024, 2048, 32, 148},
    {120, 48 * kKiB, 99 * kKiB, 100 * kKiB, kKiB, 1024, 1536, 24, 188},
};

Refusal why_shape_refused(const LaunchShape& l, const ChipLimits& chip) {
  const auto refuse = [](std::string text) {
    return Refusal{LaunchError::invalid_configuration, std::move(text)};
  };
  const uint3 g = l.grid;
  const uint3 b = l.block;
  if (b.x == 0 || b.y == 0 || b.z == 0) return refuse(fmt::format("a block of {} threads", show(b)));
  if (b.x > 1024 || b.y > 1024 || b.z > 64)
    return refuse(fmt::format("a block of {} threads: at most (1024,1024,64)", show(b)));
  if (std::uint64_t{b.x} * b.y * b.z > static_cast<std::uint64_t>(chip.threads_per_block))
    return refuse(fmt::format("a block of {} threads: at most {} together", show(b), chip.threads_per_block));
  if (g.x == 0 || g.y == 0 || g.z == 0) return refuse(fmt::format("a grid of {} blocks", show(g)));
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535)
    return refuse(fmt::format("a grid of {} blocks: at most (2147483647,65535,65535)", show(g)));
  return {};
}

Refusal why_shared_refused(const LaunchShape& l, const ChipLimits& chip) {
  const std::size_t total = l.static_shared + l.dynamic_shared;
  const auto refuse = [&](const std::string& limit) {
    return Refusal{LaunchError::invalid_value,
                   fmt::format("{} bytes of static and {} of dynamic shared memory: {}", l.static_shared,
                               l.dynamic_shared, limit)};
  };
  if (l.static_shared > chip.shared_default)
    return refuse(fmt::format("at most {} static ones", chip.shared_default));
  if (total > chip.shared_opt_in)
    return refuse(fmt::format("at most {} together on sm_{}", chip.shared_opt_in, chip.chip));
  if (total > chip.shared_default && l.dynamic_shared > l.dynamic_allowed) {
    return refuse(
        fmt::format("at most {} together unless cudaFuncAttributeMaxDynamicSharedMemorySize, which "
                    "is {}, allows more",
                    chip.shared_default, l.dynamic_allowed));
  }
  return {};
}

Refusal why_cooperation_refused(const LaunchShape& l, const ChipLimits& chip) {
  const std::size_t threads = std::size_t{l.block.x} * l.block.y * l.block.z;
  const std::uint64_t blocks = std::uint64_t{l.grid.x} * l.grid.y * l.grid.z;
  const int held = resident_blocks(threads, l.static_shared + l.dynamic_shared, chip);
  const auto all = static_cast<std::uint64_t>(held) * static_cast<std::uint64_t>(l.multiprocessors);
  if (blocks <= all) return {};
  return {
      LaunchError::cooperative_too_large,
      fmt::format("a cooperative launch of {} blocks: {} multiprocessors of sm_{} hold {} of them at once",
                  blocks, l.multiprocessors, chip.chip, all)};
}

Refusal why_cluster_refused(const LaunchShape& l, const ChipLimits& chip) {
  const uint3 c = l.cluster, g = l.grid;
  const auto refuse = [](std::string text) {
    return Refusal{LaunchError::invalid_cluster_size, std::move(text)};
  };
  if (chip.chip < kFirstWithClusters)
    return {LaunchError::not_supported, fmt::format("clusters on sm_{}: sm_{} was the first to have them",
                                                    chip.chip, kFirstWithClusters)};
  const std::uint64_t blocks = std::uint64_t{c.x} * c.y * c.z;
  const std::uint64_t most = l.large_clusters ? kMostInLargeCluster : kMostInCluster;
  if (blocks < 1 || blocks > most)
    return refuse(fmt::format(
        "clusters of {} blocks: 1 to {} together{}", show(c), most,
        l.large_clusters ? "" : ", unless cudaFuncAttributeNonPortableClusterSizeAllowed allows 16"));
  if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
    return refuse(
        fmt::format("a grid of {} blocks, which is no multiple of its clusters of {}", show(g), show(c)));
  return {};
}

}  // namespace

const ChipLimits& limits_of(int chip) {
  for (const ChipLimits& c : kChips) {
    if (c.chip == chip) return c;
  }
  std::string known;
  for (const ChipLimits& c : kChips) known += fmt::format("{}{}", known.empty() ? "" : ", ", c.chip);
  throw input_error("gpu/simt", 0, "the executor knows the launch limits of chips " + known,
                    std::to_string(chip));
}

int resident_blocks(std::size_t threads, std::size_t shared, const ChipLimits& chip) {
  const std::size_t by_warps = (threads + 31) / 32 * 32;
  std::size_t blocks = static_cast<std::size_t>(chip.blocks_per_multiprocessor);
  blocks = std::min(blocks, static_cast<std::size_t>(chip.threads_per_multiprocessor) /
                                std::max<std::size_t>(by_warps, 32));
  const std::size_t taken = shared + chip.shared_reserved_per_block;
  if (taken > 0) blocks = std::min(blocks, chip.shared_per_multiprocessor / taken);
  return static_cast<int>(blocks);
}

Refusal why_refused(const LaunchShape& launch, const ChipLimits& chip) {
  Refusal r = why_shape_refused(launch, chip);
  if (r.text.empty()) r = why_shared_refused(launch, chip);
  if (r.text.empty() && launch.cooperative) r = why_cooperation_refused(launch, chip);
  if (r.text.empty() && launch.cluster_said) r = why_cluster_refused(launch, chip);
  return r;
}

}  // namespace plumb::simt
