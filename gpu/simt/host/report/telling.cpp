#include "gpu/simt/host/report/telling.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "gpu/simt/host/api/runtime/allocations.hpp"
#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/host/report/ledger.hpp"
#include "gpu/simt/host/report/report_files.hpp"
#include "gpu/simt/host/report/suppressions.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/exhaustion.hpp"

namespace plumb::simt {

namespace {

struct Telling {
  bool begun = false;
  bool ended = false;
  bool takes_part = false;  // in the ledger
  int code = 0;             // that the end asked for
  std::size_t findings = 0, notes = 0, suppressed = 0;
  cudaError_t stopped_by = cudaErrorLaunchFailure;
};
Telling the_telling;

const char* plural(std::size_t n) { return n == 1 ? "" : "s"; }

cudaError_t error_of(const Finding& f) {
  if (f.kind == FindingKind::trap && f.text.find("assertion failed") != std::string::npos)
    return cudaErrorAssert;
  if (f.kind == FindingKind::misaligned) return cudaErrorMisalignedAddress;
  return cudaErrorLaunchFailure;
}

void take_part() {
  if (!std::exchange(the_telling.takes_part, true)) add_begin_to_ledger();
}

// Tells one that was not told before. `stopped_it`: such a one is told in any case, since all that follows is missing.
void tell(Finding f, bool stopped_it) {
  if (!stopped_it) f.suppressed = suppressed_by(f);
  if (const std::string origin = origin_of_array(f.array); !origin.empty())
    f.hint += (f.hint.empty() ? "" : "\n  ") + origin;
  if (!add_to_report_files(f)) return;
  take_part();
  add_to_ledger(f);
  if (!f.suppressed.empty()) {
    ++the_telling.suppressed;
    return;
  }
  std::fputs(f.describe().c_str(), stderr);
  ++(f.is_note ? the_telling.notes : the_telling.findings);
}

void tell_what_was_not_run(const char* cut) {
  const RunState& run = current().run;
  if (run.skipped > 0 && cut == nullptr)
    std::fprintf(stderr,
                 "%lld later launch%s did nothing: the program was stopped, as after an error on a device\n",
                 static_cast<long long>(run.skipped), run.skipped == 1 ? "" : "es");
  if (cut == nullptr) return;
  const auto launches = static_cast<long long>(run.counters.launches);
  std::fprintf(stderr,
               "cut: the program was ended by %s%s in or after launch %lld; what would have followed was not "
               "looked at\n",
               cut, memory_limit_text().c_str(), launches);
}

// What processes found that this one has started, and that told it themselves.
void tell_of_others(std::size_t findings) {
  if (findings > 0)
    std::fprintf(stderr, "%zu finding%s of processes that this one started\n", findings, plural(findings));
}

int tell_counts() {
  if (the_telling.findings == 0 && !current().run.shortage.empty()) {
    std::fprintf(stderr, "stopped: the CPU executor is %s; this says nothing about the kernels\n",
                 current().run.shortage.c_str());
    return 2;
  }
  if (the_telling.suppressed > 0) std::fprintf(stderr, "%zu suppressed\n", the_telling.suppressed);
  tell_unused_suppressions();
  if (the_telling.notes > 0)
    std::fprintf(stderr, "%zu note%s\n", the_telling.notes, plural(the_telling.notes));
  const std::size_t others = of_others().of_descendants;
  tell_of_others(others);
  if (the_telling.findings > 0)
    std::fprintf(stderr, "%zu finding%s\n", the_telling.findings, plural(the_telling.findings));
  return the_telling.findings + others > 0 ? 1 : 0;
}

}  // namespace

void begin_telling(std::uint64_t seed) {
  open_ledger();
  take_part();
  open_report_files(seed);
  the_telling.begun = true;
}

bool is_telling() { return the_telling.begun; }

void begin_telling_as_child() {
  if (!the_telling.begun) return;
  the_telling.findings = the_telling.notes = the_telling.suppressed = 0;
  the_telling.ended = the_telling.takes_part = false;
  current().report.findings.clear();
  current().report.taken.clear();
  forget_own_findings();
}

int code_of_the_end() { return the_telling.code; }

void tell_at_leaving() {
  take_part();
  if (!current().report.findings.empty()) report_now();
}

bool has_told_findings() { return the_telling.findings > 0 || of_others().of_descendants > 0; }

cudaError_t stopped_by() { return the_telling.stopped_by; }

void report_now() {
  if (!the_telling.begun) return;
  const std::vector<Finding> found = take_findings();
  const RunState& run = current().run;
  for (const Finding& f : found) {
    const bool stopped_it = run.is_stopped && run.cut == 0 && &f == &found.back();
    tell(f, stopped_it);
    if (run.is_stopped && !f.is_note) the_telling.stopped_by = error_of(f);
  }
  if (!found.empty()) write_report_files(nullptr);
  if (!run.shortage.empty()) the_telling.stopped_by = cudaErrorMemoryAllocation;
  if (run.refusal.text.empty()) return;
  current().report.taken.clear();  // a launch that is refused again is told again
  answer(static_cast<cudaError_t>(run.refusal.error));
}

int tell_the_rest(const char* cut) {
  if (!the_telling.begun || the_telling.ended) return the_telling.code;
  report_now();
  the_telling.ended = true;
  if (!the_telling.takes_part) return 0;
  add_end_to_ledger(cut != nullptr);
  tell_what_was_not_run(cut);
  the_telling.code = tell_counts();
  write_report_files(cut == nullptr ? "exit" : cut);
  return the_telling.code;
}

}  // namespace plumb::simt
