// Reports for people: a progress line on stderr, each failure at once, one table per operator, the totals.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "reference/core/case_id.hpp"
#include "reference/core/error.hpp"
#include "reference/core/operator.hpp"
#include "reference/core/text.hpp"
#include "verify/report/common.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {

std::string ratio_words(double ratio) {
  return std::isinf(ratio) ? "infinite (the bound is 0)" : fmt::format("{:.3g}", ratio);
}

std::vector<std::string> further_lines(const Record& r, bool map) {
  std::vector<std::string> lines;
  for (const std::string& detail : r.detail) {
    if (!map && detail.rfind("map (", 0) == 0) continue;
    for (const std::string& line : split(detail, '\n')) {
      const bool first = lines.empty() && &detail == &r.detail.front();
      if (!line.empty() && !(first && line == r.reason)) lines.push_back(line);
    }
  }
  return lines;
}

std::string last_line(const Totals& t, double seconds) {
  return fmt::format("verify: {} passed, {} failed, {} skipped ({} runs, {:.1f} s)", t.passed, t.failed,
                     t.skipped, t.runs, seconds);
}

namespace {

// Where err/(uM) is small whatever the length of a sum: terms of zero mean that do not repeat. Of others it says how long the sums were.
bool has_zero_mean(const Record& r) {
  try {
    const Fill fill = parse_case(r.case_id).fill;
    return fill == Fill::real || fill == Fill::scaled || is_bitwise(fill);
  } catch (const Error&) { return true; }  // a record of compute-sanitizer need not have a case
}

class Console final : public Reporter {
 public:
  explicit Console(ConsoleOptions options) : options_(options) {}

  void begin(const RunInfo& info) override {
    planned_ = info.planned;
    start_ = std::chrono::steady_clock::now();
  }

  void record(const Record& r) override {
    ++done_;
    common_.count(r);
    Row& row = tables_[r.op][r.variant];
    row.passed += is_passed(r.verdict) ? 1 : 0;
    row.marginal += r.verdict == Verdict::marginal ? 1 : 0;
    row.failed += is_failed(r.verdict) ? 1 : 0;
    row.skipped += is_skipped(r.verdict) ? 1 : 0;
    row.absent += r.verdict == Verdict::skip ? 1 : 0;
    // a missing device is reported in one line, not in one per variant
    if (r.verdict == Verdict::skip) ++skips_[r.variant.substr(0, r.variant.find('/')) + "/*  " + r.reason];
    wants_device_ = wants_device_ || r.wants_device;
    if (r.verdict == Verdict::unsupported) ++skips_[r.op + "  " + r.variant + "  " + r.reason];
    row.ratio = std::max(row.ratio, r.worst.max_ratio);
    if (has_zero_mean(r)) row.unit_ratio = std::max(row.unit_ratio, r.worst.max_unit_ratio);
    if (is_failed(r.verdict)) {
      clear_progress();
      print_failure(r);
    } else if (options_.verbose) {
      clear_progress();
      fmt::print(options_.out, "{}  {}  {}  max err/bound {}, {:.3f} ms{}{}{}\n", paint(r.verdict), r.case_id,
                 r.variant, ratio_words(r.worst.max_ratio), r.seconds * 1e3,
                 r.reason.empty() ? "" : "  " + r.reason, r.chosen.empty() ? "" : "  chose " + r.chosen,
                 r.two_callers > 0 ? "  two callers at once" : "");
    }
    show_progress(r.case_id);
  }

  void end(const Totals&, double) override {
    clear_progress();
    if (options_.quiet) return;
    for (const auto& [op, rows] : tables_) {
      fmt::print(options_.out, "\n{:<44}{:>8}{:>8}{:>9}   {}\n", op, "passed", "failed", "skipped",
                 "max err/bound, max err/(uM)");
      for (const auto& [variant, row] : rows) {
        if (row.absent > 0 && row.absent == row.skipped && row.passed + row.failed == 0) continue;
        fmt::print(options_.out, "  {:<42}{:>8}{:>8}{:>9}   {}, {:.3g}{}\n", variant, row.passed, row.failed,
                   row.skipped, ratio_words(row.ratio), row.unit_ratio,
                   row.marginal > 0 ? fmt::format("  ({} marginal)", row.marginal) : "");
      }
    }
    if (!skips_.empty()) {
      fmt::print(options_.out, "\nskipped, and not counted as passed:\n");
      for (const auto& [what, count] : skips_)
        fmt::print(options_.out, "  SKIP  {}  ({})\n", what,
                   count == 1 ? "1 record" : fmt::format("{} records", count));
      if (wants_device_)
        fmt::print(options_.out,
                   "  GPU kernels run on the CPU too: --device simt, and --race to look for races\n");
    }
    for (const std::string& line : common_.lines()) fmt::print(options_.out, "\n{}", line);
    fmt::print(options_.out, "\n");
  }

 private:
  void print_failure(const Record& r) {
    fmt::print(options_.out, "{}  {}  {}\n      {}\n", paint(r.verdict), r.variant, r.case_id, r.reason);
    for (const std::string& line : further_lines(r)) fmt::print(options_.out, "      {}\n", line);
    fmt::print(options_.out, "      repro: {}\n", r.repro);
    std::fflush(options_.out);
  }

  struct Row {
    int passed = 0, marginal = 0, failed = 0, skipped = 0, absent = 0;
    double ratio = 0, unit_ratio = 0;
  };

  std::string paint(Verdict v) const {
    std::string word(name(v));
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!options_.color) return word;
    const char* code = is_passed(v) ? "32" : is_skipped(v) ? "33" : "31";
    return fmt::format("\033[{}m{}\033[0m", code, word);
  }

  void show_progress(const std::string& current) {
    if (!options_.progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double left =
        done_ > 0 ? elapsed / static_cast<double>(done_) * static_cast<double>(planned_ - done_) : 0;
    fmt::print(stderr, "\r\033[K{} / {}, {:.0f} s, about {:.0f} s left  {}", done_, planned_, elapsed, left,
               current.substr(0, 70));
    std::fflush(stderr);
    line_ = true;
  }

  void clear_progress() {
    if (line_) fmt::print(stderr, "\r\033[K");
    line_ = false;
  }

  ConsoleOptions options_;
  std::int64_t planned_ = 0, done_ = 0;
  std::chrono::steady_clock::time_point start_, shown_;
  bool line_ = false;
  std::map<std::string, std::map<std::string, Row>> tables_;
  std::map<std::string, int> skips_;
  bool wants_device_ = false;
  CommonParameters common_;
};

}  // namespace

std::unique_ptr<Reporter> make_console(ConsoleOptions options) { return std::make_unique<Console>(options); }

}  // namespace plumb
