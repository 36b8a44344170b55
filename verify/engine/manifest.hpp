// Compares what registered itself with what CMake compiled.
#pragma once
#include <string>
#include <vector>

#include "verify/engine/entry.hpp"

namespace plumb {

struct ManifestLine {
  const char* op;
  const char* variant;
};

/// One line per defect: compiled but not registered, registered under another name. Empty: all is well.
[[nodiscard]] std::vector<std::string> manifest_defects();

}  // namespace plumb
