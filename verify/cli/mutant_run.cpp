#include "verify/cli/mutant_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/cli/sanitize_run.hpp"
#include "verify/engine/confinement.hpp"
#include "verify/engine/sanitizer.hpp"
#include "verify/engine/simt_device.hpp"
#include "verify/judge/self_test.hpp"
#include "verify/report/mutant_report.hpp"
#include "verify/report/record_file.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {
namespace {

// Of a host mutant kRace is Archer's: a column of its own.
constexpr unsigned kArcher = kSanitizer << 1;

constexpr std::pair<unsigned, const char*> kInstruments[] = {{kNumeric, "numeric"}, {kRepeat, "repeat"},       {kSimt, "simt"},
                                                             {kRace, "race"},       {kSanitizer, "sanitizer"}, {kArcher, "archer"}};

// Where a mutant is attacked. The CPU executor is two: as it is, and checking every access.
enum class Place : std::uint8_t { host, gpu, simt, race, sanitizer };

struct Row {
  std::string op, name;
  MutantInfo fault{0, "", "", 0};
  unsigned declared = 0;         // instruments that can notice it
  std::map<Dtype, bool> killed;  // by anything, for every type that ran
  unsigned killed_by = 0;
  unsigned applied = 0;          // instruments that saw at least one case
  unsigned outlived = 0;         // instruments that saw every case and noticed nothing
  bool cut_short = false;        // interrupted before every attack on it was over
  std::string how;               // the first kill, one line
  std::string repro;

  // A fault that only the CPU executor is sure to notice is not judged where that did not run: a race need not show in numbers.
  [[nodiscard]] bool judged() const {
    const unsigned sure = declared & (kSimt | kRace);
    return !cut_short && !killed.empty() && (killed_everywhere() || sure == 0 || (applied & sure) != 0);
  }
  [[nodiscard]] bool killed_everywhere() const {
    return std::all_of(killed.begin(), killed.end(), [](const auto& k) { return k.second; });
  }
  [[nodiscard]] bool survived() const { return judged() && !killed_everywhere(); }
};

constexpr const char* kArcherExit = "exited with code 66";  // TSAN_OPTIONS' exitcode, and ThreadSanitizer's own

// The instruments that a record shows at work. A run that an instrument ended says nothing of what the numbers would have been.
unsigned killers(const Record& r, Place place) {
  const bool finding = r.verdict == Verdict::race || (r.verdict == Verdict::error && !r.detail.empty());
  if (place == Place::race) return finding ? unsigned{kRace} : 0U;
  if (place == Place::simt && finding) return kSimt;
  if (place == Place::host && is_thread_sanitized() && r.reason.rfind(kArcherExit, 0) == 0) return kArcher;
  const unsigned repeat = r.differs || r.verdict == Verdict::nondeterministic ? unsigned{kRepeat} : 0U;
  const unsigned numeric = r.verdict != Verdict::nondeterministic || r.worst.misses > 0 ? unsigned{kNumeric} : 0U;
  return is_failed(r.verdict) ? numeric | repeat : 0U;
}

// What a place can show.
unsigned instruments_of(Place place) {
  switch (place) {
    case Place::host: return is_thread_sanitized() ? kNumeric | kRepeat | kArcher : kNumeric | kRepeat;
    case Place::gpu: return kNumeric | kRepeat;
    case Place::simt: return kNumeric | kRepeat | kSimt;
    case Place::race: return kRace;
    case Place::sanitizer: return kSanitizer;
  }
  return 0;
}

// "-": the fault is not of this instrument's kind. "not tried": another one struck first (--all-instruments tries them all).
std::string cell(const Row& row, unsigned instrument) {
  if ((row.killed_by & instrument) != 0) return "killed";
  if ((row.declared & instrument) == 0) return "-";
  if ((row.outlived & instrument) != 0) return "survived";
  return (row.applied & instrument) != 0 ? "not tried" : "not run";
}

struct Attack {
  const OperatorEntry* entry;
  VariantInfo mutant;
  Place place;
  std::size_t row;
};

// Makes the attacks on several threads, each with child processes of its own.
class Attackers {
 public:
  Attackers(const VerifyOptions& o, std::vector<Row>& rows) : options_(o), rows_(rows) {
    progress_ = isatty(STDERR_FILENO) != 0 && !o.quiet;
    const std::vector<SanitizerTool> named = parse_tools(o.sanitize.empty() ? "all" : o.sanitize);
    // the likeliest first
    for (const SanitizerTool t : {SanitizerTool::racecheck, SanitizerTool::synccheck, SanitizerTool::memcheck, SanitizerTool::initcheck}) {
      if (std::find(named.begin(), named.end(), t) != named.end()) tools_.push_back(t);
    }
  }

