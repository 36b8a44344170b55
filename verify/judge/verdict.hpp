// What can be said of one variant on one case, and what it means for the exit code.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/exit_code.hpp"
#include "verify/judge/compare.hpp"

namespace plumb {

enum class Verdict : std::uint8_t {
  pass,              // every element within half its bound, in every run
  marginal,          // within the bound, but beyond half of it somewhere
  fail,              // an element beyond its bound
  nondeterministic,  // runs on the same data differ although the variant says they do not, or some fail and some pass
  out_of_bounds,   // a guard or padding was written
  input_modified,  // an input was changed
  unwritten,       // an output element was never written
  race,            // a race was reported
  crash,           // the process died
  timeout,         // it did not return in time
  error,           // it reported an error
  skip,            // not run; the reason says why
  unsupported,     // the variant declines this problem, with its reason
  mistrusted,  // the case itself proves nothing: its reference is constant, or a kernel that does nothing would pass
};

inline constexpr Verdict kAllVerdicts[] = {
    Verdict::pass,          Verdict::marginal,       Verdict::fail,      Verdict::nondeterministic,
    Verdict::out_of_bounds, Verdict::input_modified, Verdict::unwritten, Verdict::race,
    Verdict::crash,         Verdict::timeout,        Verdict::error,     Verdict::skip,
    Verdict::unsupported,   Verdict::mistrusted};

[[nodiscard]] std::string_view name(Verdict);
/// One paragraph for --explain.
[[nodiscard]] std::string_view explain(Verdict);

/// The three classes that never overlap and always sum to all.
[[nodiscard]] constexpr bool is_passed(Verdict v) { return v == Verdict::pass || v == Verdict::marginal; }
[[nodiscard]] constexpr bool is_skipped(Verdict v) { return v == Verdict::skip || v == Verdict::unsupported; }
[[nodiscard]] constexpr bool is_failed(Verdict v) { return !is_passed(v) && !is_skipped(v); }

/// What a variant wrote of the outputs that it alone fills.
enum class Wrote : std::uint8_t {
  unknown,  // there is none, or no run came so far
  nothing,  // no element, in no run
  something,
};

/// Stands for the variant in records of a case that proves nothing: no variant was judged.
inline constexpr const char* kTheCaseItself = "(the case itself)";

/// One variant on one case: what a report holds.
struct Record {
  std::string case_id, op, dtype, variant;
  Verdict verdict = Verdict::skip;
  std::string reason;               // one line
  std::vector<std::string> detail;  // further lines: misses, map, guess
  std::vector<std::string> data;    // what its operands hold: "rows of x that cancel", "NaN in x"
  std::string chosen;               // what an adaptive variant said it chose
  Comparison worst;                 // of the worst run and output
  std::string output;               // that output's name
  double seconds = 0;               // the longest run, the kernel's call alone
  int runs = 0;
  int two_callers = 0;   // of the runs, in which a second caller called the variant at the same time
  bool differs = false;  // two runs placed alike gave different bits, whatever the verdict
  Wrote wrote = Wrote::unknown;
  bool wants_device = false;  // skipped because there is no device that could run it
  std::string repro;          // the command that repeats it
};

struct Totals {
  std::int64_t passed = 0, failed = 0, skipped = 0, runs = 0;
  std::int64_t without_device = 0,
               not_run =
                   0;  // of the skipped: for want of a device, and for another reason than the variant's own
  void count(const Record&);
  [[nodiscard]] std::int64_t all() const { return passed + failed + skipped; }
};

/// 0 all that ran passed; 1 a failure; 3 nothing ran; 77 everything was skipped for want of a device.
[[nodiscard]] ExitCode exit_code(const Totals&);

}  // namespace plumb
