// Stored reports of --json, one after the other: a page of what changed between them, and a badge of the last.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumb {

/// What one report says of one variant of one operator.
struct TrendCell {
  std::int64_t passed = 0, failed = 0, skipped = 0;
  double worst = 0;  // largest error of those that pass, relative to its bound
};

/// One stored report.
struct TrendRun {
  std::string label;  // the file's name without its ending
  std::string begun;  // "2026-11-29T10:33:07Z"; "": a report of 0.2 or before
  bool complete = false;
  std::int64_t passed = 0, failed = 0, skipped = 0;
  std::map<std::string, TrendCell> variants;  // by "operator variant"
};

/// Reads reports of --json. In the order of their times, where all have one, else in the given order. Throws Error naming file and line
/// where one is no such report.
[[nodiscard]] std::vector<TrendRun> read_trend(const std::vector<std::string>& paths);

/// A whole page: the counts of each run, what changed last, and every variant in every run.
[[nodiscard]] std::string trend_page(const std::vector<TrendRun>&);
/// The same in a few lines, for the console.
[[nodiscard]] std::string trend_text(const std::vector<TrendRun>&);
/// "verify | 2689 passed" as a small SVG; red where something failed, grey where the report is cut or nothing ran.
[[nodiscard]] std::string badge(const TrendRun&);

}  // namespace plumb
