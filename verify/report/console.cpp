// Reports for people: a progress line on stderr; at the end one table per operator, the smallest failures of each variant, and what all
// of its failures share.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "reference/cases/case_id.hpp"
#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "tools/terminal.hpp"
#include "verify/report/failures.hpp"
#include "verify/report/reporter.hpp"
#include "verify/report/table.hpp"

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

namespace {

// Where err/(uM) is small whatever the length of a sum: terms of zero mean that do not repeat. Of others it says how long the sums were.
bool has_zero_mean(const Record& r) {
  try {
    const Fill fill = parse_case(r.case_id).fill;
    return fill == Fill::real || fill == Fill::scaled || is_bitwise(fill);
  } catch (const Error&) { return true; }  // a record of compute-sanitizer need not have a case
}

constexpr const char* kGreen = "32";
constexpr const char* kRed = "31";
constexpr const char* kYellow = "33";

const char* color_of(Verdict v) { return is_passed(v) ? kGreen : is_skipped(v) ? kYellow : kRed; }

std::string upper(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string last_line(const Totals& t, double seconds, bool color) {
  const auto number = [&](std::int64_t n, const char* word, const char* code) {
    return painted(fmt::format("{} {}", n, word), color && n > 0 ? code : "");
  };
  return fmt::format("verify: {}, {}, {} ({} runs, {:.1f} s)", number(t.passed, "passed", kGreen),
                     number(t.failed, "failed", kRed), number(t.skipped, "skipped", kYellow), t.runs,
                     seconds);
}

namespace {

class Console final : public Reporter {
 public:
  explicit Console(ConsoleOptions options) : options_(options), progress_(!options.progress) {}

  void begin(const RunInfo& info) override {
    planned_ = info.planned;
    start_ = std::chrono::steady_clock::now();
  }

  void record(const Record& r) override {
    ++done_;
    failures_.count(r);
    count(r);
    if (is_failed(r.verdict)) {
      ++failed_;
      if (options_.all) print_failure(r);
    } else if (options_.verbose) {
      progress_.clear();
      fmt::print(options_.out, "{}  {}  {}  max err/bound {}, {:.3f} ms{}{}{}\n", paint(r.verdict), r.case_id,
                 r.variant, ratio_words(r.worst.max_ratio), r.seconds * 1e3,
                 r.reason.empty() ? "" : "  " + r.reason, r.chosen.empty() ? "" : "  chose " + r.chosen,
                 r.two_callers > 0 ? "  two callers at once" : "");
    }
    show_progress(r.case_id);
  }

  void end(const Totals&, double) override {
    progress_.clear();
    if (!options_.quiet) {
      for (const auto& [op, rows] : tables_) print_table(op, rows);
      print_skips();
    }
    print_failures();
    if (!options_.quiet || failed_ > 0) fmt::print(options_.out, "\n");
  }

 private:
  static constexpr std::size_t kIndent = 6;  // of a failure's lines

  struct Row {
    int passed = 0, marginal = 0, failed = 0, skipped = 0, absent = 0;
    double ratio = 0, unit_ratio = 0;
  };
  using Rows = std::map<std::string, Row>;

  void count(const Record& r) {
    // a missing device is reported in one line, not in one per variant
    const std::string kind = r.variant.substr(0, r.variant.find('/'));
    if (r.verdict == Verdict::skip)
      ++skips_[(r.variant == kTheCaseItself ? "cases" : kind + "/*") + "  " + r.reason];
    if (r.verdict == Verdict::unsupported) ++skips_[r.op + "  " + r.variant + "  " + r.reason];
    wants_device_ = wants_device_ || r.wants_device;
    if (r.variant == kTheCaseItself) return;
    Row& row = tables_[r.op][r.variant];
    row.passed += is_passed(r.verdict) ? 1 : 0;
    row.marginal += r.verdict == Verdict::marginal ? 1 : 0;
    row.failed += is_failed(r.verdict) ? 1 : 0;
    row.skipped += is_skipped(r.verdict) ? 1 : 0;
    row.absent += r.verdict == Verdict::skip ? 1 : 0;
    row.ratio = std::max(row.ratio, r.worst.max_ratio);
    if (has_zero_mean(r)) row.unit_ratio = std::max(row.unit_ratio, r.worst.max_unit_ratio);
  }

  // The lines of a text at the terminal's present width.
  void print(const std::string& text, std::size_t indent) {
    fmt::print(options_.out, "{}", wrapped_text(text, terminal_columns(options_.out), indent));
  }

  void print_table(const std::string& op, const Rows& rows) {
    TextTable table(op, {"passed", "failed", "skipped", "err/bound", "err/(uM)"});
    const auto number = [&](int n, const char* color) {
      return TextCell{std::to_string(n), options_.color && n > 0 ? color : ""};
    };
    for (const auto& [variant, row] : rows) {
      if (row.absent > 0 && row.absent == row.skipped && row.passed + row.failed == 0) continue;
      table.add("  " + variant, {number(row.passed, kGreen),
                                 number(row.failed, kRed),
                                 number(row.skipped, kYellow),
                                 {std::isinf(row.ratio) ? "infinite" : fmt::format("{:.3g}", row.ratio)},
                                 {fmt::format("{:.3g}", row.unit_ratio)}});
      if (row.marginal > 0) table.add_note(fmt::format("    {} of them marginal", row.marginal));
    }
    fmt::print(options_.out, "\n");
    for (const std::string& line : table.lines(terminal_columns(options_.out)))
      fmt::print(options_.out, "{}\n", line);
  }

  void print_skips() {
    if (skips_.empty()) return;
    fmt::print(options_.out, "\nskipped, and not counted as passed:\n");
    for (const auto& [what, count] : skips_)
      print(fmt::format("SKIP  {}  ({} {})", what, count, count == 1 ? "record" : "records"), 2);
    if (wants_device_)
      print("GPU kernels run on the CPU too: --device simt, and --race to look for races", 2);
  }

  void print_failure(const Record& r) {
    progress_.clear();
    const std::string words = fmt::format("{}  {}  {}", upper(name(r.verdict)), r.variant, r.case_id);
    const std::size_t columns = terminal_columns(options_.out);
    std::vector<std::string> lines = wrapped(words, columns > kIndent ? columns - kIndent : columns);
    lines.front().replace(0, name(r.verdict).size(), paint(r.verdict));
    for (std::size_t i = 0; i < lines.size(); ++i)
      fmt::print(options_.out, "{:{}}{}\n", "", i == 0 ? 0 : kIndent, lines[i]);
    print(r.reason, kIndent);
    for (const std::string& line : further_lines(r)) print(line, kIndent);
    fmt::print(options_.out, "      repro: {}\n", r.repro);  // whole, to be pasted
    std::fflush(options_.out);
  }

  // The smallest failures of each variant in full, then what all of them share.
  void print_failures() {
    constexpr std::size_t kOfVariant = 3, kInFull = 12;
    const std::vector<const FailedVariant*> variants = failures_.variants();
    std::size_t left = options_.all ? 0 : kInFull;
    for (const FailedVariant* v : variants) {
      const std::vector<const Record*> shown =
          v->smallest(std::min({left, kOfVariant, std::max<std::size_t>(1, kInFull / variants.size())}));
      left -= shown.size();
      if (!shown.empty()) fmt::print(options_.out, "\n");
      for (const Record* r : shown) print_failure(*r);
      print_common(*v, shown.size());
    }
  }

  void print_common(const FailedVariant& v, std::size_t shown) {
    std::string words = v.headline();
    if (!options_.all && v.failed > static_cast<std::int64_t>(shown))
      words += shown == 0   ? "; --all prints each"
               : shown == 1 ? "; the smallest is above, --all prints each"
                            : fmt::format("; the {} smallest are above, --all prints each", shown);
    const std::vector<std::string> lines = v.lines();
    if (lines.empty() && shown > 0 && v.failed <= static_cast<std::int64_t>(shown)) return;
    fmt::print(options_.out, "\n");
    print(words, 0);
    for (const std::string& line : lines) print(line, 2);
  }

  std::string paint(Verdict v) const { return painted(upper(name(v)), options_.color ? color_of(v) : ""); }

  void show_progress(const std::string& current) {
    const auto now = std::chrono::steady_clock::now();
    if (!options_.progress || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double left =
        done_ > 0 ? elapsed / static_cast<double>(done_) * static_cast<double>(planned_ - done_) : 0;
    progress_.say(fmt::format("{} / {}{}, {:.0f} s, about {:.0f} s left  {}", done_, planned_,
                              failed_ > 0 ? fmt::format(", {} failed", failed_) : "", elapsed, left,
                              current));
  }

  ConsoleOptions options_;
  Progress progress_;
  std::int64_t planned_ = 0, done_ = 0, failed_ = 0;
  std::chrono::steady_clock::time_point start_, shown_;
  std::map<std::string, Rows> tables_;
  std::map<std::string, int> skips_;
  bool wants_device_ = false;
  Failures failures_;
};

}  // namespace

std::unique_ptr<Reporter> make_console(ConsoleOptions options) { return std::make_unique<Console>(options); }

}  // namespace plumb
