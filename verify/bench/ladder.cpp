#include "verify/bench/ladder.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "tools/terminal.hpp"
#include "verify/report/page.hpp"
#include "verify/report/table.hpp"

namespace plumb {
namespace {

std::vector<const BenchResult*> results_of(const BenchReport& report, const std::string& case_id) {
  std::vector<const BenchResult*> rows;
  for (const BenchResult& r : report.results) {
    if (r.case_id == case_id) rows.push_back(&r);
  }
  return rows;
}

// The measurement that single figures are quoted from: cold where there is one, else warm.
const Measurement* main_of(const BenchResult& r) { return r.cold ? &*r.cold : r.warm ? &*r.warm : nullptr; }

std::string interval_text(const Measurement& m) {
  const double half = 0.5 * (m.summary.high - m.summary.low);
  return m.summary.median > 0 ? fmt::format("{:.1f} %", 100 * half / m.summary.median) : "";
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "-"; }
std::string times(double ratio) { return ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-"; }

// Largest of each over the kernels of a run: what limits occupancy.
std::string kernels_text(const BenchResult& r) {
  if (r.kernels.empty()) return "";
  int registers = 0, shared = 0, local = 0;
  for (const KernelUse& k : r.kernels) {
    registers = std::max(registers, k.registers), shared = std::max(shared, k.shared_bytes),
    local = std::max(local, k.local_bytes);
  }
  std::string text =
      fmt::format("{} kernel{}, {} regs", r.kernels.size(), r.kernels.size() > 1 ? "s" : "", registers);
  if (shared > 0) text += fmt::format(", {:.1f} KiB shared", shared / 1024.0);
  if (local > 0) text += fmt::format(", {} B local per thread", local);
  return text;
}

std::string notes_of(const BenchResult& r) {
  std::string notes;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) notes += (notes.empty() ? "" : "; ") + text;
  };
  if (r.single >= 0) {
    add(fmt::format("left out after one run of {}: slow beside the fastest of ours", time_text(r.single)));
  } else if (!r.has_times())
    add(r.reason.empty() ? r.verdict : fmt::format("{}: {}", r.verdict, r.reason));
  if (r.has_times() && r.verdict == "marginal") add("marginal");
  if (r.arithmetic != Arithmetic::native) add(fmt::format("computes in {}", name(r.arithmetic)));
  for (const auto& [m, kind] : {std::pair{&r.cold, "cold"}, {&r.warm, "warm"}}) {
    if (!*m || !(*m)->summary.noisy) continue;
    add((*m)->summary.count < kFewestSamples
            ? fmt::format("noisy {} (only {} samples)", kind, (*m)->summary.count)
            : fmt::format("noisy {}", kind));
  }
  if (r.warm && r.cold && r.warm->summary.low > r.cold->summary.high) add("warm is slower than cold");
  add(r.doubt);
  add(kernels_text(r));
  add(r.chosen);
  return notes;
}

// The library variants that ratios are taken to: those that are as fast as the fastest.
std::set<std::string> vendors_of(const std::vector<const BenchResult*>& rows) {
  std::set<std::string> names;
  for (const BenchResult* r : rows) {
    for (const auto* m : {&r->cold, &r->warm}) {
      if (*m && (*m)->vendor == 1 && r->library) names.insert(r->variant);
    }
  }
  return names;
}

struct Columns {
  bool cold = false, warm = false, prepare = false;
};

Columns columns_of(const std::vector<const BenchResult*>& rows) {
  Columns c;
  for (const BenchResult* r : rows) {
    c.cold = c.cold || r->cold.has_value(), c.warm = c.warm || r->warm.has_value(),
    c.prepare = c.prepare || r->prepare >= 0;
  }
  return c;
}

// The columns between a variant's name and its notes.
std::vector<std::string> heads_of(const Columns& c) {
  std::vector<std::string> heads;
  if (c.cold) heads.insert(heads.end(), {"cold", "+-"});
  if (c.warm) heads.insert(heads.end(), {"warm", "+-"});
  heads.insert(heads.end(), {"traffic", "work", "vendor", "roof"});
  if (c.prepare) heads.insert(heads.end(), {"prepare", "pays after"});
  return heads;
}

std::vector<std::string> cells_of(const BenchResult& r, const Columns& c) {
  std::vector<std::string> cells;
  for (const auto& [m, shown] : {std::pair{&r.cold, c.cold}, {&r.warm, c.warm}}) {
    if (!shown) continue;
    cells.push_back(*m ? time_text((*m)->summary.median) : "-");
    cells.push_back(*m ? interval_text(**m) : "");
  }
  if (const Measurement* m = main_of(r)) {
    cells.insert(cells.end(), {rate_text(r.bytes / m->summary.median, "B/s"),
                               rate_text(r.flop / m->summary.median, "FLOP/s"), times(m->vendor),
                               percent(m->share_of_roof())});
  } else {
    cells.insert(cells.end(), 4, "-");
  }
  if (c.prepare)
    cells.insert(cells.end(),
                 {r.prepare >= 0 && r.has_times() ? time_text(r.prepare) : "-", pays_text(r.pays_after)});
  return cells;
}

std::string work_text(const BenchResult& r) {
  return fmt::format("{} of work, {} of compulsory traffic", rate_text(r.flop, "flop"),
                     rate_text(r.bytes, "B"));
}

// One colour per quantity, legible on white and on black. The picture brings its own background: whether the page around it is dark or
// light is not the picture's to know.
constexpr const char* kSvgStyle =
    "<style>"
    ".b{fill:#fff}.t{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f}"
    ".h{font-weight:bold}.f{fill:#6e7781}.g{stroke:#8b949e;stroke-opacity:.35}"
    ".c{fill:#2f81f7}.w{fill:#76a9f5}.v{fill:#b58105}.r{fill:#2da44e}.l{fill:#8b949e}"
    "@media(prefers-color-scheme:dark){.b{fill:#0d1117}.t{fill:#e6edf3}.f{fill:#9198a1}}"
    "</style><rect class=\"b\" width=\"100%\" height=\"100%\" rx=\"6\"/>";

std::string html_row(const BenchResult& r, const Columns& c) {
  std::string out =
      fmt::format("<tr{}><td>{}</td>", r.library ? " class=\"vendor\"" : "", escape_markup(r.variant));
  for (const std::string& cell : cells_of(r, c)) out += fmt::format("<td>{}</td>", cell);
  return out +
         fmt::format("<td{}>{}</td></tr>\n", r.has_times() ? "" : " class=bad", escape_markup(notes_of(r)));
}

// One picture of a ladder: a row per variant with its times, its speed beside the vendor's, and its share of the roof.
class Drawing {
 public:
  Drawing(const BenchReport& report, const std::string& case_id)
      : report_(report), case_id_(case_id), rows_(results_of(report, case_id)) {
    std::size_t name_length = 8;
    for (const BenchResult* r : rows_) {
      longest_ = std::max(longest_, longer_of(*r));
      if (const Measurement* m = main_of(*r)) best_ratio_ = std::max(best_ratio_, m->vendor);
      name_length = std::max(name_length, r->variant.size());
    }
    times_at_ = 16 + kChar * static_cast<double>(name_length) + 10;
    vendor_at_ = times_at_ + kBars + kText, roof_at_ = vendor_at_ + kShare + kText;
    bottom_ = kTop + kRow * static_cast<double>(rows_.size());
  }

