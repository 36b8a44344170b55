// What is judged: cases by globs, lists and the user's matrices; variants by globs, devices and plug-ins; together a list of jobs.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/cases/case_space.hpp"
#include "verify/drawing/draw_timed.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/selection/tier_cases.hpp"

namespace plumb {

/// One case and the variants that are to be judged on it.
struct Job {
  Case c;
  std::vector<VariantInfo> variants;
};

struct CaseChoice {
  std::string cases;  // what --case takes
  Tier tier = Tier::smoke;
  bool this_tier_only = false;  // else a tier includes the ones before it
  std::vector<Fill> fills;      // empty: all
  std::optional<std::uint64_t> seed;
  std::vector<std::string> matrices;  // files
  bool listed_too = false;            // with matrices: the listed cases as well
  int drawn = 0;    // so many drawn cases of each operator in place of the listed ones; 0: none
  CaseLimit limit;  // of a drawn case
  std::map<std::string, std::vector<std::int64_t>> beside;  // by operator: further sizes of drawn cases
  std::optional<TimedSize>
      timed;  // drawn cases are for timing, of such sizes, and stand beside those on `matrices`
  std::optional<CaseSpeed> covers;  // the tiers' covering arrays too, for this speed
};

struct ChosenCases {
  std::vector<Case> cases;         // in the order of the list of operators
  std::vector<std::string> notes;  // cases of a matrix that were left out, and why
  std::string why_none;            // where there is no case: the likeliest reason
};

/// Errors: a glob that matches no operator, with the nearest name; a matrix that cannot be read; fill=own without a matrix.
[[nodiscard]] ChosenCases select_cases(const CaseChoice&);

struct VariantChoice {
  std::vector<std::string> globs;    // empty: all
  std::vector<std::string> devices;  // empty: all but simt, which is slow
  std::vector<VariantInfo> more;     // of plug-ins and of the CPU executor, beside those of this program
  std::map<std::string, std::string>
      stressed;  // type_key(), and the worker whose kernels of that type delay themselves
};

[[nodiscard]] bool device_wanted(const std::vector<std::string>& devices, Device);
[[nodiscard]] bool matches_any(const std::vector<std::string>& globs, const std::string& text);
/// A variant in a type, as a key.
[[nodiscard]] std::string type_key(const VariantInfo&);

/// The variants of these shared libraries, or of what the worker `program` opens. Errors: as list_plugin(); two with one name in one type.
[[nodiscard]] std::vector<VariantInfo> variants_of_plugins(const std::vector<std::string>& paths,
                                                           const std::string& program = {});

struct Plan {
  std::vector<Job> jobs;
  std::int64_t records = 0;
  std::string why_none;  // where there is no job
};

/// Jobs of part `shard` (from 0) of `shards`. Errors: globs that match no variant, with the nearest name, and with --device simt
/// where it is a GPU rung that this build holds for the CPU executor alone.
[[nodiscard]] Plan plan_jobs(const ChosenCases&, const VariantChoice&, int shard = 0, int shards = 1);

/// Throws Error where a glob matches no operator, with the nearest name.
void check_operators(const CaseFilter&);

/// Reads matrix=FILE for all cases of this process: each file once. Errors: as load_matrix(), and memory, with the file's name.
void read_matrices_once();

}  // namespace plumb
