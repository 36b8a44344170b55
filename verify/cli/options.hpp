// What verify's command line asks for.
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/judge/runner.hpp"
#include "verify/judge/sanitizer.hpp"

namespace plumb {

struct VerifyOptions {
  std::string cases;  // --case
  std::vector<std::string> variants;
  std::vector<std::string> devices;  // empty: cpu, and gpu where there is one
  std::vector<Fill> fills;           // empty: all
  Tier tier = Tier::smoke;
  std::optional<std::uint64_t> seed;
  int shard = 0, shards = 1;
  int jobs = 0;  // 0: as the plan has it
  bool fail_fast = false, all = false;
  std::vector<std::string> matrices;
  bool listed = false;  // only cases of the contracts' lists, none of the covering arrays
  bool listed_too = false;
  int drawn = 0;        // --drawn: cases of each operator
  bool shrink = false;  // reduce a failing case to the smallest that still fails
  bool mutants = false, all_instruments = false, require_gpu = false;
  std::string mutate;    // --mutate, which tools/plumb answers
  std::string schemata;  // a file of machine-made mutants, attacked instead of judging
  std::vector<std::string>
      constants_of;                  // files whose constants are boundaries of cases that schemata meet too
  std::string sanitize;              // as typed; "": not under compute-sanitizer
  std::vector<SanitizerTool> tools;  // of --sanitize
  std::vector<std::string> plugins, python;
  std::string json, junit, csv, html, markdown, save_failing;
  std::string list, describe, explain;
  bool why = false;  // with --list cases: the classes that each covers
  bool dry_run = false, verbose = false, quiet = false, no_color = false;
  RunOptions run;
  std::string command;  // as typed

  /// The files of reports that are asked for.
  [[nodiscard]] std::vector<std::string> reports() const;
  /// True where a report takes standard output: words for a person then go to standard error.
  [[nodiscard]] bool report_on_stdout() const;
};

/// Throws Error naming the first option that is given, and that `command` would otherwise leave out of account.
void refuse_options(const std::string& command, std::initializer_list<std::pair<bool, const char*>> given);

/// Parses argv. Returns an exit code when there is nothing left to do (help, version, a usage error already printed).
[[nodiscard]] std::optional<int> parse_options(int argc, char** argv, VerifyOptions& options);

}  // namespace plumb
