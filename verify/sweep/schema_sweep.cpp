#include "verify/sweep/schema_sweep.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "tools/terminal.hpp"
#include "verify/engine/operator/mutants_in_force.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

// A mutant may take so much longer than the original, and this many seconds at least.
constexpr double kPatience = 20, kLeastPatience = 1;

// A variant of one schema in its types, and the operator's cases, the cheapest first.
struct SchemaTarget {
  const Schema* schema;
  std::map<Dtype, VariantInfo> types;
  const std::vector<Case>* cases;
};

std::vector<VariantInfo> all_variants(const SchemaSweepOptions& o) {
  std::vector<VariantInfo> all;
  const auto wanted = [&](Device d) { return o.devices.empty() || device_wanted(o.devices, d); };
  if (wanted(Device::cpu)) {
    for (const auto& entry : operators()) {
      for (VariantInfo& v : entry->variants(Device::simt)) {
        if (v.device == Device::cpu && !v.mutant) all.push_back(std::move(v));
      }
    }
  }
  if (wanted(Device::simt)) {
    std::vector<std::string> defects;
    for (VariantInfo& v : list_user_simt(defects)) all.push_back(std::move(v));
    if (!defects.empty()) throw Error(defects.front());
  }
  return all;
}

// Drawn for a user's kernels beside the constants of their source.
constexpr int kBesideConstants = 60;

