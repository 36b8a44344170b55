#include <algorithm>
#include <utility>

#include "verify/judge/checks.hpp"
#include "verify/judge/choices.hpp"

namespace plumb {

void Series::add(const ImageLayout& layout, const std::byte* after, bool keep_bits, Environment environment) {
  outputs.clear();  // a placement of its own: other leading dimensions
  for (const Segment& s : layout.segments()) {
    if (s.output) outputs.push_back(s);
  }
  if (runs.empty()) {
    for (const Segment& s : outputs)
      unwritten.emplace_back(static_cast<std::size_t>(s.elements()), s.source == nullptr ? 1 : 0);
  }
  const Poison poison = layout.placement().poison;
  JudgedRun& run = runs.emplace_back();
  run.environment = std::move(environment);
  std::vector<WrittenOutput> written;
  for (const Segment& s : outputs) written.push_back({&s, after});
  const std::vector<ReferenceArray>& contract = prepared.reference().outputs;
  const bool choice = std::any_of(contract.begin(), contract.end(),
                                  [](const ReferenceArray& a) { return a.leaves_choice(); });
  const ChosenAnswer answer(prepared.reference(), written);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Segment& s = outputs[o];
    KnownAnswer now{layout.contents(), o, traits.arithmetic, tolerance.tensor_cores, {}, {}};
    if (const KnownAnswer* const same = choice ? nullptr : known.find(now, s, after)) {
      run.outputs.push_back(same->comparison);
      if (keep_bits) run.bits.push_back(same->bits);
      clear_written(s, after, poison, unwritten[o]);
      continue;
    }
    const Expected expected{&answer.output(o),
                            &prepared.bounds(static_cast<int>(o), traits.arithmetic, tolerance.tensor_cores),
                            is_floating(s.kind) ? tolerance.unit() : 0, tolerance.eta(), nan_in_data};
    run.outputs.push_back(parts.compare(s, after, expected, poison));
    answer.explain(o, run.outputs.back().first);
    run.failed = run.failed || run.outputs.back().misses > 0;
    now.bits = elements_of(s, after);
    if (keep_bits) run.bits.push_back(now.bits);
    clear_written(s, after, poison, unwritten[o]);
    now.comparison = run.outputs.back();
    if (!choice && now.comparison.misses == 0) known.keep(std::move(now));
  }
}

Series::Worst Series::worst() const {
  Worst worst{&runs.front(), 0};
  for (const JudgedRun& run : runs) {
    for (std::size_t o = 0; o < run.outputs.size(); ++o) {
      const Comparison &now = run.outputs[o], &best = worst.run->outputs[worst.output];
      if (now.misses > best.misses || (now.misses == best.misses && now.max_ratio > best.max_ratio))
        worst = {&run, o};
    }
  }
  return worst;
}

Wrote Series::wrote() const {
  Wrote wrote = Wrote::unknown;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o].source != nullptr || unwritten[o].empty()) continue;
    if (std::find(unwritten[o].begin(), unwritten[o].end(), 0) != unwritten[o].end()) return Wrote::something;
    wrote = Wrote::nothing;
  }
  return wrote;
}

bool Series::differs() const {
  for (std::size_t r = 2; r < runs.size(); ++r) {
    if (!(runs[r].bits == runs[r - 2].bits)) return true;
  }
  return false;
}

}  // namespace plumb
