// Checks of all runs of one variant on one case.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "verify/engine/operator/no_bound.hpp"
#include "verify/judge/checks.hpp"

namespace plumb {
namespace {

// The first wrong element of each output but `other_than`: what is wrong in one may follow from another.
std::vector<std::string> first_misses(const Series& s, const std::vector<Comparison>& outputs,
                                      std::size_t other_than) {
  std::vector<std::string> lines;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (o != other_than && !outputs[o].first.empty())
      lines.push_back(fmt::format("the first wrong element of {}: {}", s.outputs[o].name,
                                  describe_miss(s.outputs[o], outputs[o].first.front())));
  }
  return lines;
}

// What every failing run had and no other: "OpenMP threads: 9".
std::vector<std::string> environment_of_failures(const Series& s) {
  const auto has = [](const JudgedRun& r, const auto& entry) {
    return std::find(r.environment.begin(), r.environment.end(), entry) != r.environment.end();
  };
  const auto first = std::find_if(s.runs.begin(), s.runs.end(), [](const JudgedRun& r) { return r.failed; });
  std::string text;
  for (const auto& entry : first->environment) {
    const bool tells = std::all_of(s.runs.begin(), s.runs.end(),
                                   [&](const JudgedRun& r) { return r.failed == has(r, entry); });
    if (tells) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", entry.first, entry.second);
  }
  const bool all = std::all_of(s.runs.begin(), s.runs.end(), [](const JudgedRun& r) { return r.failed; });
  if (all || text.empty()) return {};
  return {"every run that failed, and no other, has " + text};
}

std::optional<Finding> unwritten(const Series& s) {
  for (std::size_t o = 0; o < s.outputs.size(); ++o) {
    const std::vector<std::uint8_t>& marks = s.unwritten[o];
    const auto count = std::count(marks.begin(), marks.end(), 1);
    if (count == 0) continue;
    const auto at = std::find(marks.begin(), marks.end(), 1) - marks.begin();
    Finding finding{Verdict::unwritten,
                    fmt::format("{} of {} elements of {} were never written, the first is {}", count,
                                marks.size(), s.outputs[o].name, place_of(s.outputs[o], at))};
    finding.detail = first_misses(s, s.worst().run->outputs, s.outputs.size());
    return finding;
  }
  return std::nullopt;
}

// An element beyond its bound. Runs that were placed alike must fail alike; otherwise the variant is not deterministic.
std::optional<Finding> above_bound(const Series& s) {
  const auto failed =
      std::count_if(s.runs.begin(), s.runs.end(), [](const JudgedRun& r) { return r.failed; });
  if (failed == 0) return std::nullopt;
  const Series::Worst worst = s.worst();
  std::vector<std::string> detail =
      describe_misses(s, worst.output, worst.run->outputs[worst.output], failed);
  for (std::vector<std::string> more :
       {environment_of_failures(s), first_misses(s, worst.run->outputs, worst.output)})
    detail.insert(detail.end(), more.begin(), more.end());
  bool flips = false;
  for (std::size_t r = 2; r < s.runs.size(); ++r) flips = flips || s.runs[r].failed != s.runs[r - 2].failed;
  std::string reason = detail.front();
  return Finding{flips ? Verdict::nondeterministic : Verdict::fail, std::move(reason), std::move(detail)};
}

// "y[3] differs ...", of two arrays that differ.
std::string describe_difference(const Segment& s, const Elements& then, const Elements& now) {
  const std::byte* const begin = now.data.get();
  const std::byte* const differs = std::mismatch(begin, begin + now.bytes, then.data.get()).first;
  const std::int64_t i = (differs - begin) / s.element_bytes(), at = i * s.element_bytes();
  return fmt::format(
      "{} differs between two runs on the same data (bits {:#x} and {:#x}), and the variant declares itself "
      "reproducible",
      place_of(s, i), then.bits(at, s.element_bytes()), now.bits(at, s.element_bytes()));
}

// Where the contract leaves a choice, runs may choose otherwise: each was judged by itself.
std::optional<Finding> not_reproducible(const Series& s) {
  if (!s.traits.reproducible) return std::nullopt;
  const std::vector<ReferenceArray>& contract = s.prepared.reference().outputs;
  for (std::size_t r = 2; r < s.runs.size(); ++r) {
    for (std::size_t o = 0; o < s.outputs.size(); ++o) {
      if (contract[o].leaves_choice()) continue;
      const Elements &now = s.runs[r].bits[o], &then = s.runs[r - 2].bits[o];
      if (!(now == then))
        return Finding{Verdict::nondeterministic, describe_difference(s.outputs[o], then, now)};
    }
  }
  return std::nullopt;
}

// Pools of threads grow in the first call; what grows in later calls was started there and left.
std::optional<Finding> left_threads(const Series& s) {
  if (s.last_threads <= s.first_threads || !s.wait_for_threads) return std::nullopt;
  const std::optional<Worker::Outcome> outcome = s.wait_for_threads(s.first_threads);
  if (!outcome) return std::nullopt;
  using Ending = Worker::Outcome::Kind;
  if (outcome->kind == Ending::died) return Finding{Verdict::crash, outcome->how};
  if (outcome->kind != Ending::replied) return Finding{Verdict::skip, outcome->how};
  const int left = outcome->reply.threads;
  if (left <= s.first_threads) return std::nullopt;
  return Finding{
      Verdict::error,
      fmt::format("leaves threads running after it has returned: {} after its first run, {} after its last",
                  s.first_threads, left)};
}

// What grows with the calls: in each part of them, by at least one unit in every other call. A cache that is filled once, or a pool that
// grows until it suffices, does not. After threads, because they hold memory.
std::optional<Finding> grows(const Series& s) {
  struct Counted {
    std::int64_t ResourceUse::*held;
    std::int64_t unit;  // that a call leaks at least
    const char* what;
    int calls = 1;  // of which it says something: an allocator's pools take and return pages for many calls
  };
  // a thread takes blocks and pages with it: causes before what follows from them
  constexpr Counted kResources[] = {{&ResourceUse::threads, 1, "threads"},
                                    {&ResourceUse::descriptors, 1, "file descriptors"},
                                    {&ResourceUse::blocks, 1, "blocks of the heap"},
                                    {&ResourceUse::bytes, 8, "bytes of the heap"},
                                    {&ResourceUse::pages, 1, "pages of address space", 256}};
  if (s.uses.size() < 3) return std::nullopt;
  const ResourceUse &first = s.uses.front(), &last = s.uses.back();
  const auto per_call = [&](std::int64_t ResourceUse::*held) {
    return static_cast<double>(last.*held - first.*held) / static_cast<double>(last.calls - first.calls);
  };
  for (const Counted& kind : kResources) {
    bool grown = last.calls >= kind.calls;
    for (std::size_t i = 1; i < s.uses.size(); ++i) {
      const std::int64_t calls = s.uses[i].calls - s.uses[i - 1].calls;
      grown = grown && s.uses[i].*kind.held - s.uses[i - 1].*kind.held >= kind.unit * calls / 2;
    }
    if (!grown) continue;
    Finding finding{Verdict::error,
                    fmt::format("leaks {}: {:.4g} a call, over calls {} to {} on the same data", kind.what,
                                per_call(kind.held), first.calls + 1, last.calls)};
    for (const Counted& k : kResources) {
      if (last.*k.held != first.*k.held)
        finding.detail.push_back(fmt::format("{}: {:+.4g} a call", k.what, per_call(k.held)));
    }
    if (last.runtime_bytes != first.runtime_bytes)
      finding.detail.push_back(
          fmt::format("not counted: {:+.4g} bytes a call that OpenMP's runtime allocated for itself",
                      per_call(&ResourceUse::runtime_bytes)));
    return finding;
  }
  return std::nullopt;
}

constexpr std::array kSeriesChecks{unwritten, above_bound, not_reproducible, left_threads, grows};

// True where no element is smaller than the sum of its terms' sizes: nothing cancels, and a bound for zero-mean data is too small.
bool has_terms_of_one_sign(const Reference& reference) {
  bool sums = false;
  for (const ReferenceArray& array : reference.outputs) {
    for (std::size_t i = 0; i < array.value.size(); ++i) {
      if (std::fabs(array.value[i]) != array.magnitude[i]) return false;
      sums = sums || array.terms[i] > 1;
    }
  }
  return sums;
}

// The first declared arithmetic, of those that err more than this one, under which the listed misses would have passed.
std::string other_arithmetic(const Series& s, std::size_t output, const Comparison& c) {
  constexpr std::pair<Arithmetic, const char*> kWider[] = {
      {Arithmetic::by_lse,
       "x - (max + log sum): the sum of the two is rounded once for a whole row, at the size of max"},
      {Arithmetic::one_pass,
       "a variance as the mean of squares less the square of the mean: errors are relative to both"},
      {Arithmetic::winograd, "minimal filtering, whose transforms round too"},
      {Arithmetic::flushed, "subnormals turned into 0"},
      {Arithmetic::fp8_fast,
       "sums of 8-bit products that stay in tensor cores, as cuBLASLt's fast accumulation"},
      {Arithmetic::tf32x3, "three products of tf32"}};
  const auto finite = [](const Miss& m) { return std::isfinite(m.error); };
  if (c.first.empty() || !std::all_of(c.first.begin(), c.first.end(), finite)) return {};
  for (const auto& [arithmetic, what] : kWider) {
    if (arithmetic == s.traits.arithmetic) continue;
    try {
      const LargeArray<double>& bound =
          s.prepared.bounds(static_cast<int>(output), arithmetic, s.tolerance.tensor_cores);
      const auto holds = [&](const Miss& m) { return m.error <= bound[static_cast<std::size_t>(m.index)]; };
      if (std::all_of(c.first.begin(), c.first.end(), holds))
        return fmt::format("within the bound of arithmetic '{}', which it does not declare ({})",
                           name(arithmetic), what);
    } catch (const NoBound&) { continue; }
  }
  return {};
}

// The smallest relative tolerance under which every listed output would have passed: what allclose would have needed.
double tightest_tolerance(const Comparison& c, const Tolerance& t) { return c.max_unit_ratio * t.unit(); }

}  // namespace

