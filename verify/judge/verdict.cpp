#include "verify/judge/verdict.hpp"

namespace plumb {

std::string_view name(Verdict v) {
  switch (v) {
    case Verdict::pass:
      return "pass";
    case Verdict::marginal:
      return "marginal";
    case Verdict::fail:
      return "fail";
    case Verdict::nondeterministic:
      return "nondeterministic";
    case Verdict::out_of_bounds:
      return "out_of_bounds";
    case Verdict::input_modified:
      return "input_modified";
    case Verdict::unwritten:
      return "unwritten";
    case Verdict::race:
      return "race";
    case Verdict::crash:
      return "crash";
    case Verdict::timeout:
      return "timeout";
    case Verdict::error:
      return "error";
    case Verdict::skip:
      return "skip";
    case Verdict::unsupported:
      return "unsupported";
    case Verdict::mistrusted:
      return "mistrusted";
  }
  return "?";
}

std::string_view explain(Verdict v) {
  switch (v) {
    case Verdict::pass:
      return "Every element of every output lies within half its error bound, in every run; nothing else was "
             "touched.";
    case Verdict::marginal:
      return "Within the bound, but somewhere beyond half of it. Honest kernels stay below half: look at the "
             "precision used. "
             "Counts as passed.";
    case Verdict::fail:
      return "At least one element lies beyond its bound. The bound is derived from the number and size of "
             "the terms of that very "
             "element; for the fills exact, wide and index it is zero. NaN where a number is due is a miss.";
    case Verdict::nondeterministic:
      return "Runs on the same data gave different results although the variant declares itself "
             "reproducible, or some runs passed "
             "and some failed. A race, a missing barrier, or a read of memory nobody wrote; or declare "
             "Traits{}.not_reproducible().";
    case Verdict::out_of_bounds:
      return "A guard around an array, or the padding between its rows, was written.";
    case Verdict::input_modified:
      return "An input differs from its copy after the run.";
    case Verdict::unwritten:
      return "An output element still held its poison in every run, and the poisons differed.";
    case Verdict::race:
      return "Two accesses without an order between them, at least one a write, were reported by a race "
             "detector.";
    case Verdict::crash:
      return "The child process that ran the variant died: a signal, or an exit it should not have made.";
    case Verdict::timeout:
      return "The run did not end within --timeout seconds; its process was killed.";
    case Verdict::error:
      return "The variant, or the device under it, reported an error.";
    case Verdict::skip:
      return "Not run, for the reason given. Never counted as a pass.";
    case Verdict::unsupported:
      return "The variant declines this problem, for the reason it gives. Never counted as a pass.";
    case Verdict::mistrusted:
      return "The case cannot tell right from wrong: its reference is constant or all zero, a kernel that "
             "does nothing would have "
             "passed, or its sums are too large to be exact. The case is at fault, not the variant.";
  }
  return "";
}

void Totals::count(const Record& record) {
  passed += is_passed(record.verdict) ? 1 : 0;
  failed += is_failed(record.verdict) ? 1 : 0;
  skipped += is_skipped(record.verdict) ? 1 : 0;
  without_device += record.wants_device ? 1 : 0;
  not_run += record.verdict == Verdict::skip && !record.wants_device ? 1 : 0;
  runs += record.runs;
}

ExitCode exit_code(const Totals& totals) {
  if (totals.failed > 0) return kFailed;
  if (totals.passed > 0) return kOk;
  return totals.without_device > 0 && totals.not_run == 0 ? kNoDevice : kNothingRan;
}

}  // namespace plumb
