// One self-contained page: totals, the causes of failures with their cases, a matrix of variants and cases, errors relative to the
// bounds. The whole file is replaced at intervals and at the end, so that there is always a valid page.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "verify/report/failures.hpp"
#include "verify/report/page.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {
namespace {

constexpr int kBins =
    14;  // of the histogram: no error, then powers of two of err/bound from 2^-10 to the bound, then beyond it
constexpr std::size_t kShownFailures = 500;  // of one variant fewer, where several fail

int bin_of(double ratio) {
  if (ratio == 0) return 0;
  if (!(ratio <= 1)) return kBins - 1;
  return std::clamp(static_cast<int>(std::floor(std::log2(ratio))) + 12, 1, kBins - 2);
}

std::string bin_name(int bin) {
  if (bin == 0) return "no error";
  if (bin == kBins - 1) return "beyond the bound";
  if (bin == 1) return "up to 2^-10 of the bound";
  return fmt::format("2^{} to 2^{} of the bound", bin - 12, bin - 11);
}

char class_of(Verdict v) {
  if (v == Verdict::pass) return 'p';
  if (v == Verdict::marginal) return 'm';
  return is_skipped(v) ? 's' : v == Verdict::mistrusted ? 'u' : 'f';
}

class Html final : public Reporter {
 public:
  explicit Html(const std::string& path) : page_(path) {}

  void begin(const RunInfo& info) override {
    info_ = info;
    start_ = last_ = std::chrono::steady_clock::now();
    write(false);
  }

  void record(const Record& r) override {
    totals_.count(r);
    failures_.count(r);
    ++verdicts_[r.verdict];
    if (r.variant != kTheCaseItself) place(r);
    const auto now = std::chrono::steady_clock::now();
    // writing takes longer as the page grows: limit it to a few percent of the run
    if (now - last_ > std::max<std::chrono::steady_clock::duration>(std::chrono::seconds(3), 40 * cost_)) {
      write(false);
      last_ = std::chrono::steady_clock::now();
      cost_ = last_ - now;
    }
  }

  void end(const Totals&, double seconds) override {
    seconds_ = seconds;
    write(true);
  }

  std::string write_error() const override { return page_.write_error(); }

 private:
  struct Cell {
    Verdict verdict = Verdict::skip;
    double ratio = 0, seconds = 0;
  };
  struct Row {
    std::map<std::size_t, Cell> cells;  // by case
    int bins[kBins] = {};
    double worst = 0;
  };
  struct Operator {
    std::string name;
    std::vector<std::string> cases;
    std::map<std::string, std::size_t> case_at;
    std::map<std::string, Row> rows;
  };

  void place(const Record& r) {
    Operator& op = operator_of(r.op);
    const auto [at, is_new] = op.case_at.emplace(r.case_id, op.cases.size());
    if (is_new) op.cases.push_back(r.case_id);
    Row& row = op.rows[r.variant];
    if (r.worst.elements > 0)
      ++row.bins[bin_of(r.worst.max_ratio)], row.worst = std::max(row.worst, r.worst.max_ratio);
    row.cells[at->second] = {r.verdict, r.worst.max_ratio, r.seconds};
  }

  Operator& operator_of(const std::string& name) {
    for (Operator& op : operators_) {
      if (op.name == name) return op;
    }
    operators_.push_back({name, {}, {}, {}});
    return operators_.back();
  }

  static std::string histogram(const Row& row) {
    const int tallest = std::max(1, *std::max_element(std::begin(row.bins), std::end(row.bins)));
    std::string svg =
        fmt::format("<svg class=h width={} height=24 role=img aria-label='ratios to the bound'>", kBins * 8);
    for (int b = 0; b < kBins; ++b) {
      if (row.bins[b] == 0) continue;
      const int height = std::max(2, 22 * row.bins[b] / tallest);
      svg += fmt::format("<rect class={} x={} y={} width=7 height={}><title>{}: {} cases</title></rect>",
                         b == kBins - 1   ? 'f'
                         : b == kBins - 2 ? 'm'
                                          : 'p',
                         b * 8, 24 - height, height, bin_name(b), row.bins[b]);
    }
    return svg + fmt::format("<path d='M{0} 0V24'/></svg>", (kBins - 1) * 8 - 1);
  }