std::span<const SeriesCheck> series_checks() { return kSeriesChecks; }

std::vector<std::string> describe_misses(const Series& series, std::size_t output, const Comparison& c,
                                         std::int64_t failed_runs) {
  const Segment& s = series.outputs[output];
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < c.first.size() && i < static_cast<std::size_t>(series.listed); ++i)
    lines.push_back(describe_miss(s, c.first[i]));
  lines.push_back(fmt::format(
      "{} of {} elements of {} above bound in {} of {} runs; max err/bound: {}, err/(uM) {:.3g}", c.misses,
      c.elements, s.name, failed_runs, series.runs.size(), ratio_text(c.max_ratio), c.max_unit_ratio));
  if (c.max_unit_ratio > 0) {
    lines.push_back(fmt::format("tightest tolerance relative to M that would pass: {:.3g}",
                                tightest_tolerance(c, series.tolerance)));
  }
  if (const std::string hint = other_arithmetic(series, output, c); !hint.empty()) lines.push_back(hint);
  if (!c.guess.empty()) lines.push_back("looks like: " + c.guess);
  if (series.tolerance.fill == Fill::real && has_terms_of_one_sign(series.prepared.reference()))
    lines.push_back("every term has one sign: is the bound that of positive data?");
  if (c.elements > 1) lines.push_back("map (. none, + some, # all missed):\n" + c.map);
  return lines;
}

}  // namespace plumb
