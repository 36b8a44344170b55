// verify --mutants: every mutant, of operators and of the judge itself, must be noticed.
#pragma once
#include "verify/cli/options.hpp"

namespace plumb {

/// Prints the table of mutants by instruments and the score. Returns 0; 4 when one survives; 77 or 3 where nothing could be judged.
int run_mutants(const VerifyOptions&);

}  // namespace plumb