  [[nodiscard]] std::string summary(bool whole) const {
    const double elapsed =
        whole ? seconds_ : std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::string state =
        fmt::format("<b>Unfinished</b>: {} of {} records so far.", totals_.all(), info_.planned);
    if (whole) state = fmt::format("Ended early: {} of {} records.", totals_.all(), info_.planned);
    if (whole && totals_.all() == info_.planned) state = "Complete.";
    std::string out = fmt::format(
        "<h1>verify: <b class=pt>{}</b> passed, <b class={}>{}</b> failed, <b class=st>{}</b> skipped</h1>\n",
        totals_.passed, totals_.failed > 0 ? "ft" : "pt", totals_.failed, totals_.skipped);
    out += fmt::format("<p>{} runs, {:.1f} s. {}<br><code>{}</code><br>plumbline {}, {}</p>\n<p>",
                       totals_.runs, elapsed, state, shown(info_.command), escape_markup(info_.version),
                       escape_markup(info_.host));
    for (const auto& [verdict, count] : verdicts_) {
      out += fmt::format("<span class=chip title=\"{}\"><i class={}></i>{} {}</span> ",
                         escape_markup(explain(verdict)), class_of(verdict), count, name(verdict));
    }
    return out + "</p>\n";
  }

  static std::string matrix_row(const std::string& variant, const Row& row) {
    std::string out = fmt::format("<tr><th>{}</th><td class=k>{}</td><td class=n>{}</td><td class=c>",
                                  escape_markup(variant), histogram(row), ratio(row.worst));
    std::size_t next = 0;
    for (const auto& [at, cell] : row.cells) {
      for (; next < at; ++next) out += "<i></i>";
      out +=
          fmt::format("<i class={} title=\"{}: {}, {} of the bound, {:.3g} ms\"></i>", class_of(cell.verdict),
                      at + 1, name(cell.verdict), ratio(cell.ratio), cell.seconds * 1e3);
      ++next;
    }
    return out + "</td></tr>\n";
  }

  static std::string matrix(const Operator& op) {
    std::string out =
        fmt::format("<h3 id='{0}'>{0}</h3>\n<div class=wide><table class=matrix data-cases='{1}'>\n",
                    escape_markup(op.name), case_list(op));
    for (const auto& [variant, row] : op.rows) out += matrix_row(variant, row);
    out += fmt::format(
        "</table></div>\n<details><summary>the {} cases of {}, in the order of the cells</summary><ol>",
        op.cases.size(), escape_markup(op.name));
    for (const std::string& id : op.cases) out += fmt::format("<li><code>{}</code>", shown(id));
    return out + "</ol></details>\n";
  }

  static std::string failure(const Record& r) {
    std::string out = fmt::format(
        "<details class=failure data-verdict={0}><summary><b class=ft>{0}</b> <code>{1}</code> "
        "{2}</summary>\n<pre>",
        name(r.verdict), shown(r.case_id), shown(r.reason));
    for (const std::string& line : further_lines(r, false)) out += shown(line) + "\n";
    return out + fmt::format("</pre>{}<p>repro: <code>{}</code></p></details>\n", tiles(r.worst.map),
                             shown(r.repro));
  }

