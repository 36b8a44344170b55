#include "verify/cli/listing.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/sanitizer.hpp"
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
    if (v.traits.finite_only) notes += "  finite inputs only";
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

// Words of the reports that are neither verdicts nor fills.
constexpr std::pair<const char*, const char*> kWords[] = {
    {"bound", "The largest error an element may have: a function of that element's own terms. With n terms of total magnitude M = sum |a||b| and u "
              "the unit roundoff: zero-mean data min(4 sqrt(n), 16) u M, positive data 4 sqrt(n) u M, fills exact, wide and index 0. Declared "
              "arithmetic (tf32, compensated, ...) widens or tightens it. Honest fp32 sums were measured to stay under 6 u M at n from 16 to 8192."},
    {"err/bound", "The largest error divided by its bound: over 1 fails, over 0.5 is marginal."},
    {"err/(uM)", "The error in units of u M, before any bound: it shows a change of precision long before a failure. tf32 where fp32 is declared "
                 "errs by 240 to 7000."},
    {"poison", "What outputs, padding and workspace hold before a run: a NaN payload in one run, two finite sentinels in others. An element "
               "that holds its poison after every run was never written; one that changes with the poison was read before it was written."},
    {"fence", "The pattern before, between and behind all arrays and in the padding of rows (ld > cols). Any change of it is out_of_bounds."},
    {"twin", "The same case with one operand negated, run at the same addresses right after the first run: a variant that remembers an answer "
             "by its address gives the old one."},
    {"endurance", "Sixteen further runs of every variant on its first small case: right for the first ten calls is not right."},
    {"repeat", "Instrument: every case is run several times with other poison and placement, and again placed as before. The results must "
               "agree, bit for bit where the variant declares itself reproducible."},
    {"numeric", "Instrument: comparison with the oracle, with poison, fences and input checks."},
    {"simt", "Instrument: the same .cu kernels on the CPU, threads as fibers in an order drawn from a seed; traps divergent barriers, bad shuffle "
             "masks, accesses out of bounds and reads of what nobody wrote."},
    {"race detection", "Instrument (race): every access checked against CUDA's own order of events; both lines are named."},
    {"sanitizer", "Instrument: compute-sanitizer's memcheck, racecheck, initcheck and synccheck on each variant's smallest case of several tiles "
                  "(--explain sanitize)."},
    {"sanitize", kSanitizerBlindSpots},
    {"archer", "Instrument: OpenMP code under ThreadSanitizer with Archer, in a build of its own (tools/ci/archer.sh)."},
    {"stress", "Runs disturbed from a seed, 24 of them where --repeat does not say otherwise, compared as all runs are. On a GPU: other kernels take a "
               "random share of the multiprocessors, launches are delayed, streams have other priorities, L2 holds something else; and "
               "where plumb_stress_worker is built, barriers, fences and atomics wait a random while, each thread its own, and blocks are "
               "numbered in another order. A library's kernels and plug-ins are disturbed from outside only: their barriers and the order of "
               "their blocks are their own. On the CPU executor: another order of blocks, warps and lanes in every run."},
    {"mutant", "A kernel that is wrong on purpose, with what was changed and where it happens in the wild. verify --mutants must kill all of them."},
    {"killed", "Some instrument noticed the planted fault."},
    {"not tried", "Another instrument killed the planted fault first; --all-instruments tries them all."},
    {"survived", "Nothing noticed the planted fault: the harness is broken (exit 4)."},
    {"oracle", "The trusted result: fp32 operators summed in fp64, fp64 ones in twice the working precision, in files built with strict flags."},
    {"reproducible", "Same input and layout, same bits. Assumed of every variant, and tested; Traits{}.not_reproducible() gives it up."},
    {"tier", "smoke is run by default, full adds sizes and shapes, stress adds cases of more than 2^31 elements."},
    {"ulp", "Units in the last place between two numbers of the type."},
    {"map", "Where in the output the misses are: '.' none in the tile, '+' some, '#' all."},
};

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
  for (const auto& [known_word, text] : kWords) {
    if (word == known_word) {
      fmt::print("{}: {}\n", word, text);
      return kOk;
    }
    known.emplace_back(known_word);
  }
  throw Error(fmt::format("--explain: unknown word '{}'{} (known: {})", printable(word), did_you_mean(word, known), fmt::join(known, ", ")));
}

}  // namespace plumb
