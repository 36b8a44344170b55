// verify --schemata: machine-made mutants of variants, all of a file in one build (tools/mutate), attacked case by case, the
// cheapest first, until one case or instrument kills each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/judge/runner.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {

/// Numbers of mutants, and the variant whose schema holds them.
struct Schema {
  std::string variant;  // "user/04_merge_path"
  std::vector<int> mutants;
};

/// Reads lines "NUMBER VARIANT". Throws Error naming file and line.
[[nodiscard]] std::vector<Schema> read_schemata(const std::string& path);

struct SchemaSweepOptions {
  CaseChoice cases;                  // CaseChoice::cases empty: all of the variants' operators
  std::vector<std::string> devices;  // empty: the host and the CPU executor
  int jobs = 1;
  bool progress = false;  // a live line on stderr
  RunOptions run;
};

enum class MutantState : std::uint8_t {
  not_covered,  // no case reaches its place
  not_made,     // it applies to no type that its place is instantiated with
  same,         // every output of every run has the original's bits
  declined,     // the same but for cases that it declines and the original takes, or the other way round
  survived,     // some bits differ, and every case passes
  killed
};
[[nodiscard]] std::string_view name(MutantState);

struct MutantFate {
  int number = 0;
  std::string variant, op;
  MutantState state = MutantState::not_covered;
  bool felt = false;                // in some case it changes a value at its place
  Verdict verdict = Verdict::pass;  // of the kill
  bool race = false;                // killed where the CPU executor checked every access
  std::string case_id, how, repro;
  int judged = 0;  // cases
};

struct SchemaOutcome {
  std::vector<MutantFate> fates;     // in the order of the numbers
  std::vector<std::string> defects;  // a schema that fails with no mutant in force: its mutants say nothing
  std::int64_t runs = 0;
};

/// Errors: a variant that this build does not hold; globs as in select_cases().
[[nodiscard]] SchemaOutcome attack_schemata(const std::vector<Schema>&, const SchemaSweepOptions&);

}  // namespace plumb
