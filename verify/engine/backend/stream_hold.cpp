#include "verify/engine/backend/stream_hold.hpp"

#include <chrono>
#include <thread>

namespace plumb {
namespace {

// A kernel that is launched on another stream begins within some microseconds.
constexpr std::chrono::microseconds kLongestHold{1500}, kAfterEnd{60};

}  // namespace

void StreamHold::begin(CudaDriver::Handle stream) {
  {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  check_cuda(cuda_driver().call_host(stream, wait, this), "cuLaunchHostFunc");
}

void StreamHold::end() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  ended_.notify_all();
}

void StreamHold::wait(void* self) {
  auto& hold = *static_cast<StreamHold*>(self);
  std::unique_lock lock(hold.mutex_);
  hold.ended_.wait_for(lock, kLongestHold, [&hold] { return !hold.held_; });
  lock.unlock();
  std::this_thread::sleep_for(kAfterEnd);
}

}  // namespace plumb