// Cases of an operator by how much they cost: those that verify judges the device on.
std::vector<Case> by_cost(const OperatorEntry& entry, Device device, CaseChoice choice) {
  if (choice.cases.empty()) choice.cases = entry.name();
  choice.covers = speed_of({std::string(name(device))}, true);
  std::vector<Case> all = select_cases(choice).cases;
  if (choice.beside.count(entry.name()) != 0) {
    choice.drawn = kBesideConstants, choice.limit = {5e4, 3e5};
    for (Case& c : select_cases(choice).cases) all.push_back(std::move(c));
  }
  std::vector<std::pair<double, Case>> priced;
  for (Case& c : all) {
    if (c.op != entry.name()) continue;
    const Cost cost = entry.prepare(c)->cost();
    priced.emplace_back(cost.flop + cost.bytes, std::move(c));
  }
  std::stable_sort(priced.begin(), priced.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Case> cases;
  for (auto& [cost, c] : priced) cases.push_back(std::move(c));
  return cases;
}

// A Runner whose processes ask a board which mutant is in force.
struct Attacked {
  Attacked(Runner& r, Isolation isolation) : runner(r) {
    runner.set_environment({board.variable()});
    if (isolation == Isolation::none) board.use_here();
  }
  ~Attacked() { runner.set_environment({}); }
  Attacked(const Attacked&) = delete;
  Attacked& operator=(const Attacked&) = delete;
  Record judge(int mutant, const Case& c, PreparedCase& prepared, const VariantInfo& variant,
               PlainTrial& trial) const {
    board.put(mutant);
    return runner.judge_plainly(c, prepared, variant, trial);
  }

  Runner& runner;
  mutable MutantBoard board;
};

// Attacks schemata in one round; of several workers each takes its share of every schema's mutants.
class SchemaAttack {
 public:
  SchemaAttack(const SchemaSweepOptions& o, const std::vector<SchemaTarget>& targets, SchemaOutcome& outcome)
      : options_(o),
        progress_(!o.progress),
        targets_(targets),
        outcome_(outcome),
        workers_(std::max(o.jobs, 1)) {
    for (const SchemaTarget& t : targets_) {
      for (const int number : t.schema->mutants) {
        MutantFate& fate = fates_[number];
        fate.number = number, fate.variant = t.schema->variant, fate.op = t.types.begin()->second.op;
      }
    }
  }

  // Runs on the executor are slow, and another round looks for what differs between schedules: two poisons are enough there.
  void round(Device device, bool race) {
    RunOptions run = options_.run;
    run.race = race, run.first = 1;
    if (device == Device::simt) run.repeat = 2;
    Sweep sweep(workers_, run);
    const auto shares = static_cast<std::size_t>(workers_);
    const std::exception_ptr failure = sweep.run(
        targets_.size() * shares,
        [&](std::size_t i) { return targets_[i / shares].types.begin()->second.op; },
        [&](Runner& runner, std::size_t i) {
          const SchemaTarget& target = targets_[i / shares];
          if (target.types.begin()->second.device != device) return;
          attack(runner, target, i % shares, shares, race, sweep);
        });
    progress_.clear();
    if (failure) std::rethrow_exception(failure);
  }

  void finish() {
    for (auto& [number, fate] : fates_) outcome_.fates.push_back(std::move(fate));
  }

 private:
  void attack(Runner& runner, const SchemaTarget& target, std::size_t share, std::size_t shares, bool race,
              const Sweep& sweep) {
    std::vector<MutantFate*> alive;
    for (std::size_t n = share; n < target.schema->mutants.size(); n += shares) {
      MutantFate& fate = fates_.at(target.schema->mutants[n]);
      if (fate.state != MutantState::killed) alive.push_back(&fate);
    }
    const Attacked attacked(runner, options_.run.isolation);
    for (const Case& c : *target.cases) {
      if (alive.empty() || sweep.stopped()) return;
      const auto type = target.types.find(c.dtype);
      if (type == target.types.end()) continue;
      if (share == 0) {
        const std::lock_guard lock(mutex_);
        progress_.say(fmt::format("{} {}{}: {} left", target.schema->variant, name(c.dtype),
                                  race ? " race" : "", alive.size()));
      }
      if (!on_case(attacked, c, type->second, alive, race, sweep)) return;
      std::erase_if(alive, [](const MutantFate* f) { return f->state == MutantState::killed; });
    }
  }

  // False: the schema's original fails on this case, so that no mutant can be judged.
  bool on_case(const Attacked& attacked, const Case& c, const VariantInfo& variant,
               const std::vector<MutantFate*>& alive, bool race, const Sweep& sweep) {
    const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
    PlainTrial trial{options_.run.timeout};
    Record original = attacked.judge(0, c, *prepared, variant, trial);
    count(original);
    if (is_failed(original.verdict) && !sweep.stopped()) {
      // a mutant of the case before may have spoiled the heap of their process and passed
      attacked.runner.forget_workers();
      trial = {options_.run.timeout};
      original = attacked.judge(0, c, *prepared, variant, trial);
      count(original);
    }
    if (sweep.stopped()) return true;
    if (is_failed(original.verdict)) {
      const std::lock_guard lock(mutex_);
      outcome_.defects.push_back(fmt::format("{} with no mutant in force: {}: {} ({})", variant.name,
                                             name(original.verdict), original.reason, original.repro));
      return false;
    }
    std::map<int, int> places;  // numbers of mutants, and PlaceSeen
    for (const SeenMutant& m : attacked.board.seen()) places[m.number] = m.seen;
    const double limit = std::max(kLeastPatience, kPatience * original.seconds);
    bool shared = true;  // the child process ran other mutants
    for (MutantFate* fate : alive) {
      if (sweep.stopped()) return true;
      const auto place = places.find(fate->number);
      if (place == places.end()) continue;
      if ((place->second & kPlaceReached) == 0 ||
          (place->second & (kPlaceAbsent | kPlaceFelt)) == kPlaceAbsent) {
        if (fate->state == MutantState::not_covered) fate->state = MutantState::not_made;
        continue;
      }
      if (fate->state < MutantState::same) fate->state = MutantState::same;
      if ((place->second & kPlaceFelt) == 0) continue;
      fate->felt = true;
      judge(attacked, c, *prepared, variant, {limit, trial.bits, is_skipped(original.verdict), race}, shared,
            *fate);
    }
    return true;
  }

  // What mutants on one case are held against.
  struct Terms {
    double seconds;      // for a run
    std::uint64_t bits;  // of the original
    bool skipped;        // it declines the case
    bool race;
  };

  void judge(const Attacked& attacked, const Case& c, PreparedCase& prepared, const VariantInfo& variant,
             const Terms& terms, bool& shared, MutantFate& fate) {
    PlainTrial trial{terms.seconds};
    Record record = attacked.judge(fate.number, c, prepared, variant, trial);
    count(record);
    ++fate.judged;
    if (stop_signal != 0) return;
    if (is_failed(record.verdict) && shared) {
      // a mutant before it may have spoiled their process: what kills must kill in one of its own
      attacked.runner.forget_workers();
      trial = {terms.seconds};
      record = attacked.judge(fate.number, c, prepared, variant, trial);
      count(record);
      if (stop_signal != 0) return;
    }
    shared = !is_failed(record.verdict);
    if (!shared) {
      attacked.runner.forget_workers();
      fate.state = MutantState::killed, fate.verdict = record.verdict, fate.race = terms.race;
      fate.case_id = record.case_id, fate.how = record.reason;
    } else if (is_skipped(record.verdict) != terms.skipped) {
      fate.state = std::max(fate.state, MutantState::declined);
    } else if (!terms.skipped && trial.bits != terms.bits) {
      fate.state = MutantState::survived;
    }
  }

  void count(const Record& r) {
    const std::lock_guard lock(mutex_);
    outcome_.runs += r.runs;
  }

  const SchemaSweepOptions& options_;
  Progress progress_;  // under mutex_
  const std::vector<SchemaTarget>& targets_;
  SchemaOutcome& outcome_;
  int workers_;
  std::map<int, MutantFate>
      fates_;  // complete before the first round: each worker writes those of its share alone
  std::mutex mutex_;
};

}  // namespace