  std::string svg() {
    const double width =
        std::max(roof_at_ + kShare + kText, 16 + kChar * static_cast<double>(case_id_.size()));
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\">",
        width, bottom_ + 34);
    out_ += fmt::format("<title>{}</title>{}", escape_markup(case_id_), kSvgStyle);
    text(8, 20, case_id_, "h");
    text(8, 46, "variant", "f"), text(times_at_, 46, "time (cold, and warm below it)", "f");
    text(vendor_at_, 46, "speed / vendor", "f"), text(roof_at_, 46, "share of roof", "f");
    for (std::size_t i = 0; i < rows_.size(); ++i) row(*rows_[i], kTop + kRow * static_cast<double>(i));
    mark(vendor_at_ + kShare / best_ratio_), mark(roof_at_ + kShare);  // the vendor's own speed, and the roof
    text(8, bottom_ + 20, where(), "f");
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double kRow = 30, kTop = 66, kBars = 250, kText = 80, kShare = 110, kChar = 7.3;

  static double longer_of(const BenchResult& r) {
    double longer = 0;
    for (const auto* m : {&r.cold, &r.warm}) longer = *m ? std::max(longer, (*m)->summary.median) : longer;
    return longer;
  }

  void text(double x, double y, const std::string& what, const char* more = "") {
    out_ += fmt::format("<text class=\"t {}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", more, x, y,
                        escape_markup(what));
  }

