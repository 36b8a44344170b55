// Reports for people: a live line on stderr, failures as they fall, one table per operator, the totals.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "verify/report/reporter.hpp"

namespace plumb {

std::string last_line(const Totals& t, double seconds) {
  return fmt::format("verify: {} passed, {} failed, {} skipped ({} runs, {:.1f} s)", t.passed, t.failed, t.skipped, t.runs, seconds);
}

namespace {

class Console final : public Reporter {
 public:
  explicit Console(ConsoleOptions options) : options_(options) {}

  void begin(const RunInfo& info) override {
    planned_ = info.planned;
    start_ = std::chrono::steady_clock::now();
  }

  void record(const Record& r) override {
    ++done_;
    Row& row = tables_[r.op][r.variant];
    row.passed += is_passed(r.verdict) ? 1 : 0;
    row.marginal += r.verdict == Verdict::marginal ? 1 : 0;
    row.failed += is_failed(r.verdict) ? 1 : 0;
    row.skipped += is_skipped(r.verdict) ? 1 : 0;
    row.absent += r.verdict == Verdict::skip ? 1 : 0;
    // a missing device is one line, not one per variant
    if (r.verdict == Verdict::skip) ++skips_[r.variant.substr(0, r.variant.find('/')) + "/*  " + r.reason];
    wants_device_ = wants_device_ || r.wants_device;
    if (r.verdict == Verdict::unsupported) ++skips_[r.op + "  " + r.variant + "  " + r.reason];
    if (std::isfinite(r.worst.max_ratio)) row.ratio = std::max(row.ratio, r.worst.max_ratio);
    row.unit_ratio = std::max(row.unit_ratio, r.worst.max_unit_ratio);
    if (is_failed(r.verdict)) {
      clear_progress();
      fmt::print("{}  {}.{}  {}  {}\n", paint(r.verdict), r.op, r.dtype, r.variant, r.reason);
      for (std::size_t i = 0; i < r.detail.size(); ++i) {
        if (r.detail[i] == r.reason) continue;
        std::string indented;
        for (const char c : r.detail[i]) indented += c == '\n' ? std::string("\n      ") : std::string(1, c);
        while (!indented.empty() && indented.back() == ' ') indented.pop_back();
        if (!indented.empty() && indented.back() == '\n') indented.pop_back();
        fmt::print("      {}\n", indented);
      }
      fmt::print("      repro: {}\n", r.repro);
      std::fflush(stdout);
    } else if (options_.verbose) {
      clear_progress();
      fmt::print("{}  {}  {}  max err/bound {:.3g}, {:.3f} ms{}{}\n", paint(r.verdict), r.case_id, r.variant,
                 r.worst.max_ratio, r.seconds * 1e3, r.reason.empty() ? "" : "  " + r.reason, r.chosen.empty() ? "" : "  chose " + r.chosen);
    }
    show_progress(r.case_id);
  }

  void end(const Totals&, double) override {
    clear_progress();
    if (options_.quiet) return;
    for (const auto& [op, rows] : tables_) {
      fmt::print("\n{:<44}{:>8}{:>8}{:>9}   {}\n", op, "passed", "failed", "skipped", "max err/bound, max err/(uM)");
      for (const auto& [variant, row] : rows) {
        if (row.absent > 0 && row.absent == row.skipped && row.passed + row.failed == 0) continue;
        fmt::print("  {:<42}{:>8}{:>8}{:>9}   {:.3f}, {:.2f}{}\n", variant, row.passed, row.failed, row.skipped, row.ratio, row.unit_ratio,
                   row.marginal > 0 ? fmt::format("  ({} marginal)", row.marginal) : "");
      }
    }
    if (!skips_.empty()) {
      fmt::print("\nskipped, and not counted as passed:\n");
      for (const auto& [what, count] : skips_) fmt::print("  SKIP  {}  ({})\n", what, count == 1 ? "1 record" : fmt::format("{} records", count));
      if (wants_device_) fmt::print("  GPU kernels run on the CPU too: --device simt, and --race to look for races\n");
    }
    fmt::print("\n");
  }

 private:
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
    const double left = done_ > 0 ? elapsed / static_cast<double>(done_) * static_cast<double>(planned_ - done_) : 0;
    fmt::print(stderr, "\r\033[K{} / {}, {:.0f} s, about {:.0f} s left  {}", done_, planned_, elapsed, left, current.substr(0, 70));
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
};

}  // namespace

std::unique_ptr<Reporter> make_console(ConsoleOptions options) { return std::make_unique<Console>(options); }

}  // namespace plumb
