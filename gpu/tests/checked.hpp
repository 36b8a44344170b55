// The executor's tests run twice: with every access checked, and with PLUMB_TEST_UNCHECKED set, when only what
// shows by itself is found.
#pragma once
#include <cstdlib>

namespace plumb::simt_test {

/// Whether this program's runs check every access.
inline bool checked() {
  static const bool answer = std::getenv("PLUMB_TEST_UNCHECKED") == nullptr;
  return answer;
}

}  // namespace plumb::simt_test
