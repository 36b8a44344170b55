// Holds a stream back for a moment: what is given to it meanwhile runs later, and what runs meanwhile does not keep its order.
#pragma once
#include <condition_variable>
#include <mutex>

#include "verify/engine/backend/cuda_driver.hpp"

namespace plumb {

class StreamHold {
 public:
  /// From here on the stream waits until a moment after end(), or for kLongestHold where the stream's user waits for it.
  void begin(CudaDriver::Handle stream);
  void end();

 private:
  static void wait(void* self);  // by a thread of the driver's

  std::mutex mutex_;
  std::condition_variable ended_;
  bool held_ = false;
};

}  // namespace plumb
