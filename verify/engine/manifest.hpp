// Compares what registered itself with what CMake compiled.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "verify/engine/user_files.hpp"

namespace plumb {

struct ManifestLine {
  const char* op;
  const char* variant;
};

/// One line per defect among a user's files compiled `in` (&UserFile::here or &UserFile::simt), whose variants registered themselves
/// as `registered` ("user/NAME").
[[nodiscard]] std::vector<std::string> user_defects(bool UserFile::*in,
                                                    const std::set<std::string>& registered);

/// One line per defect: compiled but not registered, registered under another name. Empty: all is well.
[[nodiscard]] std::vector<std::string> manifest_defects();

/// True where there are such defects, or where the compiler broke compensated sums or NaN comparisons. Prints each on stderr.
[[nodiscard]] bool harness_is_broken();

}  // namespace plumb
