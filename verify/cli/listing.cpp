#include "verify/cli/listing.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/manifest.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/judge/run_plan.hpp"
#include "verify/judge/verdict.hpp"
#include "verify/selection/selection.hpp"
#include "verify/selection/user_constants.hpp"

namespace plumb {
namespace {

constexpr std::pair<const char*, const char*> kContracts[] = {
#include "contracts.inc"
};

// The name of an operator as the first column of a list, with the space behind it.
std::string column(std::string_view op) {
  std::size_t width = 0;
  for (const auto& entry : operators()) width = std::max(width, entry->name().size());
  return fmt::format("{:<{}}", op, width + 2);
}

// Variants of one operator by name, with their types joined.
std::map<std::string, std::pair<std::set<std::string>, VariantInfo>> by_name(const OperatorEntry& entry,
                                                                             bool mutants) {
  std::map<std::string, std::pair<std::set<std::string>, VariantInfo>> rows;
  for (const VariantInfo& v : entry.variants(Device::gpu)) {
    if (v.mutant != mutants) continue;
    auto& [types, info] = rows[v.name];
    types.insert(std::string(name(v.dtype)));
    info = v;
  }
  return rows;
}

// GPU rungs that this build holds for the CPU executor alone.
void print_rungs_of_simt(const OperatorEntry& entry) {
  const auto here = by_name(entry, false);
  for (const std::string& rung : names_on_simt(entry.name())) {
    if (here.count(rung) == 0) fmt::print("  {}{}{}\n", column(entry.name()), rung, kOnSimt);
  }
}

// Names of variants that the tree has and this program does not: the kernels of their operator are not built (PLUMB_OPERATORS).
std::vector<std::string> unbuilt(const std::string& op) {
  std::vector<std::string> names;
  for (const ManifestLine& line : kManifest) {
    if (!line.built && op == line.op) names.emplace_back(line.variant);
  }
  return names;
}

void print_variants(const OperatorEntry& entry, const CaseFilter* filter) {
  if (filter != nullptr && !matches_any(filter->operator_globs(), entry.name())) return;
  for (const auto& [name_, row] : by_name(entry, false)) {
    const auto& [types, v] = row;
    std::string notes;
    if (v.traits.arithmetic != Arithmetic::native)
      notes += fmt::format("  computes in {}", name(v.traits.arithmetic));
    if (!v.traits.reproducible) notes += "  not reproducible";
    if (v.traits.finite_only) notes += "  finite inputs only";
    if (v.traits.alignment > 0) notes += fmt::format("  needs {}-byte alignment", v.traits.alignment);
    if (v.traits.min_sm > 0) notes += fmt::format("  needs sm_{}", v.traits.min_sm);
    fmt::print("  {}{:<32}{}{}\n", column(entry.name()), name_, fmt::join(types, " "), notes);
  }
  for (const std::string& name_ : unbuilt(entry.name()))
    fmt::print("  {}{:<32}(built when a command names {})\n", column(entry.name()), name_, entry.name());
  print_rungs_of_simt(entry);
}

// " and 12 (simt)", or "".
std::string more_on_simt(const OperatorEntry& entry) {
  const auto here = by_name(entry, false);
  std::size_t more = 0;
  for (const std::string& rung : names_on_simt(entry.name())) more += here.count(rung) == 0 ? 1 : 0;
  return more > 0 ? fmt::format(" and {} (simt)", more) : "";
}

void print_contract(const std::string& op) {
  for (const auto& [name_, text] : kContracts) {
    if (op == name_) fmt::print("{}\n", text);
  }
}

void print_case(const Case& c) { fmt::print("  {:<7}{:<90}  {}\n", name(c.tier), c.id(), c.why); }

// How many pairs of classes the tiers up to `most` meet, and how many lie beyond their limit.
void print_pairs(const CaseSpace& space, const std::vector<Case>& cases, Tier most) {
  std::vector<Case> judged;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(judged),
               [&](const Case& c) { return c.tier <= most; });
  const auto print = [&](const CaseSpace& of, const std::vector<Combination>& pairs, const char* what) {
    const std::size_t all = tuples_not_met(of, pairs, {}).size(),
                      open = tuples_not_met(of, pairs, judged).size();
    fmt::print(
        "  {}: {} of {} pairs of {} are met at tier {}; no case within the tier's limit has the others\n",
        space.op(), all - open, all, what, name(most));
  };
  print(space, parameter_pairs(space), "classes");
  const CaseSpace contexts = space.contexts();
  print(contexts, context_pairs(contexts), "contexts");
}

void print_cases(const OperatorEntry& entry, const ListOptions& options, const CaseFilter* filter) {
  if (filter != nullptr && !matches_any(filter->operator_globs(), entry.name())) return;
  const CaseSpace space = entry.space();
  const std::vector<Case> cases = tier_cases(entry, options.tier, options.speed);
  for (const Case& c : cases) {
    if (filter != nullptr && !filter->matches(c)) continue;
    print_case(c);
    if (!options.why) continue;
    const std::optional<Point> p = space.locate(c);
    fmt::print("         {}\n",
               p ? space.class_names(*p) : "has a parameter that is not described: covers no class");
    fmt::print("         drawn for: {}\n", fmt::join(kinds_drawn_for(c), ", "));
  }
  if (options.why) print_pairs(space, cases, options.tier);
}

void print_run_kinds() {
  fmt::print(
      "\nKinds of runs: in how many cases, or the first so many of a variant and type; where; what they "
      "set\n");
  for (const RunKind& kind : run_kinds()) {
    const std::string often = kind.share == kind.of ? "all"
                              : kind.share > 0      ? fmt::format("{} in {}", kind.share, kind.of)
                                                    : "";
    const std::string first = kind.first > 0 ? fmt::format("first {}", kind.first) : "";
    fmt::print("  {:<20}{:<9}{:<9}{}: {}\n", kind.name, often, first, kind.who, kind.sets);
  }
}

void print_constants() {
  for (const std::string& note : user_constants({}).notes)
    fmt::print("  --drawn also takes sizes beside the constants of {}\n", note);
}

}  // namespace

