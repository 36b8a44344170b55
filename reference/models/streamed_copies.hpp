// What a model within bounded memory copies while it computes, and what of that cost time.
#pragma once
#include <cstdint>

namespace plumb {

struct StreamedCopies {
  std::int64_t loaded_bytes = 0;  // brought into the bounded memory in one run
  double load_seconds = 0;        // the time that this took, beside the computation or not
  double waited_seconds = 0;      // the part of it that the computation waited for
  /// The share of the copies that took no time of its own; 1 where nothing was copied.
  [[nodiscard]] double hidden() const { return load_seconds > 0 ? 1 - waited_seconds / load_seconds : 1; }

  StreamedCopies& operator+=(const StreamedCopies& more) {
    loaded_bytes += more.loaded_bytes;
    load_seconds += more.load_seconds, waited_seconds += more.waited_seconds;
    return *this;
  }
};

}  // namespace plumb
