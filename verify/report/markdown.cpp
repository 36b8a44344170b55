// A table per operator and the failures, in Markdown, for a comment on a pull request. The whole file is written at intervals and at the end.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "verify/report/page.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {
namespace {

constexpr std::size_t kCommentedFailures = 50;  // a comment has a largest size

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c == '\n' ? ' ' : c);
  return out;
}

class Markdown final : public Reporter {
 public:
  explicit Markdown(const std::string& path) : page_(path) {}
  void begin(const RunInfo& info) override {
    info_ = info;
    last_ = std::chrono::steady_clock::now();
    write("unfinished");
  }
  void record(const Record& r) override {
    totals_.count(r);
    if (rows_.count(r.op) == 0) order_.push_back(r.op);
    Row& row = rows_[r.op][r.variant];
    row.passed += is_passed(r.verdict) ? 1 : 0;
    row.marginal += r.verdict == Verdict::marginal ? 1 : 0;
    row.failed += is_failed(r.verdict) ? 1 : 0;
    row.skipped += is_skipped(r.verdict) ? 1 : 0;
    if (!(r.worst.max_ratio <= row.ratio)) row.ratio = r.worst.max_ratio;
    if (is_failed(r.verdict) && failures_.size() < kCommentedFailures) failures_.push_back(r);
    if (const auto now = std::chrono::steady_clock::now(); now - last_ > std::chrono::seconds(3)) {
      last_ = now;
      write("unfinished");
    }
  }
  void end(const Totals&, double seconds) override { write(fmt::format("{:.1f} s", seconds), true); }
  std::string write_error() const override { return page_.write_error(); }

 private:
  struct Row {
    int passed = 0, marginal = 0, failed = 0, skipped = 0;
    double ratio = 0;
  };

  void write(const std::string& how, bool last = false) {
    std::string out =
        fmt::format("**verify: {} passed, {} failed, {} skipped** ({} of {} records, {} runs, {})\n\n`{}`\n",
                    totals_.passed, totals_.failed, totals_.skipped, totals_.all(), info_.planned,
                    totals_.runs, how, info_.command);
    for (const std::string& op : order_) {
      out += fmt::format(
          "\n| {} | passed | marginal | failed | skipped | max err/bound |\n|---|---:|---:|---:|---:|---:|\n",
          cell(op));
      for (const auto& [variant, row] : rows_[op]) {
        out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(variant), row.passed, row.marginal,
                           row.failed > 0 ? fmt::format("**{}**", row.failed) : "0", row.skipped,
                           ratio_words(row.ratio));
      }
    }
    if (!failures_.empty()) out += "\n### Failures\n\n";
    for (const Record& r : failures_) {
      out += fmt::format("- **{}** `{}` {}: {}\n  <br>`{}`\n", name(r.verdict), r.variant, r.case_id,
                         escape_markup(r.reason), r.repro);
    }
    if (totals_.failed > static_cast<std::int64_t>(failures_.size())) {
      out += fmt::format("- and {} more\n", totals_.failed - static_cast<std::int64_t>(failures_.size()));
    }
    last ? page_.finish(out) : page_.write(out);
  }

  PageFile page_;
  RunInfo info_;
  Totals totals_;
  std::vector<std::string> order_;
  std::map<std::string, std::map<std::string, Row>> rows_;
  std::vector<Record> failures_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace

std::unique_ptr<Reporter> make_markdown(const std::string& path) { return std::make_unique<Markdown>(path); }

}  // namespace plumb
