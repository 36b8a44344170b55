#include "verify/cli/listing.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/worker.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {
namespace {

// Variants of one operator by name, with their types joined.
std::map<std::string, std::pair<std::set<std::string>, VariantInfo>> by_name(const OperatorEntry& entry, bool mutants) {
  std::map<std::string, std::pair<std::set<std::string>, VariantInfo>> rows;
  for (const VariantInfo& v : entry.variants(Device::gpu)) {
    if (v.mutant != mutants) continue;
    auto& [types, info] = rows[v.name];
    types.insert(std::string(name(v.dtype)));
    info = v;
  }
  return rows;
}

void print_variants(const OperatorEntry& entry) {
  for (const auto& [name_, row] : by_name(entry, false)) {
    const auto& [types, v] = row;
    std::string notes;
    if (v.traits.arithmetic != Arithmetic::native) notes += fmt::format("  computes in {}", name(v.traits.arithmetic));
    if (!v.traits.reproducible) notes += "  not reproducible";
    if (v.traits.alignment > 0) notes += fmt::format("  needs {}-byte alignment", v.traits.alignment);
    if (v.traits.min_sm > 0) notes += fmt::format("  needs sm_{}", v.traits.min_sm);
    fmt::print("  {:<14}{:<32}{}{}\n", entry.name(), name_, fmt::join(types, " "), notes);
  }
}

void print_cases(const OperatorEntry& entry, const CaseFilter* filter) {
  for (const Case& c : entry.cases()) {
    if (filter != nullptr && !filter->matches(c)) continue;
    fmt::print("  {:<7}{:<90}  {}\n", name(c.tier), c.id(), c.why);
  }
}

}  // namespace

int print_list(const std::string& what, const std::string& case_filter) {
  const CaseFilter all(case_filter.empty() ? "all" : case_filter);
  if (what == "ops") {
    for (const auto& entry : operators()) {
      int smoke = 0, cases = 0;
      for (const Case& c : entry->cases()) smoke += c.tier == Tier::smoke ? 1 : 0, ++cases;
      fmt::print("  {:<14}{:>3} variants, {:>3} planted faults, {:>4} cases ({} smoke)\n", entry->name(), by_name(*entry, false).size(),
                 by_name(*entry, true).size(), cases, smoke);
    }
    fmt::print("verify --list variants | cases | OPERATOR, verify --describe OPERATOR\n");
    return kOk;
  }
  if (what == "variants" || what == "cases") {
    for (const auto& entry : operators()) {
      what == "variants" ? print_variants(*entry) : print_cases(*entry, &all);
    }
    return kOk;
  }
  std::vector<std::string> known{"ops", "variants", "cases"};
  for (const auto& entry : operators()) {
    if (entry->name() == what) {
      print_variants(*entry);
      print_cases(*entry, nullptr);
      return kOk;
    }
    known.push_back(entry->name());
  }
  throw Error(fmt::format("--list: unknown word '{}'{}", printable(what), did_you_mean(what, known)));
}

int print_description(const std::string& op) {
  const OperatorEntry& entry = find_operator(op);
  fmt::print("{}: the contract is the docstring in reference/ops/{}.hpp\n\nvariants\n", op, op);
  print_variants(entry);
  fmt::print("\nplanted faults\n");
  for (const auto& [name_, row] : by_name(entry, true)) {
    const MutantInfo& f = row.second.fault;
    fmt::print("  {:<44}{}\n  {:<44}seen in: {}\n", name_, f.fault, "", f.incident);
  }
  fmt::print("\ncases\n");
  print_cases(entry, nullptr);
  return kOk;
}

int print_explanation(const std::string& word) {
  std::vector<std::string> known;
  for (const Verdict v : kAllVerdicts) {
    if (name(v) == word) {
      fmt::print("{}: {}\n", word, explain(v));
      return kOk;
    }
    known.emplace_back(name(v));
  }
  for (const Fill f : kAllFills) {
    if (name(f) == word) {
      fmt::print("fill {}: {}\n", word, describe(f));
      return kOk;
    }
    known.emplace_back(name(f));
  }
  throw Error(fmt::format("--explain: neither a verdict nor a fill: '{}'{} (known: {})", printable(word), did_you_mean(word, known), fmt::join(known, ", ")));
}

}  // namespace plumb
