#include "verify/sweep/mutant_sweep.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "tools/terminal.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/confinement.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/selection/selection.hpp"
#include "verify/sweep/sanitize_sweep.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

// Where a mutant is attacked. The CPU executor counts twice: without and with checks of every access.
enum class Place : std::uint8_t { host, gpu, simt, race, sanitizer };

// The instruments that were used in a record. Where an instrument ended the run, nothing is known about the numbers.
unsigned killers(const Record& r, Place place) {
  const bool finding = r.verdict == Verdict::race || (r.verdict == Verdict::error && !r.detail.empty());
  if (place == Place::race) return finding ? unsigned{kRace} : 0U;
  if (place == Place::simt && finding) return kSimt;
  if (place == Place::host && r.verdict == Verdict::race) return kArcher;
  const unsigned repeat = r.differs || r.verdict == Verdict::nondeterministic ? unsigned{kRepeat} : 0U;
  const unsigned numeric =
      r.verdict != Verdict::nondeterministic || r.worst.misses > 0 ? unsigned{kNumeric} : 0U;
  return is_failed(r.verdict) ? numeric | repeat : 0U;
}

// The instruments that work at a place.
unsigned instruments_of(Place place) {
  switch (place) {
    case Place::host:
      return is_thread_sanitized() ? kNumeric | kRepeat | kArcher : kNumeric | kRepeat;
    case Place::gpu:
      return kNumeric | kRepeat;
    case Place::simt:
      return kNumeric | kRepeat | kSimt;
    case Place::race:
      return kRace;
    case Place::sanitizer:
      return kSanitizer;
  }
  return 0;
}

struct Attack {
  const OperatorEntry* entry;
  VariantInfo mutant;
  Place place;
  std::size_t row;
};

// Makes the attacks, and writes their results into the rows.
class Attackers {
 public:
  Attackers(const MutantSweepOptions& o, std::vector<MutantRow>& rows)
      : options_(o), progress_(!o.progress), rows_(rows), filter_(o.cases) {
    const std::vector<SanitizerTool> named = parse_tools(o.sanitize.empty() ? "all" : o.sanitize);
    // in the order of how many mutants each is known to kill
    for (const SanitizerTool t : {SanitizerTool::racecheck, SanitizerTool::synccheck, SanitizerTool::memcheck,
                                  SanitizerTool::initcheck}) {
      if (std::find(named.begin(), named.end(), t) != named.end()) tools_.push_back(t);
    }
  }

  void make(const std::vector<Attack>& attacks, int workers, const RunOptions& run) {
    Sweep sweep(workers, run);
    std::vector<char> begun(attacks.size(), 0);
    const std::exception_ptr failure = sweep.run(
        attacks.size(), [&](std::size_t i) { return attacks[i].mutant.op; },
        [&](Runner& runner, std::size_t i) {
          begun[i] = 1;
          make_one(attacks[i], runner);
        });
    progress_.clear();
    if (failure) std::rethrow_exception(failure);
    if (stop_signal == 0) return;
    for (std::size_t i = 0; i < attacks.size(); ++i) {
      if (begun[i] == 0) rows_[attacks[i].row].cut_short = true;
    }
  }
  [[nodiscard]] int runs() const { return runs_; }

 private:
  // A row whose attack was interrupted, or not begun because of an interrupt, gives no result.
  void make_one(const Attack& attack, Runner& runner) {
    const VariantInfo& mutant = attack.mutant;
    if (stop_signal == 0) {
      const std::lock_guard lock(mutex_);
      progress_.say(fmt::format("{} {} {}", mutant.op, mutant.name, name(mutant.dtype)));
    }
    if (attack.place == Place::sanitizer)
      under_sanitizer(attack, runner);
    else
      run_on_cases(attack, runner);
    if (stop_signal == 0) return;
    const std::lock_guard lock(mutex_);
    rows_[attack.row].cut_short = true;
  }

