#include "verify/judge/runner.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include "reference/core/resource_error.hpp"

namespace plumb {

Runner::Runner(const RunOptions& options, JudgeParts parts)
    : options_(options), parts_(parts), engine_(options) {
  options_.repeat = std::max(options_.repeat, 2);
}

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  return judge_or_skip(c, prepared, variant, options_.repeat, [](Trial&) {});
}

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant, SchemaTrial& schema) {
  return judge_or_skip(c, prepared, variant, options_.repeat,
                       [&](Trial& trial) { trial.put_in_force(schema); });
}

Record Runner::judge_timed(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                           const TimingRequest& request, Timing& timing) {
  return judge_or_skip(c, prepared, variant, 3, [&](Trial& trial) { trial.time_last_run(request, timing); });
}

// A resource of the judge that runs out says nothing about the variant.
Record Runner::judge_or_skip(const Case& c, PreparedCase& prepared, const VariantInfo& variant, int repeat,
                             const std::function<void(Trial&)>& prepare_trial) {
  std::string why;
  try {
    Trial trial({engine_, options_, parts_, soaked_, absent_}, c, prepared, variant, repeat);
    prepare_trial(trial);
    return trial.judge();
  } catch (const ResourceError& e) { why = e.what(); } catch (const std::bad_alloc& e) {
    why = e.what();
  }
  engine_.release_memory();
  Record record = record_of(c, variant, options_, repeat);
  record.reason = why;
  return record;
}

std::int64_t Runner::largest_grid(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                                  Record& why_not) {
  if (const std::optional<Finding> absent = device_absent(variant, absent_)) {
    why_not.verdict = absent->verdict, why_not.reason = absent->reason, why_not.wants_device = true;
    return -1;
  }
  ImageLayout layout({Poison::nan_payload, false, variant.traits.alignment, false});
  StagedViews views = prepared.place(layout);
  RunRequest request{c.op,           variant.name,        c.dtype,
                     variant.device, Poison::nan_payload, std::move(views),
                     layout.bytes(), variant.plugin};
  request.watch = true, request.min_sm = variant.traits.min_sm, request.program = variant.program;
  const Attempt attempt = engine_.run(request, layout);
  const RunReply& reply = attempt.outcome.reply;
  if (attempt.returned()) {
    std::int64_t blocks = 0;
    for (const KernelUse& k : reply.timing.kernels) blocks = std::max(blocks, k.blocks);
    return blocks;
  }
  why_not.verdict = Verdict::skip;
  why_not.reason = attempt.outcome.kind == Worker::Outcome::Kind::replied ? reply.text : attempt.outcome.how;
  why_not.wants_device =
      reply.status == RunReply::Status::unavailable || reply.status == RunReply::Status::too_old;
  if (reply.status == RunReply::Status::unavailable) absent_[variant.device] = reply.text;
  return -1;
}

}  // namespace plumb
