#include "verify/cli/sanitize_run.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/engine/sanitizer.hpp"

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
  return "--sanitize: compute-sanitizer was not found on PATH, in CUDA_HOME or in /usr/local/cuda; it comes with the CUDA toolkit (on its "
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

bool choose_multi_tile(Runner& runner, const VariantInfo& variant, const std::vector<Case>& cases, Case& chosen, Record& why_not) {
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
      // a library's launches are not seen: a sizable case will have several
      if (blocks > 1 || (blocks == 0 && sizable)) return true;
    }
  }
  if (most < 0 && why_not.reason.empty()) why_not.verdict = Verdict::skip, why_not.reason = "no case with something to do";
  return most >= 0;
}

void sanitize(const VerifyOptions& o, std::vector<SanitizeTarget> targets, const std::function<void(const Record&)>& take) {
  CasesByCost by_cost;
  for (SanitizeTarget& t : targets) t.cases = by_cost.ordered(t.cases);
  const std::vector<SanitizerTool> tools = parse_tools(o.sanitize);
  const std::string tool = find_compute_sanitizer();
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto tell = [&](const Record& r) {
    const std::lock_guard lock(mutex);
    take(r);
    if (o.fail_fast && is_failed(r.verdict)) stop = true;
  };
  const auto check = [&](Runner& runner, const SanitizeTarget& target) {
    Case c;
    Record why_not;
    const bool runs = choose_multi_tile(runner, target.variant, target.cases, c, why_not);
    if (!why_not.wants_device && tool.empty()) throw Error(no_sanitizer());
    for (const SanitizerTool t : tools) {
      if (stop || stop_signal != 0) return;
      if (runs) {
        const SanitizedRun run = run_sanitized(tool, this_program(), t, c, target.variant, o.run.timeout);
        if (stop_signal == 0) tell(run.record);
        continue;
      }
      Record r = why_not;
      r.op = target.variant.op, r.dtype = std::string(name(target.variant.dtype));
      r.variant = fmt::format("{} ({})", target.variant.name, name(t));
      r.case_id = fmt::format("{}.{}", r.op, r.dtype);
      tell(r);
    }
  };
  const auto work = [&] {
    Runner runner(o.run);
    std::string op;
    try {
      for (std::size_t i; (i = next++) < targets.size() && !stop && stop_signal == 0;) {
        if (targets[i].variant.op != op) runner.forget_workers();
        op = targets[i].variant.op;
        check(runner, targets[i]);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < o.jobs; ++t) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace plumb
