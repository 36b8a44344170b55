// A second thread that calls a host variant at the same time, with a problem of its own. What two calls share is then a race, which
// ThreadSanitizer reports: a static buffer, a table that the first call fills.
#pragma once
#include <cstdlib>
#include <memory>
#include <thread>

#include "verify/engine/backend.hpp"
#include "verify/engine/request.hpp"

namespace plumb {

/// Calls from its constructor on, with a copy of the image; its end waits for the call. What the call gives is not looked at.
class OtherCaller {
 public:
  OtherCaller(const RunRequest&, const OperatorEntry&, const std::byte* image);
  ~OtherCaller() { thread_.join(); }
  OtherCaller(const OtherCaller&) = delete;
  OtherCaller& operator=(const OtherCaller&) = delete;

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  void call(const OperatorEntry&);

  RunRequest request_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<std::byte, Free> image_;
  std::thread thread_;
};

}  // namespace plumb
