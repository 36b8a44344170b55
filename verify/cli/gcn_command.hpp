// verify --case gcn: whole networks. They are run and judged by the program infer, which has their pipelines.
#pragma once
#include "verify/cli/options.hpp"

namespace plumb {

/// Becomes `infer gcn --drawn`, with the same exit codes. Errors: options that networks do not have; no --drawn; no infer beside this
/// program.
[[nodiscard]] int judge_gcns(const VerifyOptions& options);

}  // namespace plumb
