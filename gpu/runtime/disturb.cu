// The load, and when it comes.
#include "gpu/runtime/disturb.hpp"

#include "gpu/device/kernel.hpp"
#include "gpu/device/stress_seed.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_info.hpp"
#include "gpu/runtime/launch_hook.hpp"
#include "gpu/runtime/roofs.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 1024;
constexpr int kMostLoads = 64;  // in one run: a variant of thousands of launches must still end
constexpr int kMostDelay = 40, kMostLoad = 200;  // microseconds

Disturbance* under_way = nullptr;

// With all of a multiprocessor's shared memory, so that no other block fits beside it.
__global__ void __launch_bounds__(kThreads) disturb_occupy(long long nanoseconds) {
  unsigned long long now = 0, begin = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < static_cast<unsigned long long>(nanoseconds));
}

}  // namespace

Disturbance::Disturbance() {
  const DeviceInfo info = device_info();
  multiprocessors_ = info.multiprocessors;
  shared_bytes_ = static_cast<int>(info.shared_per_block_bytes);
  int least = 0, greatest = 0;
  PLUMB_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  for (int priority = greatest; priority <= least; ++priority) {
    for (std::vector<DeviceStream>* streams : {&streams_, &loads_}) {
      cudaStream_t stream = nullptr;
      PLUMB_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
      streams->emplace_back(stream);
    }
  }
  cache_ = DeviceArray<std::byte>(info.l2_bytes / 16 * 16, "a load on L2");
  sink_ = DeviceArray<unsigned>(1, "a sink of sums");
  PLUMB_CUDA(cudaMemset(cache_.data(), 0, static_cast<std::size_t>(cache_.size())));
}

std::uint64_t Disturbance::draw() {
  // splitmix64
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void Disturbance::begin(std::uint64_t seed) {
  state_ = seed;
  chosen_ = static_cast<cudaStream_t>(streams_[draw() % streams_.size()].get());
  left_ = kMostLoads;
  for (const StressSeed* s = stress_seeds; s != nullptr; s = s->next) {
    const auto word = static_cast<unsigned>(seed * 2654435761u) | 1u;  // 0 means: no delays
    PLUMB_CUDA(cudaMemcpyToSymbolAsync(s->symbol, &word, sizeof word, 0, cudaMemcpyHostToDevice, chosen_));
  }
}

void Disturbance::start() {
  launch_hook = nullptr;  // not of our own launches
  switch (draw() % 3) {
    case 0:
      read_through(cache_.data(), cache_.size(), sink_.data(), chosen_);
      break;  // full of clean lines
    case 1:
      device_fill(cache_.data(), 0, static_cast<std::size_t>(cache_.size()), chosen_);
      break;  // of dirty ones
    default:
      break;  // as they are
  }
  under_way = this;
  launch_hook = before_launch;
}

void Disturbance::end() {
  if (under_way != this) return;
  launch_hook = nullptr;
  under_way = nullptr;
}

void Disturbance::before_launch(void* stream) {
  launch_hook = nullptr;  // not of our own launches
  under_way->disturb_launch(static_cast<cudaStream_t>(stream));
  launch_hook = before_launch;
}

void Disturbance::disturb_launch(cudaStream_t stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  PLUMB_CUDA(cudaStreamIsCapturing(stream, &capturing));
  if (capturing != cudaStreamCaptureStatusNone) return;  // it would be replayed for ever
  const std::uint64_t d = draw();
  if (left_ > 0 && d % 2 == 0) --left_, occupy(draw());
  if (left_ > 0 && (d >> 8) % 2 == 0) hold_stream(static_cast<int>((d >> 16) % kMostDelay), stream);
}

void Disturbance::occupy(std::uint64_t d) {
  const int blocks = static_cast<int>(d % static_cast<unsigned>(multiprocessors_));
  launch(disturb_occupy, blocks, kThreads, static_cast<std::size_t>(shared_bytes_),
         loads_[(d >> 32) % loads_.size()].get(), 1000LL * static_cast<long long>((d >> 40) % kMostLoad));
}

}  // namespace plumb
