#include "verify/judge/runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"
#include "verify/engine/no_bound.hpp"

namespace plumb {
namespace {

// Every host variant's threads are made to collide on its first cases of so much work (operations and 4-byte words): enough for several
// threads to be at work at once and to be interrupted there, little enough for many runs.
constexpr int kCollidingCases = 2, kCollidingRuns = 8;
constexpr double kLeastWork = 1e5, kMostWork = 2e6;
// And on its first case of real numbers with a sum of so many terms, where it says that it is reproducible: such a sum is shared by more
// than two threads, and the order in which they come is in its bits.
constexpr int kCollidingSums = 1, kLongSum = 1024;

// On the executor a third run, of the first one's placement in another schedule, is for one case in four, and no large one: what a rung
// does by chance it does on many cases. A user's kernel has them all: one kernel takes little time.
constexpr int kSparedRuns = 2;
constexpr double kMostWorkOfThirdRun = 2e4;

int repeats_of(const RunOptions& options, const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  const bool of_user = variant.name.starts_with("user/");
  if (variant.device != Device::simt || !options.spare || of_user) return options.repeat;
  const Cost cost = prepared.cost();
  const bool third = hash_of(c) % 4 == 0 && cost.flop + cost.bytes / 4 <= kMostWorkOfThirdRun;
  return third ? options.repeat : std::min(options.repeat, kSparedRuns);
}

// A product that is deep, wide or high, and thin in all else. Kernels made of tiles do for it the work of one that is a tile thick, which on
// the executor takes as long as a hundred others.
constexpr double kBeyondTiles = 4000, kBelowTile = 64;

bool is_thin_product(const Case& c) {
  constexpr const char* kExtents[] = {"rows", "cols", "m", "n", "k", "v", "c", "h", "w"};
  int extreme = 0, small = 0, all = 0;
  for (const char* key : kExtents) {
    const std::string text = c.text_or(key, "");
    if (text.empty()) continue;
    const double size = std::strtod(text.c_str(), nullptr);
    ++all, extreme += size > kBeyondTiles ? 1 : 0, small += size < kBelowTile ? 1 : 0;
  }
  return all >= 3 && extreme == 1 && small == all - 1;
}

constexpr int kRunsOfThinProduct = 1, kRungsToOneOfMoreRuns = 4;

bool has_long_sum(PreparedCase& prepared) {
  for (const ReferenceArray& output : prepared.reference().outputs) {
    const auto& terms = output.terms;
    if (std::any_of(terms.begin(), terms.end(), [](auto n) { return n >= kLongSum; })) return true;
  }
  return false;
}

// One seed for a case, in six digits or fewer.
std::uint64_t collision_seed(const Case& c) { return 1 + hash_of(c) % 999'999; }

}  // namespace

bool has_one_run(const RunOptions& options, const Case& c, const VariantInfo& variant) {
  if (variant.device != Device::simt || !options.spare || variant.name.starts_with("user/")) return false;
  return is_thin_product(c) && hash_of(c.id() + variant.name) % kRungsToOneOfMoreRuns != 0;
}

Runner::Runner(const RunOptions& options, JudgeParts parts, std::shared_ptr<VariantHistories> histories)
    : options_(options), parts_(parts), engine_(options), histories_(std::move(histories)) {
  options_.repeat = std::max(options_.repeat, 2);
}

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  const int repeat = repeats_of(options_, c, prepared, variant);
  Record record = judge_or_skip(options_, c, prepared, variant, repeat, [&](Trial& trial) {
    if (has_one_run(options_, c, variant)) trial.run_at_most(kRunsOfThinProduct);
  });
  if (!is_passed(record.verdict) || !shows_collisions(c, prepared, variant)) return record;
  return judge_colliding(c, prepared, variant, record);
}

// Fills of integers: a lost term changes bits there, whatever the order of the sum and whatever the variant promises. Real ones: so does the order.
bool Runner::shows_collisions(const Case& c, PreparedCase& prepared, const VariantInfo& variant) {
  if (variant.device != Device::cpu || options_.stress != 0 || options_.isolation == Isolation::none)
    return false;
  const bool ours = variant.name.starts_with("cpu/");  // how they add is known
  const bool sums = c.fill == Fill::real && variant.traits.reproducible && !ours;
  if (!is_bitwise(c.fill) && !sums) return false;
  const Cost cost = prepared.cost();
  const double work = cost.flop + cost.bytes / 4;
  if (work < kLeastWork || work > kMostWork) return false;
  const std::string key = history_key(variant, c.dtype);
  if (!sums) return histories_->count(key, &VariantHistory::collided) < kCollidingCases;
  return has_long_sum(prepared) && histories_->count(key, &VariantHistory::collided_sums) < kCollidingSums;
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

Record Runner::judge(const Case& c, PreparedCase& prepared, const VariantInfo& variant, SchemaTrial& schema) {
  return judge_or_skip(options_, c, prepared, variant, options_.repeat,
                       [&](Trial& trial) { trial.put_in_force(schema); });
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
    Trial trial({engine_, options, parts_, *histories_, absent_}, c, prepared, variant, repeat);
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
