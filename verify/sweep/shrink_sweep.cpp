#include "verify/sweep/shrink_sweep.hpp"

#include <memory>
#include <new>

#include "reference/core/error.hpp"
#include "verify/drawing/shrink.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/engine/process/worker.hpp"
#include "verify/judge/mistrust.hpp"
#include "verify/judge/repro.hpp"

namespace plumb {
namespace {

// True where `v` fails on `c` with the verdict `expected`. A case that cannot be made, or that proves nothing, is no failure.
bool fails_alike(Runner& runner, const Case& c, const VariantInfo& v, Verdict expected) {
  if (stop_signal != 0) return false;
  try {
    const std::unique_ptr<PreparedCase> prepared = find_operator(c.op).prepare(c);
    return why_mistrusted(c, *prepared).empty() && runner.judge(c, *prepared, v).verdict == expected;
  } catch (const Error&) { return false; } catch (const std::bad_alloc&) {
    return false;
  }
}

VariantInfo in_type(const VariantInfo& v, Dtype dtype) {
  VariantInfo other = v;
  other.dtype = dtype;
  return other;
}

// True where the variant is registered in this type too.
bool exists(const VariantInfo& v, Dtype dtype) {
  if (v.dtype == dtype) return true;
  for (const VariantInfo& known : find_operator(v.op).variants(Device::gpu)) {
    if (known.name == v.name && known.dtype == dtype && known.device == v.device) return true;
  }
  return false;
}

}  // namespace

FirstFailures::FirstFailures(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) jobs_[job.c.id()] = &job;
}

void FirstFailures::take(const Record& r) {
  if (!is_failed(r.verdict)) return;
  const auto job = jobs_.find(r.case_id);
  if (job == jobs_.end()) return;
  for (const VariantInfo& v : job->second->variants) {
    if (v.name + (v.device == Device::simt ? kOnSimt : "") != r.variant) continue;
    if (!seen_.emplace(v.op + "|" + r.variant, true).second) return;
    failures_.push_back({job->second->c, v, r.verdict});
  }
}

void shrink_failures(const std::vector<FailingCase>& failures, const RunOptions& run,
                     const std::function<void(const SmallerCase&)>& tell) {
  for (const FailingCase& failing : failures) {
    RunOptions quiet = run;
    quiet.on_failure = nullptr;  // the original is saved already
    Runner runner(quiet);
    const auto fails = [&](const Case& c) {
      return exists(failing.variant, c.dtype) &&
             fails_alike(runner, c, in_type(failing.variant, c.dtype), failing.verdict);
    };
    const CaseSpace space = find_operator(failing.c.op).space();
    const Shrunk shrunk = shrink_case(space.locate(failing.c) ? space : space.contexts(), failing.c, fails);
    if (stop_signal != 0) return;
    tell({failing, shrunk.smallest, shrunk.runs,
          repro_line(shrunk.smallest, in_type(failing.variant, shrunk.smallest.dtype), run, run.repeat)});
  }
}

}  // namespace plumb