  void bar(double x, double y, double w, double h, const char* kind) {
    out_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"/>", kind, x,
        y, std::max(w, 1.0), h);
  }

  void mark(double x) {
    out_ += fmt::format(
        "<line class=\"g\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke-dasharray=\"3 "
        "3\"/>",
        x, kTop - 6, bottom_);
  }

  [[nodiscard]] double length(double seconds) const { return longest_ > 0 ? kBars * seconds / longest_ : 0; }

  void row(const BenchResult& r, double y) {
    text(8, y + 14, r.variant, r.library ? "h" : "");
    const Measurement* main = main_of(r);
    if (main == nullptr) return text(times_at_, y + 14, fmt::format("{}, not timed", r.verdict), "f");
    double at = y + 2;
    const double thick = r.cold && r.warm ? 9 : 18;
    for (const auto& [m, kind] : {std::pair{&r.cold, "c"}, {&r.warm, "w"}}) {
      if (!*m) continue;
      bar(times_at_, at, length((*m)->summary.median), thick, kind);
      at += thick + 1;
    }
    // behind the longer bar, whichever of the two it names
    text(times_at_ + length(longer_of(r)) + 6, y + 14, time_text(main->summary.median));
    if (main->vendor > 0) {
      const double speed = kShare * main->vendor / best_ratio_;
      bar(vendor_at_, y + 2, speed, 18, r.library ? "l" : "v");
      text(vendor_at_ + speed + 6, y + 14, times(main->vendor));
    }
    if (main->floor > 0) {
      const double share = kShare * std::min(main->share_of_roof(), 1.0);
      bar(roof_at_, y + 2, share, 18, "r");
      text(roof_at_ + share + 6, y + 14, percent(main->share_of_roof()));
    }
  }

  [[nodiscard]] std::string where() const {
    const bool gpu = !rows_.empty() && rows_.front()->device == "gpu";
    std::string words;
    for (const auto& [key, value] : report_.machine) {
      if (key == (gpu ? "device" : "processor") || (key == "threads" && !gpu))
        words += (words.empty() ? "" : ", ") + (key == "threads" ? value + " threads" : value);
    }
    return words;
  }

  const BenchReport& report_;
  const std::string& case_id_;
  std::vector<const BenchResult*> rows_;
  std::string out_;
  double longest_ = 0, best_ratio_ = 1, times_at_ = 0, vendor_at_ = 0, roof_at_ = 0, bottom_ = 0;
};

// One line of a case's table.
std::string markdown_row(const BenchResult& r) {
  const Measurement* m = quoted(r);
  if (m == nullptr)
    return fmt::format("| {} | - | - | - | - | - | - | - | - | {} |\n", r.variant, notes_of(r));
  const auto time = [](const std::optional<Measurement>& of) {
    return of ? time_text(of->summary.median) : "-";
  };
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", r.variant, time(r.warm),
                     time(r.cold), rate_text(r.bytes / m->summary.median, "B/s"),
                     rate_text(r.flop / m->summary.median, "FLOP/s"), times(m->vendor),
                     percent(m->share_of_roof()), r.prepare >= 0 ? time_text(r.prepare) : "-",
                     pays_text(r.pays_after), notes_of(r));
}

// Our fastest and the vendor's fastest on one case, of those that compute in the operator's arithmetic; null: there is none.
struct Fastest {
  const BenchResult *ours = nullptr, *vendor = nullptr;

  explicit Fastest(const std::vector<const BenchResult*>& results) {
    for (const BenchResult* r : results) {
      if (quoted(*r) == nullptr || !is_of_own_type(r->arithmetic)) continue;
      const BenchResult*& best = r->library ? vendor : ours;
      if (best == nullptr || quoted(*r)->summary.median < quoted(*best)->summary.median) best = r;
    }
  }
  // Vendor's time over ours; 0 where there is none, or a time is too noisy.
  [[nodiscard]] double ratio() const {
    if (vendor == nullptr || quoted(*vendor)->summary.wide() || quoted(*ours)->summary.wide()) return 0;
    return quoted(*vendor)->summary.median / quoted(*ours)->summary.median;
  }
};

// Geometric means by operator and type, in the order of the report.
class Means {
 public:
  void add(const std::string& key, double ratio) {
    auto mean = std::find_if(means_.begin(), means_.end(), [&](const auto& m) { return m.key == key; });
    if (mean == means_.end()) mean = means_.insert(means_.end(), {key});
    mean->logarithms += std::log(ratio);
    ++mean->count;
  }
  [[nodiscard]] std::string markdown() const {
    std::string rows;
    for (const Mean& m : means_) {
      rows += fmt::format("| {}, geometric mean of {} | | | | | {} |\n", m.key, m.count,
                          times(std::exp(m.logarithms / m.count)));
    }
    return rows;
  }