  void make(std::vector<Attack> attacks, int threads, const RunOptions& run) {
    attacks_ = std::move(attacks), next_ = 0;
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back([this, &run] { work(run); });
    work(run);
    for (std::thread& t : others) t.join();
    if (failure_) std::rethrow_exception(failure_);
    if (progress_) fmt::print(stderr, "\r\033[K");
  }
  [[nodiscard]] int runs() const { return runs_; }

 private:
  void work(const RunOptions& run) {
    Runner runner(run);
    std::string op;
    for (std::size_t i; (i = next_++) < attacks_.size();) {
      const Attack& attack = attacks_[i];
      if (attack.mutant.op != op) runner.forget_workers();
      op = attack.mutant.op;
      try {
        make_one(attack, runner);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        return;
      }
    }
  }

  // A row whose attack was interrupted, or never begun for an interrupt, says nothing.
  void make_one(const Attack& attack, Runner& runner) {
    const VariantInfo& mutant = attack.mutant;
    if (progress_ && stop_signal == 0) fmt::print(stderr, "\r\033[K{} {} {}", mutant.op, mutant.name, name(mutant.dtype));
    if (attack.place == Place::sanitizer) under_sanitizer(attack, runner);
    else run_on_cases(attack, runner);
    if (stop_signal == 0) return;
    const std::lock_guard lock(mutex_);
    rows_[attack.row].cut_short = true;
  }

  // Runs one mutant on the operator's cases until something kills it; with --all-instruments until all that can have.
  void run_on_cases(const Attack& attack, Runner& runner) {
    const VariantInfo& mutant = attack.mutant;
    const unsigned shown = instruments_of(attack.place);
    unsigned killed = 0;
    bool ran = false;
    for (const Case& c : attack.entry->cases()) {
      if (stop_signal != 0) return;
      if (c.tier > options_.tier || c.dtype != mutant.dtype) continue;
      const std::unique_ptr<PreparedCase> prepared = attack.entry->prepare(c);
      const Record r = runner.judge(c, *prepared, mutant);
      if (stop_signal != 0) return;
      const std::lock_guard lock(mutex_);
      runs_ += r.runs;
      if (is_skipped(r.verdict)) continue;
      ran = true;
      killed |= note(attack, r, killers(r, attack.place));
      const unsigned wanted = shown & rows_[attack.row].declared;
      if (options_.all_instruments ? wanted != 0 && (killed & wanted) == wanted : killed != 0) return;
    }
    const std::lock_guard lock(mutex_);
    if (ran) rows_[attack.row].outlived |= shown & ~killed;
  }

  // The smallest case of several tiles, and two more: a fault need not show on the first.
  void under_sanitizer(const Attack& attack, Runner& runner) {
    const std::vector<Case> cases = cases_for_tools(attack);
    Case first;
    Record why_not;
    if (!choose_multi_tile(runner, attack.mutant, cases, first, why_not)) return;
    auto at = std::find(cases.begin(), cases.end(), first);
    const bool of_its_kind = (attack.mutant.fault.killed_by & kSanitizer) != 0;
    for (int tried = 0; at != cases.end() && tried < (of_its_kind ? kSanitizedCases : 1); ++at, ++tried) {
      for (const SanitizerTool tool : tools_) {
        if (stop_signal != 0) return;
        const SanitizedRun run = run_sanitized(sanitizer_, this_program(), tool, *at, attack.mutant,
                                               std::min(kSanitizedTimeout, options_.run.timeout));
        const std::lock_guard lock(mutex_);
        runs_ += run.record.runs;
        if (note(attack, run.record, run.findings > 0 ? unsigned{kSanitizer} : 0U) != 0) return;
      }
    }
    const std::lock_guard lock(mutex_);
    rows_[attack.row].outlived |= kSanitizer;
  }

  std::vector<Case> cases_for_tools(const Attack& attack) {
    std::vector<Case> cases;
    for (const Case& c : attack.entry->cases()) {
      if (c.tier <= options_.tier && c.dtype == attack.mutant.dtype) cases.push_back(c);
    }
    const std::lock_guard lock(mutex_);
    return by_cost_.ordered(cases);
  }

  // Under mutex_. Returns `by`.
  unsigned note(const Attack& attack, const Record& r, unsigned by) {
    Row& row = rows_[attack.row];
    row.killed.emplace(attack.mutant.dtype, false);
    row.applied |= instruments_of(attack.place);
    if (row.repro.empty()) row.repro = r.repro;
    if (by == 0) return by;
    row.killed_by |= by;
    row.killed[attack.mutant.dtype] = true;
    if (row.how.empty()) row.how = fmt::format("{}: {}", name(r.verdict), r.reason);
    return by;
  }

  static constexpr int kSanitizedCases = 3;
  static constexpr double kSanitizedTimeout = 60;

  const VerifyOptions& options_;
  std::vector<Row>& rows_;
  std::vector<Attack> attacks_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
  int runs_ = 0;
  bool progress_ = false;
  std::string sanitizer_ = find_compute_sanitizer();
  std::vector<SanitizerTool> tools_;
  CasesByCost by_cost_;
};

}  // namespace

