#include "reference/parallel/devices.hpp"

#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {

namespace {

/// The work of another device has ended, so that this one cannot go on.
struct LeftAlone : std::runtime_error {
  LeftAlone() : std::runtime_error("another device has ended its work") {}
};

[[nodiscard]] bool is_left_alone(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const LeftAlone&) { return true; } catch (...) {
    return false;
  }
}

[[noreturn]] void rethrow_of_device(std::size_t device, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    throw;  // of the host, whichever thread it was
  } catch (const std::exception& e) { throw Error(fmt::format("device {}: {}", device, e.what())); }
}

}  // namespace

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
    --busy_;
    changed_.notify_all();  // run() may return, and who waits in meet() waits in vain
  }
}

void DeviceTeam::meet() {
  std::unique_lock lock(mutex_);
  const std::int64_t meeting = meetings_;
  if (++met_ == size()) {
    met_ = 0;
    ++meetings_;
    changed_.notify_all();
    return;
  }
  changed_.wait(lock, [&] { return meetings_ > meeting || busy_ < size(); });
  if (meetings_ == meeting) throw LeftAlone();
}

void DeviceTeam::run(const std::function<void(int device)>& work) {
  {
    std::unique_lock lock(mutex_);
    work_ = &work;
    busy_ = size();
    met_ = 0;
    ++round_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return busy_ == 0; });
  }
  std::size_t first = errors_.size();  // the first that was not merely left alone, where there is one
  for (std::size_t d = 0; d < errors_.size(); ++d) {
    if (!errors_[d]) continue;
    if (first == errors_.size() || (is_left_alone(errors_[first]) && !is_left_alone(errors_[d]))) first = d;
  }
  if (first < errors_.size()) rethrow_of_device(first, errors_[first]);
}

}  // namespace plumb
