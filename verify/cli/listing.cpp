#include "verify/cli/listing.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/operators.hpp"
#include "verify/engine/simt_device.hpp"
#include "verify/judge/verdict.hpp"
#include "verify/selection/selection.hpp"

namespace plumb {
namespace {

constexpr std::pair<const char*, const char*> kContracts[] = {
#include "contracts.inc"
};

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
    if (here.count(rung) == 0) fmt::print("  {:<14}{}{}\n", entry.name(), rung, kOnSimt);
  }
}

void print_variants(const OperatorEntry& entry) {
  for (const auto& [name_, row] : by_name(entry, false)) {
    const auto& [types, v] = row;
    std::string notes;
    if (v.traits.arithmetic != Arithmetic::native)
      notes += fmt::format("  computes in {}", name(v.traits.arithmetic));
    if (!v.traits.reproducible) notes += "  not reproducible";
    if (v.traits.finite_only) notes += "  finite inputs only";
    if (v.traits.alignment > 0) notes += fmt::format("  needs {}-byte alignment", v.traits.alignment);
    if (v.traits.min_sm > 0) notes += fmt::format("  needs sm_{}", v.traits.min_sm);
    fmt::print("  {:<14}{:<32}{}{}\n", entry.name(), name_, fmt::join(types, " "), notes);
  }
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

void print_cases(const OperatorEntry& entry, const CaseFilter* filter) {
  for (const Case& c : entry.cases()) {
    if (filter != nullptr && !filter->matches(c)) continue;
    fmt::print("  {:<7}{:<90}  {}\n", name(c.tier), c.id(), c.why);
  }
}

}  // namespace

int print_list(const std::string& what, const std::string& case_filter) {
  const CaseFilter all(case_filter.empty() ? "all" : case_filter);
  check_operators(all);
  if (what == "ops") {
    for (const auto& entry : operators()) {
      int smoke = 0, cases = 0;
      for (const Case& c : entry->cases()) smoke += c.tier == Tier::smoke ? 1 : 0, ++cases;
      fmt::print("  {:<14}{:>3} variants{}, {:>3} mutants, {:>4} cases ({} smoke)\n", entry->name(),
                 by_name(*entry, false).size(), more_on_simt(*entry), by_name(*entry, true).size(), cases,
                 smoke);
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
  fmt::print("{}: the contract (reference/ops/{}.hpp)\n\n", op, op);
  print_contract(op);
  fmt::print("variants; (simt): with --device simt\n");
  print_variants(entry);
  fmt::print("\nmutants\n");
  for (const auto& [name_, row] : by_name(entry, true)) {
    const MutantInfo& f = row.second.fault;
    fmt::print("  {:<44}{}\n  {:<44}seen in: {}\n", name_, f.fault, "", f.incident);
  }
  fmt::print("\ncases\n");
  print_cases(entry, nullptr);
  return kOk;
}

}  // namespace plumb
