#include "verify/sweep/sanitize_sweep.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/sweep/sweep.hpp"

namespace plumb {
namespace {

constexpr int kMostProbes = 12;

// Parameters that are sizes; scalars of the operator are not.
bool sizes_exceed(const Case& c, long least) {
  static constexpr std::string_view kScalars[] = {"alpha", "beta", "bias", "cap", "scale"};
  return std::all_of(c.params.begin(), c.params.end(), [&](const auto& p) {
    if (std::find(std::begin(kScalars), std::end(kScalars), p.first) != std::end(kScalars)) return true;
    char* end = nullptr;
    const long value = std::strtol(p.second.c_str(), &end, 10);
    return end == p.second.c_str() || *end != '\0' || value > least;
  });
}

}  // namespace

std::string no_sanitizer() {
  return "--sanitize: compute-sanitizer was not found on PATH, in CUDA_HOME or in /usr/local/cuda; it comes "
         "with the CUDA toolkit (on its "
         "own, of your CUDA's version: apt-get install cuda-sanitizer-13-0)";
}

std::vector<Case> CasesByCost::ordered(const std::vector<Case>& cases) {
  std::vector<std::pair<double, Case>> all;
  for (const Case& c : cases) {
    if (c.fill == Fill::hostile) continue;
    const auto [at, is_new] = cost_.emplace(c.id(), 0);
    if (is_new) {
      const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
      const Cost cost = prepared->cost();
      at->second = prepared->degenerate() ? -1 : cost.flop + cost.bytes / 4;
    }
    if (at->second > 0) all.emplace_back(at->second, c);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Case> ordered;
  for (auto& [cost, c] : all) ordered.push_back(std::move(c));
  return ordered;
}

bool choose_multi_tile(Runner& runner, const VariantInfo& variant, const std::vector<Case>& cases,
                       Case& chosen, Record& why_not) {
  std::int64_t most = -1;
  for (const bool sizable : {true, false}) {
    int probes = 0;
    for (const Case& c : cases) {
      if (sizes_exceed(c, 32) != sizable) continue;
      if (++probes > kMostProbes) break;
      const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
      const std::int64_t blocks = runner.largest_grid(c, *prepared, variant, why_not);
      if (why_not.wants_device) return false;
      if (blocks > most) most = blocks, chosen = c;
      // the launches of a library are not seen: a large case is assumed to have several blocks
      if (blocks > 1 || (blocks == 0 && sizable)) return true;
    }
  }
  if (most < 0 && why_not.reason.empty())
    why_not.verdict = Verdict::skip, why_not.reason = "no case with something to do";
  return most >= 0;
}

namespace {

// One variant in one type, and the cases it may be checked on.
struct Target {
  VariantInfo variant;
  std::vector<Case> cases;
};

std::vector<Target> targets_of(const std::vector<Job>& jobs) {
  std::vector<Target> targets;
  std::map<std::string, std::size_t> at;
  for (const Job& job : jobs) {
    for (const VariantInfo& v : job.variants) {
      const auto [known, is_new] = at.emplace(type_key(v), targets.size());
      if (is_new) targets.push_back({v, {}});
      targets[known->second].cases.push_back(job.c);
    }
  }
  CasesByCost by_cost;
  for (Target& t : targets) t.cases = by_cost.ordered(t.cases);
  return targets;
}

Record record_not_run(const Record& why_not, const VariantInfo& variant, SanitizerTool tool) {
  Record r = why_not;
  r.op = variant.op, r.dtype = std::string(name(variant.dtype));
  r.variant = fmt::format("{} ({})", variant.name, name(tool));
  r.case_id = fmt::format("{}.{}", r.op, r.dtype);
  return r;
}

}  // namespace

std::exception_ptr sanitize_jobs(const std::vector<Job>& jobs, const RunOptions& run,
                                 const SanitizeOptions& options,
                                 const std::function<void(const Record&)>& take) {
  const std::vector<Target> targets = targets_of(jobs);
  const std::string sanitizer = find_compute_sanitizer();
  Sweep sweep(options.workers, run);
  std::mutex telling;
  const auto tell = [&](const Record& r) {
    const std::lock_guard lock(telling);
    take(r);
    if (options.fail_fast && is_failed(r.verdict)) sweep.stop();
  };
  const auto check = [&](Runner& runner, std::size_t i) {
    const Target& target = targets[i];
    Case c;
    Record why_not;
    const bool runs = choose_multi_tile(runner, target.variant, target.cases, c, why_not);
    if (!why_not.wants_device && sanitizer.empty()) throw Error(no_sanitizer());
    for (const SanitizerTool tool : options.tools) {
      if (sweep.stopped()) return;
      if (!runs) {
        tell(record_not_run(why_not, target.variant, tool));
        continue;
      }
      const SanitizedRun checked =
          run_sanitized(sanitizer, this_program(), tool, c, target.variant, run.timeout);
      if (stop_signal == 0) tell(checked.record);
    }
  };
  return sweep.run(
      targets.size(), [&](std::size_t i) { return targets[i].variant.op; }, check);
}

}  // namespace plumb
