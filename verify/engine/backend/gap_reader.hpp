// Somebody else's data between the rows of an output.
#pragma once
#include <atomic>
#include <thread>
#include <vector>

#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// A thread that reads what lies between the rows of the outputs, as another user of a larger matrix does whose columns these are. Nothing
/// orders it before or after the calls made while this lives: under ThreadSanitizer a store there is a race, also one of the bits that were
/// there before, which a comparison of bytes does not show. Elsewhere it does nothing.
class GapReader {
 public:
  /// `call` as unpacked: with addresses.
  explicit GapReader(const CallInfo& call);
  ~GapReader();
  GapReader(const GapReader&) = delete;
  GapReader& operator=(const GapReader&) = delete;

 private:
  void read();

  std::vector<ArrayInfo> outputs_;  // those with gaps
  std::atomic<bool> done_ = false;  // relaxed: it must order nothing
  std::thread thread_;
};

}  // namespace plumb
