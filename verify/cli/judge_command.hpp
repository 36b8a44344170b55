// verify without --mutants, --list and the like: judges the cases and variants that the options select.
#pragma once
#include "verify/cli/options.hpp"

namespace plumb {

/// Returns the exit code of verify --help.
int run_judging(VerifyOptions);

}  // namespace plumb
