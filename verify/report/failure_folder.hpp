// --save-failing: inputs, outputs and expected values of failing records as .npy, one folder each. Nothing is overwritten.
#pragma once
#include <mutex>
#include <string>

#include "verify/judge/trial.hpp"

namespace plumb {

class FailureFolder {
 public:
  /// Makes the folder. Throws Error when it cannot.
  explicit FailureFolder(std::string path);
  /// Saves one failure; may be called from several threads. After an error write_error() holds it, and nothing more is saved.
  void save(const Failure&);
  [[nodiscard]] std::string write_error() const { return write_error_; }
  [[nodiscard]] int saved() const { return saved_; }

 private:
  std::string path_, write_error_;
  int saved_ = 0;
  std::mutex mutex_;
};

}  // namespace plumb
