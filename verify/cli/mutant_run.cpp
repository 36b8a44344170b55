#include "verify/cli/mutant_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/judge/self_test.hpp"
#include "verify/report/mutant_report.hpp"
#include "verify/report/record_file.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {
namespace {

constexpr std::pair<Instrument, const char*> kInstruments[] = {
    {kNumeric, "numeric"}, {kRepeat, "repeat"}, {kSimt, "simt"}, {kRace, "race"}, {kSanitizer, "sanitizer"}};

Instrument killer(Verdict v) {
  if (v == Verdict::nondeterministic) return kRepeat;
  if (v == Verdict::race) return kRace;
  return kNumeric;
}

struct Row {
  std::string op, name;
  MutantInfo fault{0, "", "", 0};
  bool ran = false;
  bool survived = false;         // in some type nothing killed it
  unsigned killed_by = 0;
  std::string how;               // the first kill, one line
  std::string repro;
};

std::string cell(const Row& row, Instrument instrument) {
  if ((row.killed_by & instrument) != 0) return "killed";
  if (!row.ran) return "not run";
  const bool here = instrument == kNumeric || instrument == kRepeat;  // what this process can apply
  if ((row.fault.killed_by & instrument) == 0) return "-";
  return here ? "survived" : "not run";
}

// Runs one mutant on the operator's smoke cases until something kills it.
void attack(const OperatorEntry& entry, const VariantInfo& mutant, const VerifyOptions& o, Runner& runner, Row& row, int& runs) {
  bool killed = false;
  for (const Case& c : entry.cases()) {
    if (stop_signal != 0) return;
    if (c.tier > o.tier || c.dtype != mutant.dtype) continue;
    const std::unique_ptr<PreparedCase> prepared = entry.prepare(c);
    const Record r = runner.judge(c, *prepared, mutant);
    if (stop_signal != 0) return;
    runs += r.runs;
    if (is_skipped(r.verdict)) continue;
    row.ran = true;
    row.repro = r.repro;
    if (!is_failed(r.verdict)) continue;
    row.killed_by |= killer(r.verdict);
    killed = true;
    if (row.how.empty()) row.how = fmt::format("{}: {}", name(r.verdict), r.reason);
    break;
  }
  row.survived = row.survived || (row.ran && !killed);
}

}  // namespace

int run_mutants(const VerifyOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  if (!o.junit.empty() || !o.csv.empty() || !o.save_failing.empty() || !o.plugins.empty()) {
    throw Error("--mutants takes --json, --html and --markdown; not --junit, --csv, --save-failing or --plugin");
  }
  const bool progress = isatty(STDERR_FILENO) != 0 && !o.quiet;
  const CaseFilter filter(o.cases);
  std::vector<Row> rows;
  RunOptions run = o.run;
  run.timeout = std::min(run.timeout, 20.0);  // a hang is a kill; it need not take a minute
  Runner runner(run);
  int runs = 0;
  for (const auto& entry : operators()) {
    if (std::none_of(filter.operator_globs().begin(), filter.operator_globs().end(),
                     [&](const std::string& g) { return glob_match(g, entry->name()); })) continue;
    std::map<std::string, std::size_t> at;
    for (const VariantInfo& v : entry->variants(Device::gpu)) {
      if (!v.mutant) continue;
      if (!o.variants.empty() && std::none_of(o.variants.begin(), o.variants.end(), [&](const std::string& g) { return glob_match(g, v.name); })) continue;
      if (at.emplace(v.name, rows.size()).second) rows.push_back({entry->name(), v.name, v.fault, false, false, 0, "", ""});
      Row& row = rows[at[v.name]];
      if (progress) fmt::print(stderr, "\r\033[K{} {} {}", entry->name(), v.name, name(v.dtype));
      attack(*entry, v, o, runner, row, runs);
    }
    runner.forget_workers();
  }
  if (progress) fmt::print(stderr, "\r\033[K");

  MutantTable table;
  table.command = o.command;
  for (const auto& [instrument, title] : kInstruments) table.instruments.emplace_back(title);
  std::optional<RecordFile> json;
  if (!o.json.empty()) json.emplace(o.json, "", "");
  fmt::print("{:<14}{:<44}{:>4}", "operator", "planted fault", "no.");
  for (const auto& [instrument, title] : kInstruments) fmt::print("{:>11}", title);
  fmt::print("\n");
  int killed = 0, counted = 0, absent = 0;
  for (const Row& row : rows) {
    fmt::print("{:<14}{:<44}{:>4}", row.op, row.name, row.fault.number > 0 ? std::to_string(row.fault.number) : "");
    nlohmann::json line{{"operator", row.op}, {"mutant", row.name}, {"number", row.fault.number}, {"fault", row.fault.fault}, {"how", row.how}};
    MutantLine& shown = table.lines.emplace_back();
    shown = {row.op, row.name, row.fault.number > 0 ? std::to_string(row.fault.number) : "", row.fault.fault, row.fault.incident, row.how, {}};
    for (const auto& [instrument, title] : kInstruments) {
      shown.cells.push_back(cell(row, instrument));
      fmt::print("{:>11}", cell(row, instrument));
      line[title] = cell(row, instrument);
    }
    fmt::print("\n");
    if (json) json->append(line.dump() + "\n");
    if (!row.ran) {
      ++absent;
      continue;
    }
    ++counted;
    killed += row.survived ? 0 : 1;
    if (o.verbose && !row.how.empty()) fmt::print("{:<14}  {}\n", "", row.how);
    if (row.survived) fmt::print("SURVIVED  {}  {}: {}\n          repro: {}\n", row.op, row.name, row.fault.fault, row.repro);
  }

  fmt::print("\nfaults planted in the judge itself\n");
  const std::vector<std::string> sound = judge_self_test(JudgeParts{});
  for (const std::string& probe : sound) fmt::print("BROKEN    the judge as it is fails: {}\n", probe);
  for (const JudgeFault& fault : judge_faults()) {
    const std::vector<std::string> noticed = judge_self_test(fault.parts);
    ++counted;
    killed += noticed.empty() ? 0 : 1;
    table.judges.emplace_back(fault.name, noticed.empty() ? "SURVIVED" : noticed.front());
    fmt::print("  {:<56}{}\n", fault.name, noticed.empty() ? "SURVIVED" : "noticed: " + noticed.front());
  }
  if (absent > 0) fmt::print("\n{} planted faults were not run: their device is absent\n", absent);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("\nmutants: {} of {} killed\n", killed, counted);
  Totals totals;
  totals.passed = killed, totals.failed = counted - killed, totals.skipped = absent, totals.runs = runs;
  fmt::print("{}\n", last_line(totals, seconds));
  table.killed = killed, table.counted = counted;
  bool trouble = false;
  const auto report = [&](const std::string& what) {
    if (!what.empty()) fmt::print(stderr, "error: {}\n", what);
    trouble = trouble || !what.empty();
  };
  if (json) report(json->trouble());
  if (!o.html.empty()) report(write_mutant_page(o.html, table));
  if (!o.markdown.empty()) report(write_mutant_markdown(o.markdown, table));
  if (trouble) return kUsage;
  if (stop_signal != 0) return 128 + stop_signal;
  if (counted == 0) return kNothingRan;
  return killed == counted && sound.empty() ? kOk : kBrokenHarness;
}

}  // namespace plumb
