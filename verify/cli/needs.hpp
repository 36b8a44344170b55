// Which workers a command of verify wants beside it, for tools/plumb, which builds them.
#pragma once
#include <string>
#include <vector>

#include "verify/cli/options.hpp"

namespace plumb {

/// Whether the globs of --variant may name a rung of this tree: not where all of them are for user/NAME.
[[nodiscard]] bool rungs_wanted(const std::vector<std::string>& variants);

/// Where no device is named and a user's folder (tools/plumb --extra) holds kernels for a GPU that is not here: the CPU executor is chosen
/// for a folder of such files alone. Returns what to tell the user, or "".
std::string choose_device_of_folder(VerifyOptions& options);

/// Names of the workers that these options make use of, in the order in which they should be built.
[[nodiscard]] std::vector<std::string> workers_wanted(const VerifyOptions& options);

/// `verify --needs ARGUMENTS`: what workers_wanted() says of the arguments, as lines "needs: NAME". Returns 0. Throws Error, as
/// the command itself will, where an argument is wrong.
int print_needs(int argc, char** argv);

}  // namespace plumb
