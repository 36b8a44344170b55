// What a run of bench times: its options, and the jobs that follow from them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/bench/result.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {

struct BenchOptions {
  std::string cases, tier = "full";
  std::vector<std::string> variants, fills, devices, plugins;
  bool cold = false, warm = false, dry_run = false;
  int samples = 30;
  double budget = 10, timeout = 120;
  std::int64_t uses = kManyUses;  // that variants are told to expect of a plan
  std::string json, html, svg, markdown, command, program = "bench";  // program: as it was called

  // of drawn cases
  int drawn = 0;  // of each operator; 0: the cases are listed ones
  std::uint64_t seed = 1;
  std::vector<std::string> matrices;                   // files
  std::vector<std::string> adaptive = {"*_adaptive"};  // globs: the rungs whose choice is rated
  double limit = 0, case_budget = 10;                  // seconds; limit 0: none
};

/// How the drawn cases of these options come about. Sizes are of the GPU where one is here and wanted, else of the host.
[[nodiscard]] DrawnRun describe_draw(const BenchOptions&);

/// Of --case gcn, drawn networks; of an id, that one; their variants are pipelines. Else: listed cases are those of exactly one tier: the small ones of tier smoke exist to find faults, not to be timed. A whole id is taken
/// as it is. The variants of a drawn case are those of the operator's own arithmetic, in this order: libraries, the rungs whose choice
/// is rated, a user's, ours from the last to the first. Where the time does not suffice, the simplest rungs are left out.
[[nodiscard]] Plan plan_bench(const BenchOptions&, const std::optional<DrawnRun>& drawn);

}  // namespace plumb
