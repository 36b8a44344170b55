#include "verify/bench/drawn_plot.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/bench/drawn_summary.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/report/page.hpp"

namespace plumb {
namespace {

constexpr double kWidth = 760, kHeight = 380, kLeft = 70, kRight = 20, kTop = 44, kBottom = 50;
// flop for each byte of compulsory traffic above which an operator's size is its work
constexpr double kWorkBound = 32;

constexpr const char* kStyle =
    "<style>.b{fill:#fff}.t{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f}"
    ".g{stroke:#8b949e;stroke-opacity:.35}.one{stroke:#8b949e;stroke-width:1.5}"
    ".f32{fill:#2f81f7}.f64{fill:#b58105}.r32{stroke:#2f81f7;fill:none}.r64{stroke:#b58105;fill:none}"
    "@media(prefers-color-scheme:dark){.b{fill:#0d1117}.t{fill:#e6edf3}}</style>"
    "<rect class=\"b\" width=\"100%\" height=\"100%\" rx=\"6\"/>";

// One axis in powers of ten, from pixel `from` to pixel `to`.
struct Axis {
  double low = 0, high = 1, from = 0, to = 1;
  [[nodiscard]] double at(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

class Plot {
 public:
  Plot(const BenchReport& report, const std::string& op) : op_(op) {
    double flop = 0, bytes = 0;
    for (const DrawnCase& c : drawn_cases_of(report)) {
      if (c.any().op != op || c.ratio(c.best) <= 0) continue;
      cases_.push_back(c);
      flop += c.any().flop, bytes += c.any().bytes;
    }
    by_work_ = flop > kWorkBound * bytes;
  }

  [[nodiscard]] std::string svg() {
    if (cases_.empty()) return {};
    find_axes();
    draw_frame();
    for (const DrawnCase& c : cases_) draw(c);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\">{2}{3}</svg>\n",
        kWidth, kHeight, kStyle, out_);
  }

 private:
  [[nodiscard]] double size_of(const DrawnCase& c) const {
    return std::max(1.0, by_work_ ? c.any().flop : c.any().bytes);
  }

  void find_axes() {
    double left = size_of(cases_.front()), right = left, low = 0.5, high = 2;
    for (const DrawnCase& c : cases_) {
      left = std::min(left, size_of(c)), right = std::max(right, size_of(c));
      for (const double r : {c.ratio(c.best), c.ratio(c.adaptive)}) {
        if (r > 0) low = std::min(low, r), high = std::max(high, r);
      }
    }
    x_ = {std::floor(std::log10(left)), std::floor(std::log10(right)) + 1, kLeft, kWidth - kRight};
    y_ = {std::log10(low) - 0.05, std::log10(high) + 0.05, kHeight - kBottom, kTop};
  }

  void text(double x, double y, const std::string& what, const char* anchor = "start") {
    out_ += fmt::format("<text class=\"t\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y,
                        anchor, escape_markup(what));
  }
  void line(double x1, double y1, double x2, double y2, const std::string& kind) {
    out_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", kind,
                        x1, y1, x2, y2);
  }

  void draw_frame() {
    text(kLeft, 18,
         fmt::format("{}: speed beside the fastest library variant, {} drawn cases", op_, cases_.size()));
    text(kLeft, 34, "blue fp32, brown fp64; filled: best of ours, ring: adaptive rung; above 1x is faster");
    for (double d = x_.low; d <= x_.high; ++d) {
      const double at = x_.at(std::pow(10, d));
      line(at, kTop, at, kHeight - kBottom, "g");
      text(at, kHeight - kBottom + 18, rate_text(std::pow(10, d), by_work_ ? "flop" : "B"), "middle");
    }
    text(0.5 * (kLeft + kWidth - kRight), kHeight - 10, by_work_ ? "work" : "compulsory traffic", "middle");
    for (const double r : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0}) {
      if (std::log10(r) < y_.low || std::log10(r) > y_.high) continue;
      line(kLeft, y_.at(r), kWidth - kRight, y_.at(r), r == 1 ? "one" : "g");
      text(kLeft - 8, y_.at(r) + 4, fmt::format("{}x", r), "end");
    }
  }

  void draw(const DrawnCase& c) {
    const std::string& dtype = c.any().dtype;
    const std::string words =
        fmt::format("<title>{}, best of ours {} {:.2f}x</title>", escape_markup(c.any().case_id),
                    escape_markup(c.best->variant), c.ratio(c.best));
    const auto point = [&](double ratio, double radius, const std::string& kind) {
      if (ratio <= 0) return;
      out_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">{}</circle>", kind,
                          x_.at(size_of(c)), y_.at(ratio), radius, words);
    };
    point(c.ratio(c.best), 3, dtype);
    point(c.ratio(c.adaptive), 5, "r" + dtype.substr(1));
  }

  const std::string& op_;
  std::vector<DrawnCase> cases_;
  bool by_work_ = false;
  Axis x_, y_;
  std::string out_;
};

}  // namespace

std::string drawn_svg(const BenchReport& report, const std::string& op) { return Plot(report, op).svg(); }

std::map<std::string, std::string> write_drawn_svgs(const BenchReport& report, const std::string& folder) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble) throw input_error(folder, 0, "cannot be made", trouble.message());
  std::map<std::string, std::string> paths;
  for (const BenchResult& r : report.results) {
    if (paths.count(r.op) > 0) continue;
    const std::string svg = drawn_svg(report, r.op);
    if (svg.empty()) continue;
    const std::string path = (std::filesystem::path(folder) / ("drawn_" + r.op + ".svg")).string();
    write_text(path, svg);
    paths[r.op] = path;
  }
  return paths;
}

}  // namespace plumb
