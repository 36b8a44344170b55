// The devices of this host, and one host thread for each. The device side itself is linked in: a GPU's, the CPU executor's, or none;
// tests bring their own.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace plumb {

/// What a host thread asks of the device side. It works on device 0 until it calls use().
struct DeviceSide {
  const char* (*unavailable)();  // why nothing can run on a device here; null where it can
  int (*count)();                // devices that this process sees
  void (*use)(int device);  // this host thread works on that one from here on. Errors: Error, with the reason
  std::string (*name)();    // of this host thread's device
  std::int64_t (*peak_bytes)();  // of device memory: the most that this host thread's arrays have taken
};

/// The one that is linked in; null: none. Set before main() begins.
inline const DeviceSide* device_side = nullptr;

/// One host thread for each of the devices [0, count), which works on that device from its start to its end.
class DeviceTeam {
 public:
  /// `side` must outlive it. Errors: as run().
  DeviceTeam(const DeviceSide& side, int count);
  ~DeviceTeam();
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()); }
  /// Calls work(d) on the thread of every device d, all at once, and returns when all have ended. Errors: throws Error with the
  /// number and the reason of the first device that failed; the others have ended their work.
  void run(const std::function<void(int device)>& work);
  /// Called within the work of every device: returns when all have called it. Errors: throws where the work of another device has ended
  /// before it came here; run() then gives that one's reason.
  void meet();

 private:
  void serve(int device);
  void end();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(int)>* work_ = nullptr;
  std::int64_t round_ = 0;  // of run(); threads start when it grows
  int busy_ = 0;
  int met_ = 0;  // in meet(), of this meeting
  std::int64_t meetings_ = 0;
  bool ends_ = false;
  std::vector<std::exception_ptr> errors_;  // by device
  std::vector<std::thread> threads_;
};

}  // namespace plumb
