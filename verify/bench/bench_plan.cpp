#include "verify/bench/bench_plan.hpp"

#include <omp.h>

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "verify/bench/gcn_case.hpp"
#include "verify/bench/roofs.hpp"
#include "verify/engine/backend/backend.hpp"
#include "verify/selection/built.hpp"

namespace plumb {
namespace {

// Multiply-adds for each thread of the host: the oracle then takes some seconds. Serial host variants take a case alone.
constexpr double kWorkOfThread = 1.5e9, kWorkOnHost = 1e9;
constexpr double kCaches = 8;  // the largest cases, in second-level caches

int rank(const VariantInfo& v, const BenchOptions& o) {
  if (v.traits.library) return 0;
  if (matches_any(o.adaptive, v.name)) return 1;
  return v.name.rfind("cpu/", 0) == 0 || v.name.rfind("gpu/", 0) == 0 ? 3 : 2;
}

void prepare_for_limit(Job& job, const BenchOptions& o) {
  std::erase_if(job.variants, [](const VariantInfo& v) { return !is_of_own_type(v.traits.arithmetic); });
  std::stable_sort(job.variants.begin(), job.variants.end(), [&](const VariantInfo& a, const VariantInfo& b) {
    const int first = rank(a, o), second = rank(b, o);
    return first != second ? first < second : first == 3 && a.name > b.name;
  });
}

/// Whole networks: no operator, no plug-ins.
Plan plan_gcns(const BenchOptions& o, const std::optional<DrawnRun>& drawn) {
  if (o.cold || !o.plugins.empty() || !o.matrices.empty())
    throw Error("--case gcn takes neither --cold, --plugin nor --matrix");
  Plan plan;
  const TimedSize size = drawn ? drawn->size : TimedSize{};
  for (Case& c : gcn_cases(o.cases, o.drawn, o.seed, size)) {
    Job job{std::move(c), {}};
    for (VariantInfo& v : gcn_variants()) {
      const bool named = o.variants.empty() || matches_any(o.variants, v.name);
      if (v.dtype == job.c.dtype && named && device_wanted(o.devices, v.device))
        job.variants.push_back(std::move(v));
    }
    if (!job.variants.empty()) plan.jobs.push_back(std::move(job));
  }
  if (plan.jobs.empty()) plan.why_none = "no pipeline has such a name and device";
  return plan;
}

}  // namespace

DrawnRun describe_draw(const BenchOptions& o) {
  const bool gpu = device_wanted(o.devices, Device::gpu) && make_backend(Device::gpu)->why_not().empty();
  DrawnRun run;
  run.program = o.program, run.seed = o.seed, run.of_an_operator = o.drawn, run.limit = o.limit;
  run.size.most_bytes = kCaches * second_level_bytes(gpu ? Device::gpu : Device::cpu);
  run.size.most_work = gpu ? kWorkOfThread * omp_get_max_threads() : kWorkOnHost;
  return run;
}

Plan plan_bench(const BenchOptions& o, const std::optional<DrawnRun>& drawn) {
  if (names_gcn(o.cases)) return plan_gcns(o, drawn);
  CaseChoice cases;
  cases.cases = o.cases, cases.tier = parse_tier(o.tier, "--tier"), cases.this_tier_only = true;
  for (const std::string& word : o.fills) cases.fills.push_back(parse_fill(word, "--fill"));
  if (cases.fills.empty()) cases.fills.push_back(Fill::real);
  VariantChoice variants;
  variants.globs = o.variants, variants.devices = o.devices;
  variants.more = variants_of_plugins(o.plugins);
  if (o.plugins.empty()) require_kernels(o.cases, false);
  for (const std::string& file : files_without_gpu())
    fmt::print(stderr,
               "note: {} is not timed: there is no GPU here (verify --device simt judges it on the CPU)\n",
               file);
  if (!drawn) return plan_jobs(select_cases(cases), variants);
  cases.drawn = o.drawn, cases.seed = drawn->seed, cases.timed = drawn->size, cases.matrices = o.matrices;
  const ChosenCases chosen = select_cases(cases);
  for (const std::string& note : chosen.notes) fmt::print(stderr, "note: {}\n", note);
  Plan plan = plan_jobs(chosen, variants);
  for (Job& job : plan.jobs) prepare_for_limit(job, o);
  std::erase_if(plan.jobs, [](const Job& job) { return job.variants.empty(); });
  if (plan.jobs.empty() && plan.why_none.empty())
    plan.why_none = "what matches computes in another arithmetic than its operator's type";
  return plan;
}

}  // namespace plumb
