// verify --mutants: every mutant attacked by every instrument of its kind, on the host, on a GPU and on the CPU executor.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verify/judge/runner.hpp"
#include "verify/judge/sanitizer.hpp"

namespace plumb {

/// For a host mutant, kRace means Archer: an instrument of its own.
inline constexpr unsigned kArcher = kSanitizer << 1;

/// In the order of the table's columns.
inline constexpr std::pair<unsigned, const char*> kInstruments[] = {
    {kNumeric, "numeric"}, {kRepeat, "repeat"},       {kSimt, "simt"},
    {kRace, "race"},       {kSanitizer, "sanitizer"}, {kArcher, "archer"}};

struct MutantSweepOptions {
  std::string cases;                  // what --case takes
  Tier tier = Tier::smoke;            // the hardest that is run
  std::vector<std::string> variants;  // globs; empty: all
  std::vector<std::string> devices;   // empty: all
  std::string sanitize;  // compute-sanitizer's tools, then nothing else runs; "": as all_instruments says
  bool all_instruments = false;  // try every instrument, also where another one has killed the mutant
  bool progress = false;         // a live line on stderr
  int jobs = 1;                  // workers on the host and on a GPU; the CPU executor takes every core
  RunOptions run;
};

/// The result for one mutant.
struct MutantRow {
  std::string op, name;
  MutantInfo fault{0, "", "", 0};
  unsigned declared = 0;         // instruments that can notice it
  std::map<Dtype, bool> killed;  // by anything, for every type that ran
  unsigned killed_by = 0;
  unsigned applied = 0;       // instruments that ran at least one case
  unsigned unnoticed_by = 0;  // instruments that ran every case and noticed nothing
  bool cut_short = false;     // interrupted before every attack on it was over
  std::string how;            // the first kill, one line
  std::string repro;
  std::string not_run;        // why it was skipped, where it was
  bool wants_device = false;  // for want of a device

  /// False: there is no result. A mutant that only the CPU executor is sure to notice is not judged where that did not run: a
  /// race need not show in numbers. Nor where compute-sanitizer alone ran, on its few cases, and others are to notice it too.
  [[nodiscard]] bool judged() const;
  [[nodiscard]] bool killed_everywhere() const;
  [[nodiscard]] bool survived() const { return judged() && !killed_everywhere(); }
  /// "killed", "survived", "not run", "not tried" (another instrument was first), or "-" (not of this instrument's kind).
  [[nodiscard]] std::string cell(unsigned instrument) const;
};

struct MutantOutcome {
  std::vector<MutantRow> rows;
  std::vector<std::string> defects;  // of the build: then nothing was run
  std::string why_none;              // where there is no row
  bool wants_device = false;         // and that is for want of a device
  int runs = 0;
};

/// Errors: a glob that matches no operator or no mutant; compute-sanitizer asked for and not there; no program for --device simt.
[[nodiscard]] MutantOutcome attack_mutants(const MutantSweepOptions&);

}  // namespace plumb
