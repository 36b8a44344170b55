#include "verify/cli/mutants_command.hpp"

#include <chrono>
#include <map>

#include <fmt/format.h>

#include "datasets/io/output_file.hpp"
#include "reference/core/error.hpp"
#include "tools/terminal.hpp"
#include "verify/judge/self_test.hpp"
#include "verify/report/mutant_report.hpp"
#include "verify/report/reporter.hpp"
#include "verify/selection/built.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/mutant_sweep.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

MutantSweepOptions sweep_options(const VerifyOptions& o) {
  MutantSweepOptions s;
  s.cases = o.cases.empty() ? "all" : o.cases;
  s.tier = o.tier, s.variants = o.variants, s.devices = o.devices;
  s.sanitize = o.sanitize, s.all_instruments = o.all_instruments;
  s.progress = !o.quiet;
  s.jobs = o.jobs, s.run = o.run;
  return s;
}

MutantTable table_of(const std::vector<MutantRow>& rows, const std::string& command) {
  MutantTable table;
  table.command = command;
  for (const auto& [instrument, title] : kInstruments) table.instruments.emplace_back(title);
  for (const MutantRow& row : rows) {
    MutantLine& line = table.lines.emplace_back();
    line.op = row.op, line.name = row.name, line.fault = row.fault.fault;
    line.incident = row.fault.incident, line.number = row.fault.number;
    line.how = row.how, line.repro = row.repro;
    line.judged = row.judged(), line.survived = row.survived();
    for (const auto& [instrument, title] : kInstruments) line.cells.push_back(row.cell(instrument));
    table.counted += line.judged ? 1 : 0;
    table.killed += line.judged && !line.survived ? 1 : 0;
    table.not_judged += line.judged ? 0 : 1;
  }
  return table;
}

// The judge with one of its parts replaced by a wrong one. Returns the probes that the judge as it is fails: none.
std::vector<std::string> judge_the_judge(MutantTable& table) {
  for (const JudgeFault& fault : judge_faults()) {
    const std::vector<std::string> noticed = judge_self_test(fault.parts);
    ++table.counted;
    table.killed += noticed.empty() ? 0 : 1;
    table.judges.emplace_back(fault.name, noticed.empty() ? "SURVIVED" : noticed.front());
  }
  return judge_self_test(JudgeParts{});
}

// Where no mutant of an operator was judged: says why, and gives the exit code.
std::optional<int> none_judged(const MutantOutcome& outcome) {
  bool judged = false, wants_device = outcome.wants_device;
  std::string why = outcome.why_none;
  for (const MutantRow& row : outcome.rows) {
    judged = judged || row.judged();
    wants_device = wants_device || row.wants_device;
    if (why.empty()) why = row.not_run;
  }
  if (judged || stop_signal != 0) return std::nullopt;
  fmt::print("skipped: {}\n", why.empty() ? "nothing was run" : why);
  return wants_device ? kNoDevice : kNothingRan;
}

void print_score(const MutantTable& table, int runs, double seconds, bool color) {
  if (table.not_judged > 0)
    fmt::print(
        "\n{} mutants were not judged: their device is absent, or an instrument that is sure to notice "
        "them{}\n",
        table.not_judged, stop_signal != 0 ? ", or they were interrupted" : "");
  fmt::print("\nmutants: {} of {} killed\n", table.killed, table.counted);
  Totals totals;
  totals.passed = table.killed, totals.failed = table.counted - table.killed;
  totals.skipped = table.not_judged, totals.runs = runs;
  fmt::print("{}\n", last_line(totals, seconds, color));
}

}  // namespace

int run_mutants(const VerifyOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  refuse_options("--mutants",
                 {{!o.junit.empty() || !o.csv.empty(), "reports but --json, --html and --markdown"},
                  {!o.save_failing.empty(), "--save-failing"},
                  {!o.plugins.empty(), "--plugin"},
                  {!o.python.empty(), "--python"},
                  {!o.matrices.empty(), "--matrix"},
                  {!o.fills.empty(), "--fill"},
                  {o.seed.has_value(), "--seed"},
                  {o.drawn > 0, "--drawn"},
                  {o.shards > 1, "--shard"},
                  {o.shrink, "--shrink"},
                  {o.listed || o.listed_too, "--listed"},
                  {o.dry_run, "--dry-run"}});
  for (const std::string& path : o.reports()) require_writable(path);
  require_child(o.run);
  require_mutants(o.cases.empty() ? "all" : o.cases,
                  o.devices.empty() || device_wanted(o.devices, Device::simt));
  const MutantOutcome outcome = attack_mutants(sweep_options(o));
  for (const std::string& d : outcome.defects) fmt::print(stderr, "broken harness: {}\n", d);
  if (!outcome.defects.empty()) return kBrokenHarness;

  MutantTable table = table_of(outcome.rows, o.command);
  const std::optional<int> nothing = none_judged(outcome);
  const std::vector<std::string> broken = judge_the_judge(table);
  for (const std::string& probe : broken) fmt::print("BROKEN    the judge as it is fails: {}\n", probe);
  const bool color = !o.no_color && wants_color(stdout);
  if (!o.report_on_stdout()) print_mutant_table(table, o.verbose, color);
  const std::vector<std::string> write_errors = write_mutant_reports({o.json, o.html, o.markdown}, table);
  for (const std::string& what : write_errors) fmt::print(stderr, "error: {}\n", what);
  if (!o.report_on_stdout())
    print_score(table, outcome.runs,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), color);
  const bool survived = table.killed < table.counted || !broken.empty();
  if (survived && stop_signal == 0) return kBrokenHarness;
  if (!write_errors.empty()) return kUsage;
  if (stop_signal != 0) return kSignalled + stop_signal;
  return nothing ? *nothing : kOk;
}

}  // namespace plumb
