#include "verify/report/trend.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "verify/judge/verdict.hpp"
#include "verify/report/page.hpp"

namespace plumb {
namespace {

using nlohmann::json;

bool is_named(const std::string& word, bool (*kind)(Verdict)) {
  return std::any_of(std::begin(kAllVerdicts), std::end(kAllVerdicts),
                     [&](Verdict v) { return name(v) == word && kind(v); });
}

void take_record(TrendRun& run, const json& j) {
  const std::string verdict = j.at("verdict"), variant = j.at("variant");
  const bool passed = is_named(verdict, is_passed), failed = is_named(verdict, is_failed);
  ++(passed ? run.passed : failed ? run.failed : run.skipped);
  if (variant == kTheCaseItself) return;
  TrendCell& cell = run.variants[j.at("operator").get<std::string>() + " " + variant];
  ++(passed ? cell.passed : failed ? cell.failed : cell.skipped);
  if (const auto ratio = j.find("max_err_over_bound"); passed && ratio != j.end() && ratio->is_number())
    cell.worst = std::max(cell.worst, ratio->get<double>());
}

TrendRun read_run(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw input_error(path, 0, "cannot be read", std::strerror(errno));
  TrendRun run;
  run.label = std::filesystem::path(path).stem().string();
  std::int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      const json j = json::parse(line);
      if (number == 1 && !j.contains("planned")) throw input_error(path, 1, "not a report of verify --json");
      if (number == 1) run.begun = j.value("begun", "");
      if (j.contains("verdict")) take_record(run, j);
      if (j.contains("complete")) run.complete = j.at("complete").get<bool>();
    } catch (const json::exception&) {
      throw input_error(path, number, "not a line of a report of verify --json", line);
    }
  }
  if (number == 0) throw input_error(path, 0, "an empty file, not a report of verify --json");
  return run;
}

// What a variant is in a run: class of its cell, and its sign. A variant that is not in the run: "".
const char* kind_of(const TrendRun& run, const std::string& variant) {
  const auto at = run.variants.find(variant);
  if (at == run.variants.end()) return "";
  return at->second.failed > 0 ? "f" : at->second.passed > 0 ? "p" : "s";
}

struct Changes {
  std::vector<std::string> broken, mended, gone, added;
};

// Between the last run and the one before.
Changes last_changes(const std::vector<TrendRun>& runs) {
  Changes changes;
  if (runs.size() < 2) return changes;
  const TrendRun &before = runs[runs.size() - 2], &last = runs.back();
  std::set<std::string> names;
  for (const TrendRun* run : {&before, &last}) {
    for (const auto& [variant, cell] : run->variants) names.insert(variant);
  }
  for (const std::string& v : names) {
    const std::string was = kind_of(before, v), is = kind_of(last, v);
    if (is == "f" && was != "f") changes.broken.push_back(v);
    if (was == "f" && is == "p") changes.mended.push_back(v);
    if (is.empty()) changes.gone.push_back(v);
    if (was.empty() && is == "p") changes.added.push_back(v);
  }
  return changes;
}

std::vector<std::string> words_of(const Changes& changes) {
  std::vector<std::string> lines;
  for (const auto& [what, names] : {std::pair{"fails now", &changes.broken},
                                    {"passes again", &changes.mended},
                                    {"new, and passes", &changes.added},
                                    {"no longer judged", &changes.gone}}) {
    if (!names->empty()) lines.push_back(fmt::format("{}: {}", what, fmt::join(*names, ", ")));
  }
  return lines;
}

// Bars from left to right: passed above, failed below the line, each to its own scale.
std::string bars(const std::vector<TrendRun>& runs) {
  constexpr int kStep = 18, kHigh = 60;
  std::int64_t passed = 1, failed = 1;
  for (const TrendRun& r : runs) passed = std::max(passed, r.passed), failed = std::max(failed, r.failed);
  std::string svg =
      fmt::format("<svg width={} height={} role=img aria-label='passed and failed records of each run'>",
                  kStep * static_cast<int>(runs.size()), 2 * kHigh);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto up = static_cast<int>(kHigh * runs[i].passed / passed);
    const auto down = static_cast<int>((kHigh - 4) * runs[i].failed / failed);
    svg += fmt::format(
        "<g><title>{}: {} passed, {} failed</title><rect class=p x={} y={} width=14 height={} /><rect "
        "class=f "
        "x={} y={} width=14 height={} /></g>",
        escape_markup(runs[i].label), runs[i].passed, runs[i].failed, kStep * i, kHigh - up, up, kStep * i,
        kHigh + 2, down);
  }
  return svg + "</svg>\n";
}

