// How this thread computes: what a variant must leave as it found it, since its caller goes on computing.
#pragma once
#include <string>

namespace plumb {

struct FloatEnvironment {
  int rounding = 0;  // as fegetround() has it
  unsigned control =
      0;  // of SSE: flushing of subnormals, rounding, exceptions that trap; 0 where there is none
};

/// Of the calling thread.
[[nodiscard]] FloatEnvironment float_environment();

/// Takes the environment when it is made, and puts it back when it goes.
class KeptFloatEnvironment {
 public:
  KeptFloatEnvironment() : before_(float_environment()) {}
  ~KeptFloatEnvironment();
  KeptFloatEnvironment(const KeptFloatEnvironment&) = delete;
  KeptFloatEnvironment& operator=(const KeptFloatEnvironment&) = delete;
  /// What is another now, in words: "subnormal results are flushed to 0, before they were not". Empty where nothing is.
  [[nodiscard]] std::string change() const;

 private:
  FloatEnvironment before_;
};

}  // namespace plumb
