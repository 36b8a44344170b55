#include "verify/bench/compare.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "tools/terminal.hpp"
#include "verify/bench/ladder.hpp"
#include "verify/report/table.hpp"

namespace plumb {
namespace {

constexpr double kChance = 0.01;

using Key = std::tuple<std::string, std::string, bool>;  // case, variant, cold

std::vector<std::pair<Key, const Measurement*>> measurements(const BenchReport& report) {
  std::vector<std::pair<Key, const Measurement*>> all;
  for (const BenchResult& r : report.results) {
    if (r.warm) all.push_back({{r.case_id, r.variant, false}, &*r.warm});
    if (r.cold) all.push_back({{r.case_id, r.variant, true}, &*r.cold});
  }
  return all;
}

std::string text_of(const Key& k) {
  return fmt::format("{}  {}  {}", std::get<0>(k), std::get<1>(k), std::get<2>(k) ? "cold" : "warm");
}

std::string fact(const BenchReport& r, const std::string& key) {
  for (const auto& [k, v] : r.machine) {
    if (k == key) return v;
  }
  return {};
}

// The changes of one case.
std::string table_of(const std::vector<Change>& changes, std::size_t columns) {
  TextTable table("  variant", {"", "before", "after", "after/before"});
  for (const Change& c : changes) {
    table.add("  " + c.variant, {{c.cold ? "cold" : "warm"},
                                 {time_text(c.before)},
                                 {time_text(c.after)},
                                 {fmt::format("{:.3f}", c.ratio)}});
    const char* word = c.regression ? "REGRESSION" : !c.significant ? "" : c.ratio < 1 ? "faster" : "slower";
    table.add_remark(c.significant ? fmt::format("{}{}p {:.2g}", word, *word ? ", " : "", c.probability)
                                   : "within chance");
  }
  std::string out;
  for (const std::string& line : table.lines(columns)) out += line + "\n";
  return out;
}

}  // namespace

CompareResult compare_reports(const BenchReport& a, const BenchReport& b, double threshold) {
  CompareResult result;
  std::map<Key, const Measurement*> later;
  for (const auto& [key, m] : measurements(b)) later.emplace(key, m);
  std::vector<double> ratios;
  for (const auto& [key, before] : measurements(a)) {
    const auto found = later.find(key);
    if (found == later.end()) {
      result.only_before.push_back(text_of(key));
      continue;
    }
    const Measurement& after = *found->second;
    Change c;
    std::tie(c.case_id, c.variant, c.cold) = key;
    c.before = before->summary.median, c.after = after.summary.median;
    c.ratio = c.before > 0 ? c.after / c.before : 0;
    c.probability = rank_test(before->samples, after.samples);
    const bool disjoint =
        after.summary.low > before->summary.high || after.summary.high < before->summary.low;
    c.significant = disjoint || c.probability < kChance;
    c.regression = c.significant && c.ratio > 1 + threshold;
    result.regressions += c.regression ? 1 : 0;
    if (c.ratio > 0) ratios.push_back(c.ratio);
    result.changes.push_back(std::move(c));
    later.erase(found);
  }
  for (const auto& [key, m] : measurements(b)) {
    if (later.count(key) > 0) result.only_after.push_back(text_of(key));
  }
  result.ratio_mean = geometric_mean(ratios);
  return result;
}

std::string compare_table(const CompareResult& result, const BenchReport& a, const BenchReport& b,
                          double threshold, std::size_t columns) {
  std::string out;
  for (const char* key : {"processor", "threads", "device", "driver", "compiler"}) {
    const std::string before = fact(a, key), after = fact(b, key);
    if (before != after)
      out += wrapped_text(fmt::format("another {}: '{}' and '{}'", key, before, after), columns);
  }
  for (auto first = result.changes.begin(); first != result.changes.end();) {
    const auto last = std::find_if(first, result.changes.end(),
                                   [&](const Change& c) { return c.case_id != first->case_id; });
    out += "\n" + wrapped_text(first->case_id, columns) + table_of({first, last}, columns);
    first = last;
  }
  for (const std::string& k : result.only_before) out += wrapped_text("no longer timed: " + k, columns);
  for (const std::string& k : result.only_after) out += wrapped_text("new: " + k, columns);
  const std::string sum = fmt::format(
      "bench compare: {} results, {} slower by more than {:g} %, geometric mean of after/before {:.3f}",
      result.changes.size(), result.regressions, threshold * 100, result.ratio_mean);
  return out + "\n" + wrapped_text(sum, columns);
}

}  // namespace plumb