std::string_view name(MutantState s) {
  switch (s) {
    case MutantState::not_covered:
      return "not covered";
    case MutantState::not_made:
      return "not made";
    case MutantState::same:
      return "no difference seen";
    case MutantState::declined:
      return "declines others";
    case MutantState::survived:
      return "survived";
    case MutantState::killed:
      return "killed";
  }
  return "";
}

std::vector<Schema> read_schemata(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("{}: cannot be read", printable(path, 200)));
  std::vector<Schema> all;
  std::map<std::string, std::size_t> known;
  std::string line;
  for (int at = 1; std::getline(file, line); ++at) {
    std::istringstream words(line);
    int number = 0;
    std::string variant;
    if (!(words >> number >> variant) || number < 1 || number > kMostMutants)
      throw Error(fmt::format("{}:{}: not 'NUMBER VARIANT' with a number from 1 to {}: '{}'",
                              printable(path, 200), at, kMostMutants, printable(line)));
    const auto [place, fresh] = known.emplace(variant, all.size());
    if (fresh) all.push_back({variant, {}});
    all[place->second].mutants.push_back(number);
  }
  return all;
}

SchemaOutcome attack_schemata(const std::vector<Schema>& schemata, const SchemaSweepOptions& o) {
  SchemaOutcome outcome;
  std::map<std::pair<std::string, Device>, std::vector<Case>> cases;
  std::vector<SchemaTarget> targets;
  const std::vector<VariantInfo> variants = all_variants(o);
  for (const Schema& s : schemata) {
    SchemaTarget target{&s, {}, nullptr};
    for (const VariantInfo& v : variants) {
      if (v.name == s.variant) target.types[v.dtype] = v;
    }
    if (target.types.empty()) throw Error(fmt::format("no variant '{}' in this build", printable(s.variant)));
    const VariantInfo& any = target.types.begin()->second;
    const auto [chosen, fresh] = cases.try_emplace({any.op, any.device});
    if (fresh) chosen->second = by_cost(find_operator(any.op), any.device, o.cases);
    target.cases = &chosen->second;
    targets.push_back(std::move(target));
  }
  SchemaAttack attack(o, targets, outcome);
  attack.round(Device::cpu, false);
  for (const bool race : {false, true}) {
    if (stop_signal == 0) attack.round(Device::simt, race);
  }
  attack.finish();
  return outcome;
}

}  // namespace plumb