  // Runs one mutant on the operator's cases until an instrument kills it; with --all-instruments until each of its instruments has. Most
  // die on a listed case: the arrays, which take a moment to make, are for the others.
  void run_on_cases(const Attack& attack, Runner& runner) {
    Course course;
    const std::vector<Case> listed = listed_for(attack);
    if (attack_with(listed, attack, runner, course)) return;
    if (attack_with(further_for(attack, listed), attack, runner, course) || stop_signal != 0) return;
    const std::lock_guard lock(mutex_);
    if (course.ran) rows_[attack.row].unnoticed_by |= instruments_of(attack.place) & ~course.killed;
  }

  // What one attack has come to.
  struct Course {
    unsigned killed = 0;
    bool ran = false;
  };
  // Whether no further case is needed.
  bool attack_with(const std::vector<Case>& cases, const Attack& attack, Runner& runner, Course& course) {
    const unsigned shown = instruments_of(attack.place);
    for (const Case& c : cases) {
      if (stop_signal != 0) return true;
      const std::unique_ptr<PreparedCase> prepared = attack.entry->prepare(c);
      const Record r = runner.judge(c, *prepared, attack.mutant);
      if (stop_signal != 0) return true;
      const std::lock_guard lock(mutex_);
      runs_ += r.runs;
      if (is_skipped(r.verdict)) {
        note_skip(attack, r);
        continue;
      }
      course.ran = true;
      course.killed |= note(attack, r, killers(r, attack.place));
      const unsigned wanted = shown & rows_[attack.row].declared;
      if (options_.all_instruments ? wanted != 0 && (course.killed & wanted) == wanted : course.killed != 0)
        return true;
    }
    return false;
  }

  // The smallest case of several tiles, and two more: a mutant need not be visible on the first.
  void under_sanitizer(const Attack& attack, Runner& runner) {
    const std::vector<Case> cases = cases_for_tools(attack);
    Case first;
    Record why_not;
    if (!choose_multi_tile(runner, attack.mutant, cases, first, why_not)) {
      const std::lock_guard lock(mutex_);
      return note_skip(attack, why_not);
    }
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
    rows_[attack.row].unnoticed_by |= kSanitizer;
  }

  [[nodiscard]] static CaseSpeed speed_at(Place place) {
    return place == Place::simt || place == Place::race ? CaseSpeed::executor : CaseSpeed::device;
  }
  [[nodiscard]] bool wants(const Attack& attack, const Case& c) const {
    return c.tier <= options_.tier && c.dtype == attack.mutant.dtype && filter_.matches(c);
  }
  // Those that the contract lists.
  [[nodiscard]] std::vector<Case> listed_for(const Attack& attack) const {
    std::vector<Case> cases = listed_cases(*attack.entry, speed_at(attack.place));
    std::erase_if(cases, [&](const Case& c) { return !wants(attack, c); });
    return cases;
  }
  // The arrays', and those that --case names as a whole.
  std::vector<Case> further_for(const Attack& attack, const std::vector<Case>& listed) {
    std::vector<Case> cases;
    for (const Case& c : arrays_of(*attack.entry, speed_at(attack.place))) {
      if (c.drawn && wants(attack, c)) cases.push_back(c);
    }
    add_whole_ids(attack, listed, cases);
    return cases;
  }
  // To `cases`, those that --case names as a whole and that are not among the listed ones.
  void add_whole_ids(const Attack& attack, const std::vector<Case>& listed, std::vector<Case>& cases) const {
    for (const Case& c : filter_.whole_ids()) {
      const bool known = std::find(cases.begin(), cases.end(), c) != cases.end() ||
                         std::find(listed.begin(), listed.end(), c) != listed.end();
      if (c.op == attack.mutant.op && c.dtype == attack.mutant.dtype && !known) cases.push_back(c);
    }
  }

  // Made once; meanwhile others go on with theirs.
  const std::vector<Case>& arrays_of(const OperatorEntry& entry, CaseSpeed speed) {
    Made& made = [&]() -> Made& {
      const std::lock_guard lock(mutex_);
      return made_[{entry.name(), speed}];
    }();
    std::call_once(made.once, [&] { made.cases = tier_cases(entry, options_.tier, speed); });
    return made.cases;
  }

