#include "verify/judge/runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"
#include "verify/engine/operator/no_bound.hpp"

namespace plumb {
namespace {

constexpr int kCollidingRuns = 8;

// One seed for a case, in six digits or fewer.
std::uint64_t collision_seed(const Case& c) { return 1 + hash_of(c) % 999'999; }

}  // namespace

Runner::Runner(const RunOptions& options, JudgeParts parts, std::shared_ptr<VariantHistories> histories)
    : options_(options), parts_(parts), engine_(options), histories_(std::move(histories)) {
  options_.repeat = std::max(options_.repeat, 2);
}

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  Record record = judge_or_skip(options_, c, prepared, variant, options_.repeat, [](Trial&) {});
  if (!is_passed(record.verdict)) return record;
  RunPlan more;
  extend(more, Stage::passed, {c, variant, options_, prepared, *histories_});
  return more.collides ? judge_colliding(c, prepared, variant, record) : record;
}

// The same case again, with the threads' schedule disturbed from a seed.
Record Runner::judge_colliding(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                               const Record& before) {
  RunOptions options = options_;
  options.stress = collision_seed(c), options.repeat = kCollidingRuns;
  Record record = judge_or_skip(options, c, prepared, variant, options.repeat, [](Trial&) {});
  record.runs += before.runs;
  if (is_failed(record.verdict)) {
    record.detail.push_back(
        fmt::format("its threads were made to collide (verify --explain stress); {} runs before that passed",
                    before.runs));
    return record;
  }
  Record passed = before;
  passed.runs = record.runs;
  return passed;
}

Record Runner::judge_plainly(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                             PlainTrial& plain) {
  return judge_or_skip(options_, c, prepared, variant, options_.repeat,
                       [&](Trial& trial) { trial.make_plain(plain); });
}

Record Runner::judge_timed(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                           const TimingRequest& request, Timing& timing) {
  return judge_or_skip(options_, c, prepared, variant, 3,
                       [&](Trial& trial) { trial.time_last_run(request, timing); });
}

// A resource of the judge that runs out says nothing about the variant; that there is no bound for its arithmetic, on a case that it took,
// does.
Record Runner::judge_or_skip(const RunOptions& options, const Case& c, PreparedCase& prepared,
                             const VariantInfo& variant, int repeat,
                             const std::function<void(Trial&)>& prepare_trial) {
  std::string why;
  Verdict verdict = Verdict::skip;
  try {
    Trial trial({engine_, options, parts_, *histories_, absent_, known_}, c, prepared, variant, repeat);
    prepare_trial(trial);
    return trial.judge();
  } catch (const NoBound& e) { why = e.what(), verdict = Verdict::error; } catch (const ResourceError& e) {
    why = e.what();
  } catch (const std::bad_alloc& e) { why = ending_text(e); }
  engine_.release_memory();
  Record record = record_of(c, variant, options, repeat);
  record.verdict = verdict, record.reason = why;
  return record;
}

std::int64_t Runner::largest_grid(const Case& c, PreparedCase& prepared, const VariantInfo& variant,
                                  Record& why_not) {
  if (const std::optional<Finding> absent = device_absent(variant, absent_)) {
    why_not.verdict = absent->verdict, why_not.reason = absent->reason, why_not.wants_device = true;
    return -1;
  }
  ImageLayout layout({Poison::nan_payload, false, variant.traits.alignment, false});
  RunRequest request;
  request.call = {c.op, variant.name, c.dtype, variant.device, prepared.place(layout)};
  request.call.image_bytes = layout.bytes(), request.call.plugin = variant.plugin;
  request.call.min_sm = variant.traits.min_sm, request.program = variant.program;
  request.instruments.watch = true;
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
