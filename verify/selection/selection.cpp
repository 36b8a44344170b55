#include "verify/selection/selection.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/plugin_host.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/engine/process/worker.hpp"
#include "verify/selection/drawn_cases.hpp"
#include "verify/selection/matrix_cases.hpp"

namespace plumb {
namespace {

bool fill_wanted(const CaseChoice& choice, Fill fill) {
  return choice.fills.empty() ||
         std::find(choice.fills.begin(), choice.fills.end(), fill) != choice.fills.end();
}

bool tier_wanted(const CaseChoice& choice, Tier tier) {
  return choice.this_tier_only ? tier == choice.tier : tier <= choice.tier;
}

bool holds(const std::vector<Case>& cases, const Case& c) {
  return std::find(cases.begin(), cases.end(), c) != cases.end();
}

// Those of one operator, as --case, --tier, --fill and --seed say; then the whole ids that its list does not have.
void take_cases(const CaseChoice& choice, const CaseFilter& filter, const OperatorEntry& entry,
                std::vector<Case> listed, std::vector<Case>& selected) {
  std::vector<Case> whole;
  for (const Case& c : filter.whole_ids()) {
    if (c.op != entry.name()) continue;
    if (c.fill == Fill::own && !c.has("matrix"))
      throw Error(fmt::format("case '{}': fill=own takes the values of a file: matrix=FILE", c.id()));
    whole.push_back(c);
  }
  for (Case& c : listed) {
    if (choice.seed) c.seed = *choice.seed;
    const bool wanted = filter.matches(c) && tier_wanted(choice, c.tier) && fill_wanted(choice, c.fill);
    if (wanted || holds(whole, c)) selected.push_back(std::move(c));
  }
  for (const Case& c : whole) {
    if (!holds(selected, c)) selected.push_back(c);
  }
}

// With the tiers' arrays. They take a moment to make: not for an operator that no glob names.
std::vector<Case> listed_for(const CaseChoice& choice, const CaseFilter& filter, const OperatorEntry& entry) {
  if (!matches_any(filter.operator_globs(), entry.name()) || !choice.covers || !choice.matrices.empty())
    return entry.cases();
  return tier_cases(entry, choice.tier, *choice.covers);
}

// Those of all operators. Covering arrays take seconds: two threads make them, where there may be two.
std::vector<std::vector<Case>> listed_for_all(const CaseChoice& choice, const CaseFilter& filter) {
  std::vector<std::vector<Case>> lists(operators().size());
  std::atomic<std::size_t> next{0};
  const auto make = [&] {
    for (std::size_t i = next++; i < lists.size(); i = next++)
      lists[i] = listed_for(choice, filter, *operators()[i]);
  };
  std::future<void> other;
  try {
    other = std::async(std::launch::async, make);
  } catch (const std::system_error&) {}  // no thread may be started: this one makes all
  make();
  if (other.valid()) other.get();
  return lists;
}

// A matrix takes the place of rows, columns, density and pattern in the cases of operators that have these.
std::string why_none_on_matrices(const CaseFilter& filter) {
  std::vector<std::string> sparse;
  bool named = false;
  for (const auto& entry : operators()) {
    if (!entry->cases().front().has("density")) continue;
    sparse.push_back(entry->name());
    named = named || matches_any(filter.operator_globs(), entry->name());
  }
  return named ? "no case on the matrix has the values that --case and --fill name"
               : fmt::format("--matrix is for sparse operators: {}", fmt::join(sparse, ", "));
}

std::string why_no_case(const CaseChoice& choice, const CaseFilter& filter) {
  std::map<Tier, int> tiers;
  int other_fill = 0;
  std::string of_filter;
  for (const auto& entry : operators()) {
    const std::vector<Case> cases = entry->cases();
    if (of_filter.empty()) of_filter = filter.why_none(cases);
    for (const Case& c : cases) {
      if (!filter.matches(c)) continue;
      if (!tier_wanted(choice, c.tier)) {
        ++tiers[c.tier];
      } else if (!fill_wanted(choice, c.fill)) {
        ++other_fill;
      }
    }
  }
  if (choice.drawn > 0) return "no drawn case has the values that --case and --fill name";
  if (!choice.matrices.empty()) return why_none_on_matrices(filter);
  if (other_fill > 0) return fmt::format("{} cases match, of other fills than --fill names", other_fill);
  if (!tiers.empty()) {
    const auto& [tier, count] = *tiers.begin();
    return fmt::format("{} cases match, of tier {}: --tier {}", count, name(tier), name(tier));
  }
  if (!of_filter.empty()) return of_filter;
  return "no listed case has these values (verify --list cases); one that is not listed is named by a whole "
         "id, "
         "with fill and seed";
}

bool rung_of_simt(const std::string& glob) {
  const std::vector<std::string> rungs = names_on_simt();
  return std::any_of(rungs.begin(), rungs.end(), [&](const std::string& r) { return glob_match(glob, r); });
}

[[noreturn]] void no_such_variant(const VariantChoice& choice, std::vector<std::string> known) {
  const std::string& glob = choice.globs.front();
  if (!device_wanted(choice.devices, Device::simt) || choice.devices.empty()) {
    if (rung_of_simt(glob))
      throw Error(fmt::format("'{}' is a GPU rung, and this build has no GPU side: add --device simt",
                              printable(glob)));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw Error(
      fmt::format("--variant '{}' matches no variant{}; a glob knows * and ? (verify --list variants)",
                  printable(glob), did_you_mean(glob, known)));
}

std::vector<VariantInfo> variants_of(const std::string& op, const VariantChoice& choice) {
  std::vector<VariantInfo> all;
  for (VariantInfo& v : find_operator(op).variants(Device::gpu)) {
    if (!v.mutant) all.push_back(std::move(v));
  }
  std::copy_if(choice.more.begin(), choice.more.end(), std::back_inserter(all),
               [&](const VariantInfo& v) { return v.op == op && !v.mutant; });
  return all;
}

// What the planning has seen, for its messages.
struct Seen {
  bool matched = false;
  std::vector<std::string> names;
  std::set<std::string> other_devices;  // of variants that match, but for their device
};

Job job_of(const Case& c, const std::vector<VariantInfo>& variants, const VariantChoice& choice, Seen& seen) {
  Job job{c, {}};
  for (const VariantInfo& v : variants) {
    seen.names.push_back(v.name);
    if (v.dtype != c.dtype || !matches_any(choice.globs, v.name)) continue;
    seen.matched = true;
    if (!device_wanted(choice.devices, v.device)) {
      seen.other_devices.emplace(name(v.device));
      continue;
    }
    job.variants.push_back(v);
    const auto stressed = choice.stressed.find(type_key(v));
    if (v.device == Device::gpu && stressed != choice.stressed.end())
      job.variants.back().program = stressed->second;
  }
  return job;
}

}  // namespace

bool device_wanted(const std::vector<std::string>& devices, Device d) {
  if (devices.empty()) return d != Device::simt;
  return std::find(devices.begin(), devices.end(), name(d)) != devices.end();
}

bool matches_any(const std::vector<std::string>& globs, const std::string& text) {
  return globs.empty() ||
         std::any_of(globs.begin(), globs.end(), [&](const std::string& g) { return glob_match(g, text); });
}

std::string type_key(const VariantInfo& v) {
  return fmt::format("{}|{}|{}", v.op, v.name, static_cast<int>(v.dtype));
}

void check_operators(const CaseFilter& filter) {
  std::vector<std::string> known;
  for (const auto& entry : operators()) known.push_back(entry->name());
  for (const std::string& glob : filter.operator_globs()) {
    if (std::any_of(known.begin(), known.end(), [&](const std::string& k) { return glob_match(glob, k); }))
      continue;
    throw Error(fmt::format("case '{}' matches no operator{} (verify --list)", printable(glob),
                            did_you_mean(glob, known)));
  }
}

ChosenCases select_cases(const CaseChoice& choice) {
  const CaseFilter filter(choice.cases);
  check_operators(filter);
  ChosenCases chosen;
  std::vector<std::vector<Case>> lists;
  if (choice.drawn == 0) lists = listed_for_all(choice, filter);
  for (std::size_t i = 0; i < operators().size(); ++i) {
    const auto& entry = operators()[i];
    if (choice.drawn > 0) {
      CaseSpace space = entry->space();
      if (const auto at = choice.beside.find(entry->name()); at != choice.beside.end())
        space.beside_constants(at->second);
      const std::vector<Case> drawn = drawn_cases(space, filter, choice);
      chosen.cases.insert(chosen.cases.end(), drawn.begin(), drawn.end());
      if (!choice.timed || choice.matrices.empty() || drawn.empty()) continue;
      const std::vector<Case> own =
          timed_cases_on_matrices(entry->space(), drawn, choice.matrices, *choice.timed, chosen.notes);
      chosen.cases.insert(chosen.cases.end(), own.begin(), own.end());
      continue;
    }
    std::vector<Case>& listed = lists[i];
    if (!choice.matrices.empty()) {
      const auto wanted = [&](const Case& c) { return filter.matches(c) && fill_wanted(choice, c.fill); };
      std::vector<Case> own =
          cases_on_matrices(entry->space(), listed, choice.matrices, wanted, chosen.notes);
      if (choice.listed_too) own.insert(own.end(), listed.begin(), listed.end());
      listed = std::move(own);
    }
    take_cases(choice, filter, *entry, std::move(listed), chosen.cases);
  }
  std::sort(chosen.notes.begin(), chosen.notes.end());
  chosen.notes.erase(std::unique(chosen.notes.begin(), chosen.notes.end()), chosen.notes.end());
  if (choice.drawn > 0)
    chosen.notes.push_back(
        fmt::format("{} cases drawn, at most {} of an operator: --drawn {} --seed {} draws them again",
                    chosen.cases.size(), choice.drawn, choice.drawn, choice.seed.value_or(1)));
  if (chosen.cases.empty()) chosen.why_none = why_no_case(choice, filter);
  return chosen;
}

std::vector<VariantInfo> variants_of_plugins(const std::vector<std::string>& paths,
                                             const std::string& program) {
  std::vector<VariantInfo> all;
  std::set<std::string> known;
  for (const std::string& path : paths) {
    for (VariantInfo& v : list_plugin(path, program)) {
      v.program = program;
      if (!known.insert(type_key(v)).second)
        throw input_error(path, 0, fmt::format("another plug-in has a variant {} of {} too", v.name, v.op));
      all.push_back(std::move(v));
    }
  }
  return all;
}

Plan plan_jobs(const ChosenCases& chosen, const VariantChoice& choice, int shard, int shards) {
  Plan plan;
  Seen seen;
  seen.matched = choice.globs.empty();
  std::string op;
  std::vector<VariantInfo> variants;
  std::int64_t position = 0;
  for (const Case& c : chosen.cases) {
    if (c.op != op) variants = variants_of(op = c.op, choice);
    Job job = job_of(c, variants, choice, seen);
    if (position++ % shards != shard || job.variants.empty()) continue;
    plan.records += static_cast<std::int64_t>(job.variants.size());
    plan.jobs.push_back(std::move(job));
  }
  if (!seen.matched && !seen.names.empty()) no_such_variant(choice, std::move(seen.names));
  if (!plan.jobs.empty()) return plan;
  if (chosen.cases.empty()) {
    plan.why_none = chosen.why_none;
  } else if (!seen.other_devices.empty()) {
    plan.why_none = fmt::format("what matches runs on {} (--device)", fmt::join(seen.other_devices, ", "));
  } else if (shards > 1) {
    plan.why_none = fmt::format("shard {}/{} of {} cases is empty", shard + 1, shards, chosen.cases.size());
  } else {
    plan.why_none = "no variant of these operators matches on the devices asked for (verify --list variants)";
  }
  return plan;
}

}  // namespace plumb