  std::vector<Case> cases_for_tools(const Attack& attack) {
    const std::vector<Case> listed = listed_for(attack);
    std::vector<Case> cases = listed;  // one at a time: the listed ones will do
    add_whole_ids(attack, listed, cases);
    const std::lock_guard lock(mutex_);
    return by_cost_.ordered(cases);
  }

  // Under mutex_.
  void note_skip(const Attack& attack, const Record& r) {
    MutantRow& row = rows_[attack.row];
    if (row.not_run.empty()) row.not_run = r.reason;
    row.wants_device = row.wants_device || r.wants_device;
  }

  // Under mutex_. Returns `by`.
  unsigned note(const Attack& attack, const Record& r, unsigned by) {
    MutantRow& row = rows_[attack.row];
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

  const MutantSweepOptions& options_;
  Progress progress_;  // under mutex_
  std::vector<MutantRow>& rows_;
  CaseFilter filter_;
  std::mutex mutex_;
  int runs_ = 0;
  struct Made {
    std::once_flag once;
    std::vector<Case> cases;
  };
  std::map<std::pair<std::string, CaseSpeed>, Made> made_;  // under mutex_, but not what is in it
  std::string sanitizer_ = find_compute_sanitizer();
  std::vector<SanitizerTool> tools_;
  CasesByCost by_cost_;
};

// The attacks by where they are made: each place has its own number of workers.
struct Attacks {
  std::vector<Attack> here, plain, race, tools;
};

class Planner {
 public:
  Planner(const MutantSweepOptions& o, std::vector<MutantRow>& rows) : options_(o), rows_(rows) {
    sanitizing_ = (!o.sanitize.empty() || o.all_instruments) && device_wanted(Device::gpu) &&
                  !find_compute_sanitizer().empty();
    if (o.run.stress != 0) stress_program_ = worker_beside("plumb_stress_worker");
  }

  [[nodiscard]] bool device_wanted(Device d) const {
    const std::vector<std::string>& named = options_.devices;
    return named.empty() || std::find(named.begin(), named.end(), name(d)) != named.end();
  }

  void plan(const OperatorEntry& entry, const std::vector<VariantInfo>& of_simt) {
    std::map<std::string, std::size_t> at;
    std::vector<VariantInfo> all = entry.variants(Device::gpu);
    std::copy_if(of_simt.begin(), of_simt.end(), std::back_inserter(all),
                 [&](const VariantInfo& v) { return v.op == entry.name(); });
    for (const VariantInfo& v : all) {
      if (!v.mutant) continue;
      names_.push_back(v.name);
      if (!matches_any(options_.variants, v.name)) continue;
      matched_ = true;
      if (!device_wanted(v.device)) continue;
      if (at.emplace(v.name, rows_.size()).second) rows_.push_back(row_of(v));
      v.device == Device::simt ? plan_simt(entry, v, at[v.name]) : plan_here(entry, v, at[v.name]);
    }
  }

  void check_matched() const {
    if (matched_ || options_.variants.empty() || names_.empty()) return;
    throw Error(fmt::format("--variant '{}' matches no mutant{} (verify --describe OPERATOR)",
                            printable(options_.variants.front()),
                            did_you_mean(options_.variants.front(), names_)));
  }

  Attacks attacks;

 private:
  static MutantRow row_of(const VariantInfo& v) {
    MutantRow row;
    row.op = v.op, row.name = v.name, row.fault = v.fault, row.declared = v.fault.killed_by;
    if (v.device == Device::cpu && (row.declared & kRace) != 0)
      row.declared = (row.declared & ~unsigned{kRace}) | kArcher;
    return row;
  }

  void plan_here(const OperatorEntry& entry, const VariantInfo& v, std::size_t row) {
    const bool gpu = v.device == Device::gpu;
    attacks.here.push_back({&entry, v, gpu ? Place::gpu : Place::host, row});
    if (gpu) attacks.here.back().mutant.program = stress_program_;
    const bool of_its_kind = options_.all_instruments || (v.fault.killed_by & kSanitizer) != 0;
    if (sanitizing_ && gpu && v.dtype == Dtype::f32 && of_its_kind)
      attacks.tools.push_back({&entry, v, Place::sanitizer, row});
  }

