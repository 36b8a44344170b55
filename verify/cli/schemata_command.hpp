// verify --schemata FILE: attacks machine-made mutants and writes what became of each. Behind tools/plumb verify --mutate.
#pragma once
#include "verify/cli/options.hpp"

namespace plumb {

/// Returns the exit code: 0 all attacked, 4 a schema fails with no mutant in force.
[[nodiscard]] int run_schemata(const VerifyOptions&);

}  // namespace plumb