std::string cell_text(const TrendRun& run, const std::string& variant) {
  const std::string kind = kind_of(run, variant);
  if (kind.empty()) return "<td></td>";
  const TrendCell& cell = run.variants.at(variant);
  const std::string words =
      fmt::format("{} passed, {} failed, {} skipped, max err/bound of those that pass {:.2g}", cell.passed,
                  cell.failed, cell.skipped, cell.worst);
  return fmt::format("<td class={} title=\"{}\">{}</td>", kind, words,
                     kind == "f"   ? fmt::format("&#215; {}", cell.failed)
                     : kind == "s" ? "&#8211;"
                                   : std::to_string(cell.passed));
}

std::string head_row(const std::vector<TrendRun>& runs, const char* first) {
  std::string out = fmt::format("<tr><th>{}</th>", first);
  for (const TrendRun& r : runs)
    out += fmt::format("<th title=\"{}\">{}{}</th>", escape_markup(r.begun), escape_markup(r.label),
                       r.complete ? "" : " (cut)");
  return out + "</tr>\n";
}

}  // namespace

std::vector<TrendRun> read_trend(const std::vector<std::string>& paths) {
  std::vector<TrendRun> runs;
  for (const std::string& path : paths) runs.push_back(read_run(path));
  if (std::all_of(runs.begin(), runs.end(), [](const TrendRun& r) { return !r.begun.empty(); }))
    std::stable_sort(runs.begin(), runs.end(),
                     [](const TrendRun& a, const TrendRun& b) { return a.begun < b.begun; });
  return runs;
}

std::string trend_page(const std::vector<TrendRun>& runs) {
  std::string out = page_head("Plumbline trend") + fmt::format("<h1>{} runs of verify</h1>\n", runs.size());
  const std::vector<std::string> changes = words_of(last_changes(runs));
  out += "<h2>the last beside the one before</h2>\n<ul>";
  for (const std::string& line : changes) out += "<li>" + escape_markup(line);
  out += changes.empty() ? "<li>no variant changed</ul>\n" : "</ul>\n";
  out +=
      "<h2>records that passed, and below the line failed</h2>\n<div class=wide>" + bars(runs) + "</div>\n";
  std::set<std::string> variants;
  for (const TrendRun& r : runs) {
    for (const auto& [variant, cell] : r.variants) variants.insert(variant);
  }
  out += "<h2>every variant</h2>\n<div class=wide><table class=rows>\n" + head_row(runs, "operator, variant");
  for (const std::string& v : variants) {
    out += fmt::format("<tr><th>{}</th>", escape_markup(v));
    for (const TrendRun& r : runs) out += cell_text(r, v);
    out += "</tr>\n";
  }
  return out +
         "</table></div>\n<p class=k>A number: records that passed; &#215;: records that failed; &#8211;: "
         "skipped.</p>\n" +
         page_foot();
}

std::string trend_text(const std::vector<TrendRun>& runs) {
  std::string out;
  for (const TrendRun& r : runs)
    out += fmt::format("{}  {} passed, {} failed, {} skipped{}\n", r.label, r.passed, r.failed, r.skipped,
                       r.complete ? "" : " (cut)");
  for (const std::string& line : words_of(last_changes(runs))) out += line + "\n";
  return out;
}

std::string badge(const TrendRun& run) {
  constexpr int kLeft = 46, kChar = 7, kPad = 14;
  const bool known = run.complete && run.passed + run.failed > 0;
  const std::string words = !run.complete     ? "not complete"
                            : run.failed > 0  ? fmt::format("{} failed", run.failed)
                            : run.passed == 0 ? "nothing ran"
                                              : fmt::format("{} passed", run.passed);
  const int right = kChar * static_cast<int>(words.size()) + kPad;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"20\" role=\"img\" "
      "aria-label=\"verify: "
      "{1}\"><title>verify: {1}</title><rect width=\"{0}\" height=\"20\" rx=\"3\" fill=\"#3d444d\"/><rect "
      "x=\"{2}\" width=\"{3}\" height=\"20\" rx=\"3\" fill=\"{4}\"/><g fill=\"#fff\" text-anchor=\"middle\" "
      "font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\"><text x=\"{5}\" y=\"14\">verify</text>"
      "<text x=\"{6}\" y=\"14\">{1}</text></g></svg>\n",
      kLeft + right, words, kLeft, right,
      !known           ? "#6e7781"
      : run.failed > 0 ? "#b62324"
                       : "#1a7f37",
      kLeft / 2, kLeft + right / 2);
}

}  // namespace plumb
