// Findings that a project has looked at and lets be: a file of rules (PLUMB_SIMT_SUPPRESS). docs/executor/cuda.md has its form.
#pragma once
#include <string>

#include "gpu/simt/executor.hpp"

namespace plumb::simt {

/// Reads the file of the environment, where there is one; ends the program with exit code 2 where it cannot be read.
void read_suppressions();
/// The rule that names the finding, as "FILE:LINE"; empty where none does.
std::string suppressed_by(const Finding& finding);
/// Rules that named nothing, told on stderr.
void tell_unused_suppressions();

}  // namespace plumb::simt