  void plan_simt(const OperatorEntry& entry, const VariantInfo& v, std::size_t row) {
    if ((v.fault.killed_by & instruments_of(Place::simt)) != 0)
      attacks.plain.push_back({&entry, v, Place::simt, row});
    if ((v.fault.killed_by & kRace) != 0) attacks.race.push_back({&entry, v, Place::race, row});
  }

  const MutantSweepOptions& options_;
  std::vector<MutantRow>& rows_;
  std::vector<std::string> names_;
  std::string stress_program_;
  bool sanitizing_ = false, matched_ = false;
};

void make_attacks(const MutantSweepOptions& o, RunOptions run, Attacks attacks, Attackers& attackers) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  RunOptions racing = run, plain = run, unstressed = run;
  racing.race = true, plain.race = false, unstressed.race = false, unstressed.stress = 0;
  run.race = is_thread_sanitized();  // for repro lines: on the host the build decides
  if (!o.sanitize.empty())
    attacks.here.clear();  // --sanitize runs the tools alone, as it does without --mutants
  attackers.make(attacks.here, std::max(o.jobs, 1), run);
  attackers.make(attacks.plain, std::max(o.jobs, cores), plain);
  attackers.make(attacks.race, std::max(o.jobs, cores), racing);
  attackers.make(attacks.tools, std::clamp(cores / 2, 1, 8), unstressed);
}

}  // namespace

bool MutantRow::judged() const {
  const unsigned sure = declared & (kSimt | kRace), others = declared & ~kSanitizer;
  const bool tools_alone = applied == kSanitizer && others != 0;
  const bool decided = !tools_alone && (sure == 0 || (applied & sure) != 0);
  return !cut_short && !killed.empty() && (killed_everywhere() || decided);
}

bool MutantRow::killed_everywhere() const {
  return std::all_of(killed.begin(), killed.end(), [](const auto& k) { return k.second; });
}

std::string MutantRow::cell(unsigned instrument) const {
  if ((killed_by & instrument) != 0) return "killed";
  if ((declared & instrument) == 0) return "-";
  if ((unnoticed_by & instrument) != 0) return "survived";
  return (applied & instrument) != 0 ? "not tried" : "not run";
}

MutantOutcome attack_mutants(const MutantSweepOptions& o) {
  MutantOutcome outcome;
  const CaseFilter filter(o.cases);
  check_operators(filter);
  Planner planner(o, outcome.rows);
  if (!o.sanitize.empty() && find_compute_sanitizer().empty()) throw Error(no_sanitizer());
  RunOptions run = o.run;
  run.timeout = std::min(run.timeout, 20.0);  // a hang is a kill; it need not take a minute
  run.simt_program = simt_program();
  std::vector<VariantInfo> of_simt;
  if (!o.devices.empty() && planner.device_wanted(Device::simt) && run.simt_program.empty())
    throw Error("--device simt: its worker is not beside this program (tools/plumb build plumb_simt_worker)");
  if (planner.device_wanted(Device::simt) && !run.simt_program.empty())
    of_simt = list_simt(run.simt_program, outcome.defects);
  if (!outcome.defects.empty()) return outcome;
  for (const auto& entry : operators()) {
    if (matches_any(filter.operator_globs(), entry->name())) planner.plan(*entry, of_simt);
  }
  planner.check_matched();
  if (outcome.rows.empty()) {
    const std::string absent = planner.device_wanted(Device::gpu) ? make_backend(Device::gpu)->why_not() : "";
    outcome.wants_device = !absent.empty();
    outcome.why_none =
        outcome.wants_device ? absent : "no mutant of these operators on the devices asked for";
  }
  Attackers attackers(o, outcome.rows);
  make_attacks(o, run, std::move(planner.attacks), attackers);
  outcome.runs = attackers.runs();
  return outcome;
}

}  // namespace plumb