int run_mutants(const VerifyOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  if (!o.junit.empty() || !o.csv.empty() || !o.save_failing.empty() || !o.plugins.empty()) {
    throw Error("--mutants takes --json, --html and --markdown; not --junit, --csv, --save-failing or --plugin");
  }
  const CaseFilter filter(o.cases);
  const auto device_wanted = [&](Device d) {
    return o.devices.empty() || std::find(o.devices.begin(), o.devices.end(), name(d)) != o.devices.end();
  };
  RunOptions run = o.run;
  run.timeout = std::min(run.timeout, 20.0);  // a hang is a kill; it need not take a minute
  RunOptions run_race = run;
  run.simt_program = simt_program(), run.race = false;
  run_race.simt_program = run.simt_program, run_race.race = true;
  const bool sanitizing = (!o.sanitize.empty() || o.all_instruments) && device_wanted(Device::gpu);
  if (!o.sanitize.empty() && find_compute_sanitizer().empty()) throw Error(no_sanitizer());
  const std::string stress_program = run.stress != 0 ? worker_beside("plumb_stress_worker") : "";
  std::vector<std::string> defects;
  std::vector<VariantInfo> of_simt;
  if (device_wanted(Device::simt) && !run.simt_program.empty()) of_simt = list_simt(run.simt_program, defects);
  for (const std::string& d : defects) fmt::print(stderr, "broken harness: {}\n", d);
  if (!defects.empty()) return kBrokenHarness;

  std::vector<Row> rows;
  std::vector<Attack> here, plain, race, tools;
  for (const auto& entry : operators()) {
    if (std::none_of(filter.operator_globs().begin(), filter.operator_globs().end(),
                     [&](const std::string& g) { return glob_match(g, entry->name()); })) continue;
    std::map<std::string, std::size_t> at;
    std::vector<VariantInfo> all = entry->variants(Device::gpu);
    std::copy_if(of_simt.begin(), of_simt.end(), std::back_inserter(all), [&](const VariantInfo& v) { return v.op == entry->name(); });
    for (const VariantInfo& v : all) {
      if (!v.mutant || !device_wanted(v.device)) continue;
      if (!o.variants.empty() && std::none_of(o.variants.begin(), o.variants.end(), [&](const std::string& g) { return glob_match(g, v.name); })) continue;
      if (at.emplace(v.name, rows.size()).second) {
        Row& added = rows.emplace_back();
        added.op = entry->name(), added.name = v.name, added.fault = v.fault, added.declared = v.fault.killed_by;
        if (v.device == Device::cpu && (added.declared & kRace) != 0) added.declared = (added.declared & ~unsigned{kRace}) | kArcher;
      }
      const std::size_t row = at[v.name];
      if (v.device != Device::simt) {
        here.push_back({entry.get(), v, v.device == Device::cpu ? Place::host : Place::gpu, row});
        if (v.device == Device::gpu) here.back().mutant.program = stress_program;
        const bool of_its_kind = o.all_instruments || (v.fault.killed_by & kSanitizer) != 0;
        if (sanitizing && v.device == Device::gpu && v.dtype == Dtype::f32 && of_its_kind && !find_compute_sanitizer().empty()) {
          tools.push_back({entry.get(), v, Place::sanitizer, row});
        }
        continue;
      }
      if ((v.fault.killed_by & instruments_of(Place::simt)) != 0) plain.push_back({entry.get(), v, Place::simt, row});
      if ((v.fault.killed_by & kRace) != 0) race.push_back({entry.get(), v, Place::race, row});
    }
  }
  // as without --mutants, --sanitize is the tools alone
  if (!o.sanitize.empty()) here.clear();
  Attackers attackers(o, rows);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  attackers.make(std::move(here), std::max(o.jobs, 1), run);
  attackers.make(std::move(plain), std::max(o.jobs, cores), run);
  attackers.make(std::move(race), std::max(o.jobs, cores), run_race);
  RunOptions unstressed = run;
  unstressed.stress = 0;
  attackers.make(std::move(tools), std::clamp(cores / 2, 1, 8), unstressed);

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
    if (!row.judged()) {
      ++absent;
      continue;
    }
    ++counted;
    killed += row.survived() ? 0 : 1;
    if (o.verbose && !row.how.empty()) fmt::print("{:<14}  {}\n", "", row.how);
    if (row.survived()) fmt::print("SURVIVED  {}  {}: {}\n          repro: {}\n", row.op, row.name, row.fault.fault, row.repro);
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
  if (absent > 0) fmt::print("\n{} planted faults were not judged: their device is absent, or an instrument that is sure to notice them{}\n", absent,
               stop_signal != 0 ? ", or they were interrupted" : "");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("\nmutants: {} of {} killed\n", killed, counted);
  Totals totals;
  totals.passed = killed, totals.failed = counted - killed, totals.skipped = absent, totals.runs = attackers.runs();
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
