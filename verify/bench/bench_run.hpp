// One run of bench, from the roofs to the reports.
#pragma once
#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

#include "verify/bench/bench_plan.hpp"

namespace plumb {

/// Times all that the options name. Returns the exit code.
[[nodiscard]] int run_bench(const BenchOptions&, const std::vector<std::string>& libraries);

/// The stream for messages to a person: stderr where a report takes standard output.
[[nodiscard]] std::FILE* console_of(std::initializer_list<std::string> reports);

/// Writes the reports that the options name. Files are replaced after every case; what cannot be replaced (a pipe, a device) is written
/// once, with `last`.
void write_outputs(const BenchOptions&, const BenchReport&, bool last);

}  // namespace plumb
