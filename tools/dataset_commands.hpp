// The subcommands of dataset: what each adds to the command line, and what it then does.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace plumb {

/// A subcommand and what it does. Of those parsed the first in the list runs: `generate banded` stands before `generate`.
struct Command {
  CLI::App* app;
  std::function<void()> run;
};

void add_generate(CLI::App& app, std::vector<Command>& commands);

/// The new name of a generator that had another one a version ago; empty for every other word.
[[nodiscard]] std::string renamed_generator(const std::string& word);

/// What was guessed about a file that was read, on stderr.
void tell(const std::string& path, const std::vector<std::string>& notes);

/// The one line about a result; on stderr where the result itself went to stdout.
void wrote(const std::string& path, const std::string& what, double seconds);

}  // namespace plumb
