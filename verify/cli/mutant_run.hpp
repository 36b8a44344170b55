// verify --mutants: every planted fault, of operators and of the judge itself, must be noticed.
#pragma once
#include "verify/cli/options.hpp"

namespace plumb {

/// Prints the table of mutants by instruments and the score. Returns 0, or 4 when one survives.
int run_mutants(const VerifyOptions&);

}  // namespace plumb
