// A report of bench: the machine, its roofs, one result per case and variant. Written as JSON, read back by compare.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/bench/roofs.hpp"
#include "verify/bench/statistics.hpp"
#include "verify/drawing/draw_timed.hpp"
#include "verify/engine/process/worker.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// Times in one cache state: warm or cold.
struct Measurement {
  std::vector<double> samples;  // seconds, in the order taken
  Summary summary;
  double floor = 0;  // seconds; 0: no roof is known
  double vendor =
      0;  // time of the fastest library variant over this one: above 1 is faster; 0: there is none
  bool impossible = false;  // below the floor: refused
  [[nodiscard]] double share_of_roof() const { return summary.median > 0 ? floor / summary.median : 0; }
};

struct BenchResult {
  std::string case_id, op, dtype, variant, device;
  Arithmetic arithmetic = Arithmetic::native;
  bool library = false;         // Traits: calls a vendor's library
  std::string verdict, reason;  // of the judge, around the timing
  std::string chosen;           // what an adaptive variant said
  double flop = 0, bytes = 0, output_bytes = 0;
  double prepare = -1;  // seconds; below 0: none
  // Runs after which prepare() has paid beside the vendor's fastest, with its own; infinite: never; below 0: there is nothing to compare.
  double pays_after = -1;
  std::vector<KernelUse> kernels;
  std::optional<Measurement> warm, cold;
  bool adaptive = false;  // of ours, chooses its kernel by the case: the one whose choice is rated
  double single = -1;     // seconds of its one run, where it was left out for being slow; below 0: it was not
  std::string doubt;      // of a library that was timed twice: why, and what came of it

  /// False for what failed its judgement and for what is impossible: it is named, and its times are not quoted.
  [[nodiscard]] bool has_times() const { return warm.has_value() || cold.has_value(); }
};

/// How the cases of a report were drawn, and what of them time did not suffice for.
struct DrawnRun {
  std::string program;  // as it was called, for commands that repeat a case
  std::uint64_t seed = 1;
  int of_an_operator = 0;
  TimedSize size;
  double limit = 0;  // seconds for the whole run; 0: none
  std::int64_t cases = 0, mistrusted = 0;
  std::vector<std::string> not_begun = {};  // ids
  std::int64_t variants_not_timed = 0;      // of the cases that were begun
};

struct BenchReport {
  std::string version, command;
  std::vector<std::pair<std::string, std::string>> machine;  // in the order they are printed
  std::vector<Roof> roofs;
  std::vector<BenchResult> results;
  std::optional<DrawnRun> drawn;
  std::int64_t uses = 0;  // that variants were told to expect of a plan; 0: many
  bool complete =
      false;  // all that was planned was timed, or left out for a reason; false as long as the run goes on, and where it was cut
};

/// Whether a variant's time stands beside those in the operator's own type. Flushed subnormals do not disqualify: fp32 atomics flush
/// them, and a yardstick that does is still the one to beat.
[[nodiscard]] bool is_of_own_type(Arithmetic);
/// The time that vendors are compared by: the warm one where there is one; null where there is none.
[[nodiscard]] const Measurement* quoted(const BenchResult&);

/// Fills in floors. A result below its floor loses its measurements, and its verdict becomes "impossible". Returns how many.
int refuse_impossible(BenchReport&);
/// Fills in the vendor ratios: fastest verified library variant of the same case and device. 0 where the interval of either
/// time is too wide for a ratio. And after how many runs what is prepared has paid.
void rate_against_vendor(BenchReport&);

/// The first rung of ours (01) on the library's case and device, where it is faster than the library by more than both intervals: something
/// else than the library's work may have been timed. Null: it was not timed, or the library is as fast.
[[nodiscard]] const BenchResult* simplest_faster(const BenchReport&, const BenchResult& library);
/// Of two timings of one library, the one with the lower median, with both in words. `simpler`: as simplest_faster() found it.
[[nodiscard]] BenchResult better_timing(const BenchResult& first, const BenchResult& second,
                                        const BenchResult& simpler);

/// Errors: each throws Error naming the file and what is wrong.
void write_text(const std::string& path, const std::string& text);
void write_json(const BenchReport&, const std::string& path);
[[nodiscard]] BenchReport read_json(const std::string& path);
[[nodiscard]] std::string to_json(const BenchReport&);
[[nodiscard]] BenchReport from_json(const std::string& text, const std::string& name);

}  // namespace plumb
