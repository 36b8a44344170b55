#include "reference/parallel/devices.hpp"

#include <new>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

DeviceTeam::DeviceTeam(const DeviceSide& side, int count) {
  errors_.resize(static_cast<std::size_t>(count));
  try {
    for (int d = 0; d < count; ++d) threads_.emplace_back([this, d] { serve(d); });
    run([&side](int device) { side.use(device); });
  } catch (...) {
    end();
    throw;
  }
}

DeviceTeam::~DeviceTeam() { end(); }

void DeviceTeam::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void DeviceTeam::serve(int device) {
  std::unique_lock lock(mutex_);
  for (std::int64_t done = 0;; ++done) {
    changed_.wait(lock, [&] { return ends_ || round_ > done; });
    if (ends_) return;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work_)(device);
    } catch (...) { error = std::current_exception(); }
    lock.lock();
    errors_[static_cast<std::size_t>(device)] = error;
    if (--busy_ == 0) changed_.notify_all();
  }
}

void DeviceTeam::run(const std::function<void(int device)>& work) {
  {
    std::unique_lock lock(mutex_);
    work_ = &work;
    busy_ = size();
    ++round_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return busy_ == 0; });
  }
  for (std::size_t d = 0; d < errors_.size(); ++d) {
    if (!errors_[d]) continue;
    try {
      std::rethrow_exception(errors_[d]);
    } catch (const std::bad_alloc&) {
      throw;  // of the host, whichever thread it was
    } catch (const std::exception& e) { throw Error(fmt::format("device {}: {}", d, e.what())); }
  }
}

}  // namespace plumb