int print_list(const std::string& what, const ListOptions& options) {
  const CaseFilter all(options.cases.empty() ? "all" : options.cases);
  check_operators(all);
  if (what == "ops") {
    for (const auto& entry : operators()) {
      int smoke = 0, cases = 0;
      for (const Case& c : entry->cases()) smoke += c.tier == Tier::smoke ? 1 : 0, ++cases;
      if (!is_built(entry->name())) {
        fmt::print("  {}{:>3} variants, {:>4} cases ({} smoke); built when a command names it\n",
                   column(entry->name()), unbuilt(entry->name()).size(), cases, smoke);
        continue;
      }
      const std::string mutants =
          kMutantsBuilt ? fmt::format("{:>3} mutants, ", by_name(*entry, true).size()) : "";
      fmt::print("  {}{:>3} variants{}, {}{:>4} cases ({} smoke)\n", column(entry->name()),
                 by_name(*entry, false).size(), more_on_simt(*entry), mutants, cases, smoke);
    }
    fmt::print("verify --list variants | cases | OPERATOR, verify --describe OPERATOR\n");
    return kOk;
  }
  if (what == "variants" || what == "cases") {
    for (const auto& entry : operators()) {
      what == "variants" ? print_variants(*entry, &all) : print_cases(*entry, options, &all);
    }
    if (what == "cases" && options.why) print_run_kinds(), print_constants();
    return kOk;
  }
  std::vector<std::string> known{"ops", "variants", "cases"};
  for (const auto& entry : operators()) {
    if (entry->name() == what) {
      print_variants(*entry, nullptr);
      print_cases(*entry, options, nullptr);
      return kOk;
    }
    known.push_back(entry->name());
  }
  throw Error(fmt::format("--list: unknown word '{}'{}", printable(what), did_you_mean(what, known)));
}

int print_description(const std::string& op) {
  const OperatorEntry& entry = find_operator(op);
  fmt::print("{}: the contract (reference/ops/{}.hpp)\n\n", op, op);
  print_contract(op);
  fmt::print("variants; (simt): with --device simt\n");
  print_variants(entry, nullptr);
  fmt::print("\nmutants{}\n", kMutantsBuilt ? "" : " (none in this build: tools/plumb verify --mutants)");
  for (const auto& [name_, row] : by_name(entry, true)) {
    const MutantInfo& f = row.second.fault;
    fmt::print("  {:<44}{}\n  {:<44}seen in: {}\n", name_, f.fault, "", f.incident);
  }
  fmt::print("\ncases\n");
  for (const Case& c : entry.cases()) print_case(c);
  return kOk;
}

}  // namespace plumb