  // One variant: how much fails, what all failures share, the smallest of them, and the others closed.
  static std::string cause(const FailedVariant& v, std::size_t most) {
    std::string out = fmt::format("<section class=cause><h3><span class=bad>&#10007;</span> {}</h3>\n<ul>",
                                  shown(v.headline()));
    for (const std::string& line : v.lines()) out += fmt::format("<li>{}", shown(line));
    out += "</ul>\n";
    const std::vector<const Record*> smallest = v.smallest(1);
    for (const Record* r : smallest)
      out += fmt::format("<p>The smallest: <b class=ft>{}</b> <code>{}</code><br>{}<br><code>{}</code></p>\n",
                         name(r->verdict), shown(r->case_id), shown(r->reason), shown(r->repro));
    const std::size_t listed = std::min(most, v.records.size());
    out +=
        fmt::format("<details class=cases><summary>{}</summary>\n",
                    listed < static_cast<std::size_t>(v.failed)
                        ? fmt::format("the {} smallest of {} failures (all are in --json)", listed, v.failed)
                        : fmt::format("{} {}", v.failed, v.failed == 1 ? "failure" : "failures"));
    std::size_t n = 0;
    for (const auto& [size, r] : v.records) {
      if (n++ < listed) out += failure(r);
    }
    return out + "</details></section>\n";
  }

  [[nodiscard]] std::string causes() const {
    const std::vector<const FailedVariant*> variants = failures_.variants();
    if (variants.empty()) return "";
    std::string out = fmt::format("<h2>what fails ({})</h2>\n", variants.size());
    for (const FailedVariant* v : variants)
      out += cause(*v, std::max<std::size_t>(1, kShownFailures / variants.size()));
    return out;
  }

  [[nodiscard]] std::string filter() const {
    std::string out =
        "<form id=filter role=search><label>search <input type=search id=words placeholder='variant, case, "
        "reason'></label> <label>verdict <select id=verdict><option value=''>all";
    for (const auto& [verdict, count] : verdicts_) {
      if (is_failed(verdict)) out += fmt::format("<option>{}", name(verdict));
    }
    return out + "</select></label> <output id=left></output></form>\n";
  }

  void write(bool whole) {
    std::string out = page_head("Plumbline verify") + summary(whole) + filter() + causes();
    out +=
        "<h2>every variant on every case</h2>\n<p id=at>Point at a cell, or tap it: its case and its "
        "numbers are shown here.</p>\n";
    for (const Operator& op : operators_) out += matrix(op);
    out +=
        "<p class=k>Columns: ratios of the largest error to its bound, one bar per power of two, the line is "
        "the bound; the worst ratio; one cell per case.</p>\n";
    out += page_foot();
    whole ? page_.finish(out) : page_.write(out);
  }

  // Text of a run as the page shows it: without the folders of the machine.
  static std::string shown(std::string_view text) { return escape_markup(without_folders(text)); }

  static std::string ratio(double r) { return std::isfinite(r) ? fmt::format("{:.2g}", r) : "beyond"; }

  static std::string case_list(const Operator& op) {
    std::string all;
    for (const std::string& id : op.cases) all += (all.empty() ? "" : "|") + shown(id);
    return all;
  }

  // Where in the output the misses are: the character map as SVG.
  static std::string tiles(const std::string& map) {
    if (map.empty()) return {};
    std::string svg;
    int x = 0, y = 0, width = 0;
    for (const char c : map) {
      if (c == '\n') {
        width = std::max(width, x), x = 0, ++y;
        continue;
      }
      svg += fmt::format("<rect class={} x={} y={} width=9 height=9 />",
                         c == '.'   ? "p"
                         : c == '+' ? "m"
                                    : "f",
                         x * 10, y * 10);
      ++x;
    }
    return fmt::format(
        "<svg class=map width={} height={} role=img aria-label='where the misses are'>{}</svg>\n", width * 10,
        y * 10, svg);
  }

  PageFile page_;
  RunInfo info_;
  Totals totals_;
  std::map<Verdict, int> verdicts_;
  std::vector<Operator> operators_;
  Failures failures_;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point start_, last_;
  std::chrono::steady_clock::duration cost_{};
};

}  // namespace

std::unique_ptr<Reporter> make_html(const std::string& path) { return std::make_unique<Html>(path); }

}  // namespace plumb
