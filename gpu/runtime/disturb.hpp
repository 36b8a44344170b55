// What `verify --stress` does beside a run on the device, so that a race which the usual schedule hides shows in the numbers: other
// kernels take a random share of the multiprocessors away, launches are delayed, streams have other priorities, and L2 holds
// something else. The order of a grid's blocks cannot be changed from here; a build with PLUMB_STRESS does that (stress.hpp).
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "gpu/device/resources.hpp"

namespace plumb {

/// Disturbs the runs of one process, each from its own seed. Not thread-safe: one thread launches.
class Disturbance {
 public:
  Disturbance();
  ~Disturbance() { end(); }
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;

  /// Draws a stream, and sets the seeds of kernels built with PLUMB_STRESS. Done when the device is next waited for.
  void begin(std::uint64_t seed);
  /// Fills L2 with clean lines that no kernel reads, or with dirty ones, or leaves it. From now on until end() every launch through the seam may be
  /// delayed or find the device busy.
  void start();
  /// Kernels under way end by themselves, within a millisecond.
  void end();
  /// The stream for the run: of a priority drawn from the seed.
  [[nodiscard]] cudaStream_t stream() const { return chosen_; }

 private:
  static void before_launch(void* stream);
  void disturb_launch(cudaStream_t stream);
  void occupy(std::uint64_t draw);
  [[nodiscard]] std::uint64_t draw();

  std::vector<DeviceStream> streams_;  // one per priority
  std::vector<DeviceStream> loads_;
  DeviceArray<std::byte> cache_;  // as large as L2
  DeviceArray<unsigned> sink_;
  cudaStream_t chosen_ = nullptr;
  std::uint64_t state_ = 0;
  int multiprocessors_ = 0, shared_bytes_ = 0, left_ = 0;
};

}  // namespace plumb