 private:
  struct Mean {
    std::string key;
    double logarithms = 0;
    int count = 0;
  };
  std::vector<Mean> means_;
};

constexpr const char* kMarkdownHead =
    "Medians of event-timed runs, each variant judged before and after it was timed. `vendor`: speed beside "
    "the "
    "fastest library variant's of the\nsame case; `vendor`, `traffic`, `work` and `roof` are of the warm "
    "time "
    "where there is one. `prepare`: conversion and analysis, timed apart; `pays after`: "
    "the runs after which that has paid, beside the vendor's fastest with its own. The first\ntable leaves "
    "out "
    "variants "
    "that compute in another arithmetic than the operator's (flushed subnormals apart), which the ladders "
    "name.";

}  // namespace

std::string time_text(double seconds) {
  if (!(seconds > 0)) return seconds == 0 ? "0 s" : "-";
  const auto [scale, unit] = seconds < 1e-6   ? std::pair{1e9, "ns"}
                             : seconds < 1e-3 ? std::pair{1e6, "us"}
                             : seconds < 1    ? std::pair{1e3, "ms"}
                                              : std::pair{1.0, "s"};
  const double value = seconds * scale;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 3 : value < 100 ? 2 : 1, unit);
}

std::string pays_text(double runs) {
  return runs < 0 ? "-" : std::isinf(runs) ? "never" : fmt::format("{:.0f}", runs);
}

std::string rate_text(double value, const std::string& unit) {
  if (!(value > 0)) return value == 0 ? "0 " + unit : "-";
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t p = 0;
  // 4,289 GB/s rather than 4.3 TB/s, but 48.4 TFLOP/s: bandwidths are quoted in GB/s
  const double limit = unit == "B/s" ? 1e4 : 1e3;
  while (value >= limit && p + 1 < std::size(kPrefixes)) value /= 1000, ++p;
  return fmt::format("{:.{}f} {}{}", value, value < 10 ? 2 : value < 100 ? 1 : 0, kPrefixes[p], unit);
}

std::vector<std::string> cases_of(const BenchReport& report) {
  std::vector<std::string> ids;
  for (const BenchResult& r : report.results) {
    if (std::find(ids.begin(), ids.end(), r.case_id) == ids.end()) ids.push_back(r.case_id);
  }
  return ids;
}

std::string machine_table(const BenchReport& report, std::size_t columns) {
  constexpr std::size_t kBefore = 20;
  std::string out;
  for (const auto& [key, value] : report.machine) {
    if (value.empty()) continue;
    std::string text = wrapped_text(value, columns, kBefore);
    out += fmt::format("  {:<18}{}", key, text.erase(0, kBefore));
  }
  return out;
}

std::string roofs_table(const std::vector<Roof>& roofs) {
  std::string out;
  for (const Roof& r : roofs) {
    out += fmt::format("  {:<6}{:<26}{:>14}\n", r.device, r.name,
                       r.unit == "s"   ? time_text(r.value)
                       : r.unit == "B" ? fmt::format("{:.0f} KiB", r.value / 1024)
                                       : rate_text(r.value, r.unit));
  }
  return out;
}

std::string ladder_table(const BenchReport& report, const std::string& case_id, std::size_t columns) {
  const std::vector<const BenchResult*> rows = results_of(report, case_id);
  if (rows.empty()) return {};
  const Columns c = columns_of(rows);
  TextTable table("  variant", heads_of(c));
  for (const BenchResult* r : rows) {
    std::vector<TextCell> cells;
    for (std::string& text : cells_of(*r, c)) cells.push_back({std::move(text)});
    table.add("  " + r->variant, std::move(cells));
    table.add_remark(notes_of(*r));
  }
  std::string out = "\n" + wrapped_text(fmt::format("{}   ({})", case_id, work_text(*rows.front())), columns);
  for (const std::string& line : table.lines(columns)) out += line + "\n";
  const std::set<std::string> vendors = vendors_of(rows);
  if (!vendors.empty())
    out += wrapped_text(fmt::format("vendor: {}, the fastest library variant here", fmt::join(vendors, ", ")),
                        columns, 2);
  return out;
}

