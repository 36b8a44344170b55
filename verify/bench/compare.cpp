#include "verify/bench/compare.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "verify/bench/ladder.hpp"

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
                          double threshold) {
  std::string out;
  for (const char* key : {"processor", "threads", "device", "driver", "compiler"}) {
    const std::string before = fact(a, key), after = fact(b, key);
    if (before != after) out += fmt::format("another {}: '{}' and '{}'\n", key, before, after);
  }
  std::string last;
  for (const Change& c : result.changes) {
    if (c.case_id != last)
      out += fmt::format("\n{}\n  {:<34}{:<6}{:>12}{:>12}{:>9}\n", c.case_id, "variant", "", "before",
                         "after", "after/before");
    last = c.case_id;
    const char* word = c.regression ? "REGRESSION" : !c.significant ? "" : c.ratio < 1 ? "faster" : "slower";
    out += fmt::format(
        "  {:<34}{:<6}{:>12}{:>12}{:>9.3f}   {}{}\n", c.variant, c.cold ? "cold" : "warm",
        time_text(c.before), time_text(c.after), c.ratio, word,
        c.significant ? fmt::format("{}p {:.2g}", *word ? ", " : "", c.probability) : "within chance");
  }
  for (const std::string& k : result.only_before) out += fmt::format("no longer timed: {}\n", k);
  for (const std::string& k : result.only_after) out += fmt::format("new: {}\n", k);
  out += fmt::format(
      "\nbench compare: {} results, {} slower by more than {:g} %, geometric mean of after/before {:.3f}\n",
      result.changes.size(), result.regressions, threshold * 100, result.ratio_mean);
  return out;
}

}  // namespace plumb
