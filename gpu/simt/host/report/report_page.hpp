// Findings as a page for people: both places in the source, what the two threads met before, and the order that is missing.
#pragma once
#include <string>
#include <vector>

#include "gpu/simt/executor.hpp"

namespace plumb::simt {

/// How the program ended: "exit", "SIGTERM". Not complete: what would have followed was not looked at.
struct RunEnd {
  bool is_complete = false;
  std::string how;
};

/// A whole HTML page, which needs no other file.
std::string report_page(const std::vector<Finding>& findings, std::uint64_t seed, const RunEnd& end);

}  // namespace plumb::simt