std::string ladder_svg(const BenchReport& report, const std::string& case_id) {
  return Drawing(report, case_id).svg();
}

std::string bench_markdown(const BenchReport& report, const std::map<std::string, std::string>& plots) {
  Means means;
  std::string summary =
      "| case | fastest of ours | | fastest of the vendor's | | speed / vendor "
      "|\n|---|---|---|---|---|---|\n";
  std::string ladders;
  for (const std::string& id : cases_of(report)) {
    ladders += fmt::format(
        "\n## {}\n\n| variant | warm | cold | traffic | work | vendor | roof | prepare | pays after | notes "
        "|\n"
        "|---|---|---|---|---|---|---|---|---|---|\n",
        id);
    const std::vector<const BenchResult*> results = results_of(report, id);
    for (const BenchResult* r : results) ladders += markdown_row(*r);
    if (const auto plot = plots.find(id); plot != plots.end())
      ladders += fmt::format("\n![times, speed beside the vendor's, share of the roof]({})\n", plot->second);
    const Fastest fastest(results);
    if (fastest.ours == nullptr) continue;
    const BenchResult &ours = *fastest.ours, *vendor = fastest.vendor;
    const double ratio = fastest.ratio();
    summary +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", id, ours.variant,
                    time_text(quoted(ours)->summary.median), vendor == nullptr ? "none" : vendor->variant,
                    vendor == nullptr ? "-" : time_text(quoted(*vendor)->summary.median), times(ratio));
    if (ratio > 0) means.add(ours.op + "." + ours.dtype, ratio);
  }
  return fmt::format("{}\n\n{}\n```\n{}\n{}```\n", kMarkdownHead, summary + means.markdown(),
                     machine_table(report), roofs_table(report.roofs)) +
         ladders;
}

namespace {

constexpr const char* kBenchStyle =
    "<style>table{font:13px ui-monospace,Menlo,Consolas,monospace;margin:.6rem 0}"
    "td,th{padding:.15rem .7rem .15rem 0;text-align:right;white-space:nowrap}"
    "td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}"
    "tr.vendor td{font-weight:bold}th{opacity:.8;border-bottom:1px solid var(--line)}"
    ".wide svg{max-width:none}</style>\n";

std::string case_html(const BenchReport& report, const std::string& id) {
  const std::vector<const BenchResult*> rows = results_of(report, id);
  const Columns c = columns_of(rows);
  std::string out = fmt::format(
      "<h2>{}</h2><p>{}</p><div class=wide>{}</div><div class=wide><table><tr><th>variant</th>",
      escape_markup(without_folders(id)), escape_markup(work_text(*rows.front())), ladder_svg(report, id));
  for (const std::string& head : heads_of(c)) out += fmt::format("<th>{}</th>", head);
  out += "<th>notes</th></tr>\n";
  for (const BenchResult* r : rows) out += html_row(*r, c);
  return out + "</table></div>\n";
}

}  // namespace

std::string bench_html(const BenchReport& report) {
  std::string out = page_head("Plumbline bench") + kBenchStyle + "<h1>bench</h1>\n";
  out += fmt::format(
      "<p><code>{}</code>, version {}. Every time here belongs to a result that was judged right before and "
      "after it was taken. Medians; +- is half the 95 % interval; traffic, work, vendor and roof are of the "
      "cold time where there is one.</p>\n",
      escape_markup(without_folders(report.command)), escape_markup(report.version));
  for (const std::string& id : cases_of(report)) out += case_html(report, id);
  out += "<h2>machine and roofs</h2>\n<div class=wide><table>";
  for (const auto& [key, value] : report.machine)
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>", escape_markup(key),
                       escape_markup(without_folders(value)));
  return out + fmt::format("</table><pre>{}</pre></div>\n", escape_markup(roofs_table(report.roofs))) +
         page_foot();
}

std::map<std::string, std::string> write_svgs(const BenchReport& report, const std::string& folder) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble) throw input_error(folder, 0, "cannot be made", trouble.message());
  std::map<std::string, std::string> paths;
  for (const std::string& id : cases_of(report)) {
    std::string stem;
    for (const char c : id)
      stem += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
    while (!stem.empty() && stem.back() == '_') stem.pop_back();
    const std::string path = (std::filesystem::path(folder) / (stem.substr(0, 200) + ".svg")).string();
    write_text(path, ladder_svg(report, id));
    paths[id] = path;
  }
  return paths;
}

}  // namespace plumb
