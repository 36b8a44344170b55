// What must hold of a run, and of several runs of one variant on one case: two lists of checks. The first check that finds something
// decides the verdict, so the order of a list is its precedence.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verify/engine/engine.hpp"
#include "verify/judge/compare.hpp"
#include "verify/judge/elements.hpp"
#include "verify/judge/known_case.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// What judging consists of; a fault planted in the judge replaces one of these, and the self-test must notice it.
struct JudgeParts {
  Comparison (*compare)(const Segment&, const std::byte*, const Expected&, Poison) = plumb::compare;
  Trespass (*find_trespass)(const ImageLayout&, const std::byte*, const std::byte*) = plumb::find_trespass;
  ExitCode (*exit_code)(const Totals&) = plumb::exit_code;
};

/// What a check found.
struct Finding {
  Verdict verdict = Verdict::fail;
  std::string reason;                    // one line
  std::vector<std::string> detail = {};  // further lines
  bool says_nothing = false;             // the run does not count: it says nothing about the variant
  bool wants_device = false;             // no device here can run it
};

/// One run: how it ended, and its image.
struct Observation {
  const Attempt& attempt;
  const ImageLayout& layout;
  const JudgeParts& parts;
};

using AttemptCheck = std::optional<Finding> (*)(const Observation&);
/// Checks of one run, in their order. A run that passes them all has returned, and wrote nothing but outputs.
[[nodiscard]] std::span<const AttemptCheck> attempt_checks();

/// What a run had that others may not have: "OpenMP threads", "9".
using Environment = std::vector<std::pair<std::string, std::string>>;

/// One run that passed the checks above: its outputs against the oracle.
struct JudgedRun {
  bool failed = false;              // an element beyond its bound
  std::vector<Comparison> outputs;  // per output
  std::vector<Elements> bits;       // per output; of runs that another is compared with
  Environment environment;
};

/// All runs of one variant on one case. Runs n and n + 2 are alike: same leading dimensions, same alignment, as many threads.
struct Series {
  PreparedCase& prepared;
  const Traits& traits;
  Tolerance tolerance;
  const JudgeParts& parts;
  KnownCase& known;
  int listed = 10;           // misses in a report
  bool nan_in_data = false;  // an input holds NaN

  std::vector<Segment> outputs = {};
  std::vector<std::vector<std::uint8_t>> unwritten =
      {};  // per output and element: 1, poison in every run so far
  std::vector<JudgedRun> runs = {};
  int first_threads = 0, last_threads = 0;  // of the child after the first and the last run
  int grown = 0;                            // runs after which it had more threads than before
  std::vector<ResourceUse> uses = {};       // of the child, between many calls in a row
  /// Waits until the child has no more than so many threads; nothing where it is this process.
  std::function<std::optional<Worker::Outcome>(int)> wait_for_threads = {};

  /// Compares what a run left with the oracle. `keep_bits`: a later run will be compared with this one.
  void add(const ImageLayout&, const std::byte* after, bool keep_bits, Environment environment = {});
  /// Whether one more run has one to be compared with: the bits of the last run but one were kept.
  [[nodiscard]] bool can_go_on() const { return runs.size() < 2 || !runs[runs.size() - 2].bits.empty(); }
  /// The run and the output with the most misses, or the largest error. There is at least one run and one output.
  struct Worst {
    const JudgedRun* run;
    std::size_t output;
  };
  [[nodiscard]] Worst worst() const;
  [[nodiscard]] Wrote wrote() const;
  /// Whether two runs that were placed alike gave different bits.
  [[nodiscard]] bool differs() const;
};

using SeriesCheck = std::optional<Finding> (*)(const Series&);
/// Checks of all runs together, in their order.
[[nodiscard]] std::span<const SeriesCheck> series_checks();

/// What there is to say of the misses of one comparison: first misses, counts, tolerance, guess, map.
[[nodiscard]] std::vector<std::string> describe_misses(const Series&, std::size_t output, const Comparison&,
                                                       std::int64_t failed_runs);

}  // namespace plumb
