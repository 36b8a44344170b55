// The command that repeats a record: pasted into a shell, in the folder where the program was started, it judges the same variant
// on the same case in the same way.
#pragma once
#include <string>
#include <string_view>

#include "verify/judge/trial.hpp"

namespace plumb {

/// The text as one word of a POSIX shell: in single quotes where it holds anything but letters, digits and _ - . / = : + @ %.
[[nodiscard]] std::string shell_word(std::string_view text);

/// Says how this program was called. A front end that builds and starts it exports PLUMB_COMMAND with its own words, quoted for
/// a shell: "tools/plumb --extra mine" makes every line begin with `tools/plumb --extra mine verify`. Without it the line begins
/// with argv[0].
void set_called_as(const char* argv0);

/// `verify` as it was called.
[[nodiscard]] const std::string& called_as();

/// The whole line for one record. `repeat`: runs that were asked for.
[[nodiscard]] std::string repro_line(const Case&, const VariantInfo&, const RunOptions&, int repeat);

/// The same for a record of compute-sanitizer's `tool`; `timeout` in seconds.
[[nodiscard]] std::string repro_line_sanitized(const Case&, const VariantInfo&, std::string_view tool,
                                               double timeout);

}  // namespace plumb
