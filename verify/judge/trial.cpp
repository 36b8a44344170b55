#include "verify/judge/trial.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <omp.h>

#include "reference/cases/sparse_cases.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "verify/engine/process/simt_device.hpp"
#include "verify/judge/operands.hpp"
#include "verify/judge/repro.hpp"
#include "verify/judge/thread_sanitizer.hpp"

namespace plumb {
namespace {

// Larger cases are neither repeated often, nor is a twin of theirs run.
constexpr std::int64_t kSmallImage = 256 << 10;  // bytes
constexpr double kShortRun = 5e-3;               // seconds
constexpr double kMarginalRatio = 0.5;
constexpr std::size_t kWordsKept = 4096, kWordsShown = 5;  // bytes, lines of what a process printed

bool is_small(const ImageLayout& layout, const RunReply& reply) {
  return layout.bytes() <= kSmallImage && reply.seconds < kShortRun;
}

// The last lines that are not empty, in their order.
std::vector<std::string> last_lines(const std::string& text, std::size_t most) {
  std::vector<std::string> lines = split(text, '\n');
  std::set<std::string> known;  // each run may say the same
  std::erase_if(lines, [&](const std::string& line) { return line.empty() || !known.insert(line).second; });
  if (lines.size() > most) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

const char* describe(Twin which) {
  switch (which) {
    case Twin::last_operand:
      return "on the same case with its last operand negated, at the same addresses; right before. Does it "
             "remember "
             "an answer?";
    case Twin::other_operands:
      return "on the same case with other values, at the same addresses; right before. Does it remember an "
             "operand?";
    case Twin::one_element:
      return "on the same case with one element of its last operand negated, at the same addresses; right "
             "before. "
             "Does it recognise an operand by some of its elements?";
    case Twin::problem:
      return "on the same arrays at the same addresses, with other scalars, or with height and width "
             "exchanged; "
             "right before. Does it remember a problem by some of its numbers?";
    case Twin::pattern:
      return "on the same case with the lengths of rows in the opposite order, at the same addresses; right "
             "before. "
             "Does it remember a matrix by its sizes?";
  }
  return "";
}

}  // namespace

Record record_of(const Case& c, const VariantInfo& variant, const RunOptions& options, int repeat) {
  Record record;
  record.case_id = c.id(), record.op = c.op, record.dtype = std::string(name(c.dtype));
  record.variant = variant.name + (variant.device == Device::simt ? kOnSimt : "");
  record.repro = repro_line(c, variant, options, repeat);
  return record;
}

std::optional<Finding> device_absent(const VariantInfo& variant,
                                     const std::map<Device, std::string>& absent) {
  const auto known = absent.find(variant.device);
  if (variant.why_not.empty() && known == absent.end()) return std::nullopt;
  return Finding{Verdict::skip, variant.why_not.empty() ? known->second : variant.why_not, {}, true, true};
}

Trial::Trial(const TrialContext& context, const Case& c, PreparedCase& prepared, const VariantInfo& variant,
             int repeat)
    : context_(context),
      case_(c),
      prepared_(prepared),
      variant_(variant),
      subject_{c, variant, context.options, prepared, context.histories, repeat},
      record_(record_of(c, variant, context.options, repeat)),
      series_{prepared,
              variant.traits,
              {c.fill, variant.traits.arithmetic, c.dtype, variant.device != Device::cpu},
              context.parts,
              context.known,
              context.options.first} {}

Record Trial::judge() {
  subject_.timed = timing_ != nullptr, subject_.plain = plain_ != nullptr;
  if (const std::optional<Finding> finding = why_not()) return ended(*finding);
  const KnownCase::Operands& operands = context_.known.operands_of(prepared_);
  subject_.arrays = operands.arrays, record_.data = operands.words;
  series_.nan_in_data = hold_nan(record_.data);
  plan_ = plan_runs(subject_);
  record_.repro = repro_line(case_, variant_, context_.options, plan_.repeat);
  if (const std::optional<Finding> finding = make_runs()) return ended(*finding);
  if (const std::optional<Finding> finding = check_series()) return ended(*finding);
  return ended({record_.worst.max_ratio > kMarginalRatio ? Verdict::marginal : Verdict::pass, {}});
}

// Known before any run.
std::optional<Finding> Trial::why_not() const {
  if (std::optional<Finding> absent = device_absent(variant_, context_.absent)) return absent;
  if (variant_.device == Device::simt) {
    const Cost cost = prepared_.cost();
    const double limit = most_work_on_simt(subject_);
    if (cost.flop + cost.bytes / 4 > limit) {
      return Finding{
          Verdict::skip,
          fmt::format("too large for the CPU executor: more than {:.0f} operations and words", limit)};
    }
  }
  if (variant_.traits.finite_only && holds_nonfinite(case_)) {
    return Finding{Verdict::unsupported,
                   "declares itself for finite inputs only: NaN and infinities may come out otherwise"};
  }
  return std::nullopt;
}

std::optional<Finding> Trial::make_runs() {
  for (std::size_t r = 0; r < plan_.runs.size(); ++r) {
    if (std::optional<Finding> finding = make_run(r)) {
      shown_ = schedule_of(r);
      return finding;
    }
  }
  if (found_.empty()) return std::nullopt;
  shown_ = found_.schedule();
  return found_.all();
}

std::optional<Finding> Trial::make_run(std::size_t r) {
  const PlannedRun run = plan_.runs[r];  // a copy: the plan may grow
  ImageLayout layout(run.placement);
  RunRequest request = request_for(run, layout);
  const Attempt attempt = make_attempt(request, layout);
  const RunReply& reply = attempt.outcome.reply;
  if (std::optional<Finding> finding = check(attempt, layout, prepared_)) {
    if (request.instruments.callers > 1 && is_failed(finding->verdict))
      finding->detail.emplace_back(
          "in this run it had two callers at once, each with a plan, outputs and a stream or thread of its "
          "own");
    if (!takes_seeds() || reply.findings.empty()) return finding;
    found_.add(reply.findings, request.instruments.schedule);
    return std::nullopt;
  }
  note(reply, run);
  last_.emplace(Last{attempt, layout});
  return after_run(r, request, layout);
}

// What a run that returned left, and which runs come behind it.
std::optional<Finding> Trial::after_run(std::size_t r, const RunRequest& request, const ImageLayout& layout) {
  const Attempt& attempt = last_->attempt;
  const bool small = is_small(layout, attempt.outcome.reply);
  // with the run after the next; a small case may be given more runs yet, and its placements differ in size
  const bool keep_bits = r >= 2 || r + 2 < plan_.runs.size() || layout.bytes() <= 4 * kSmallImage;
  series_.add(layout, attempt.after, keep_bits, environment_of(plan_.runs[r], variant_.device));
  const JudgedRun& run = series_.runs.back();
  std::int64_t misses = 0;
  for (const Comparison& c : run.outputs) misses += c.misses;
  if (misses > kept_misses_) kept_misses_ = misses, keep(attempt, layout, prepared_);
  if (plain_ != nullptr) {
    for (const Segment& s : series_.outputs)
      plain_->bits = hash_of(elements_of(s, attempt.after), plain_->bits);
    if (run.failed) plan_.runs.resize(r + 1);
    return std::nullopt;
  }
  if (small && static_cast<int>(r) + 1 == plan_.repeat && series_.can_go_on())
    extend(plan_, Stage::last_run, subject_);
  if (r != 0 || !small || run.failed) return std::nullopt;
  extend(plan_, Stage::first_run, subject_);
  if (std::optional<Finding> finding = run_twins(request, layout.placement())) return finding;
  return plan_.meets_neighbours ? run_neighbours(request, layout.placement()) : std::nullopt;
}

// LLVM's OpenMP runtime ends a process where a second native thread has tasks with dependences, whose kernels are right: an end without a
// race says nothing there, and one caller is judged instead.
Attempt Trial::make_attempt(RunRequest& request, const ImageLayout& layout) {
  int& callers = request.instruments.callers;
  request.instruments.threads_of_device = plan_.threads_of_device;
  Attempt attempt = context_.engine.run(request, layout);
  const Worker::Outcome& outcome = attempt.outcome;
  const bool declined =
      outcome.kind == Worker::Outcome::Kind::replied && outcome.reply.status == RunReply::Status::declined;
  if (declined && callers > 1) {  // two need twice as much: what one can do is judged with one
    callers = 1;
    return make_attempt(request, layout);
  }
  if (declined && plan_.threads_of_device == 0) {
    extend(plan_, Stage::declined, subject_);
    if (plan_.threads_of_device != 0) return make_attempt(request, layout);
  }
  const bool ended = outcome.kind == Worker::Outcome::Kind::timed_out ||
                     (outcome.kind == Worker::Outcome::Kind::died && !race_in(outcome.said));
  if (callers == 1) return attempt;
  if (variant_.device != Device::cpu || !ended) {
    ++record_.two_callers;
    return attempt;
  }
  callers = 1;
  return context_.engine.run(request, layout);
}

RunRequest Trial::request_for(const PlannedRun& run, ImageLayout& layout) const {
  RunRequest request;
  Invocation& call = request.call;
  call = {case_.op, variant_.name, case_.dtype, variant_.device, prepared_.place(layout)};
  call.image_bytes = layout.bytes(), call.plugin = variant_.plugin;
  call.min_sm = variant_.traits.min_sm, call.uses = context_.options.uses;
  request.instruments = run.instruments;
  request.instruments.walls = layout.walls();
  request.program = variant_.program;
  if (plain_ != nullptr) request.timeout = plain_->timeout;
  if (run.timed) request.timing = *request_;
  if (run.timed || run.instruments.calls > 1) request.timing.outputs = output_ranges(layout);
  return request;
}

std::optional<Finding> Trial::check(const Attempt& attempt, const ImageLayout& layout,
                                    PreparedCase& prepared) {
  const RunReply& reply = attempt.outcome.reply;
  note_words(attempt.outcome.said);
  if (reply.status == RunReply::Status::unavailable) context_.absent[variant_.device] = reply.text;
  for (const AttemptCheck finds : attempt_checks()) {
    std::optional<Finding> finding = finds({attempt, layout, context_.parts});
    if (!finding) continue;
    record_.runs += finding->says_nothing ? 0 : 1;
    if (is_failed(finding->verdict) && (!kept_ || &prepared != &prepared_)) keep(attempt, layout, prepared);
    return finding;
  }
  ++record_.runs;
  return std::nullopt;
}

// What a run that returned says beside its image.
void Trial::note(const RunReply& reply, const PlannedRun& run) {
  const Instruments& with = run.instruments;
  if (series_.runs.empty()) series_.first_threads = reply.threads;
  // a pool that has grown for this run may last until the next region
  if (with.threads != 0 || with.disturbance != 0)
    series_.first_threads = std::max(series_.first_threads, reply.threads);
  if (!series_.runs.empty() && reply.threads > series_.last_threads) ++series_.grown;
  series_.last_threads = reply.threads;
  record_.seconds = std::max(record_.seconds, reply.seconds);
  if (run.timed) *timing_ = reply.timing;
  if (!reply.chosen.empty()) record_.chosen = reply.chosen;
  if (with.calls == 1) return;
  record_.runs += reply.calls - 1;
  if (with.callers == 1)
    series_.uses = reply.uses;  // a thread of its own takes blocks and leaves them for the next
  if (reply.calls < with.calls) {
    record_.detail.push_back(fmt::format("call {} of {} in a row, on the same data, differed from the first",
                                         reply.calls, with.calls));
  } else if (reply.plan_run > 0) {
    record_.detail.push_back(
        fmt::format("run {} of {} of one plan, on the same data, differed from that of another plan",
                    reply.plan_run, with.plan_runs));
  }
}

// The same addresses and other data: a kernel that keeps an answer by address, or from its first call, gives the old one.
std::optional<Finding> Trial::run_twins(const RunRequest& like, const Placement& placement) {
  for (const Twin which : plan_.twins) {
    PreparedCase* const twin = prepared_.twin(which);
    if (twin == nullptr) continue;
    if (std::optional<Finding> finding = run_other(*twin, describe(which), like, placement)) return finding;
  }
  return std::nullopt;
}

// What is kept from one problem meets each of the others, in an order that follows from the case; and, the second time, itself again.
std::optional<Finding> Trial::run_neighbours(const RunRequest& like, const Placement& placement) {
  constexpr const char* kWhat =
      "on the same arrays at the same addresses, with another factor, extent, pad or step; problems that "
      "differ in little were run before. Does it remember a problem by some of its numbers?";
  std::vector<PreparedCase*> all{&prepared_};
  for (int n = 0; PreparedCase* const next = prepared_.neighbour(n); ++n) all.push_back(next);
  if (all.size() == 1) return std::nullopt;
  std::mt19937_64 order(hash_of(case_));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n = all.size(); n > 1; --n) std::swap(all[n - 1], all[order() % n]);
    for (PreparedCase* const other : all) {
      if (std::optional<Finding> finding = run_other(*other, kWhat, like, placement)) return finding;
    }
  }
  return std::nullopt;
}

// A failure is run again in a fresh process: what is wrong there too is not remembered.
std::optional<Finding> Trial::run_other(PreparedCase& other, const char* what, const RunRequest& like,
                                        const Placement& placement) {
  ImageLayout layout(placement);
  RunRequest request = like;
  request.call.views = other.place(layout);
  request.call.image_bytes = layout.bytes(), request.instruments.walls = layout.walls();
  const Attempt attempt = context_.engine.run(request, layout);
  std::optional<Finding> finding = check(attempt, layout, other);
  if (finding && finding->verdict == Verdict::unsupported) return std::nullopt;  // it may decline by value
  if (finding) {
    finding->detail.emplace_back(what);
    return finding;
  }
  // another problem may be the first one that wants threads
  series_.first_threads = std::max(series_.first_threads, attempt.outcome.reply.threads);
  finding = misses_of(other, what, layout, attempt);
  if (!finding) return std::nullopt;
  finding->reason = "new data, old answer? " + finding->reason;
  if (context_.options.isolation != Isolation::variant) return finding;
  context_.engine.forget_workers();
  const Attempt again = context_.engine.run(request, layout);
  if (!again.returned()) return finding;
  std::optional<Finding> alone = misses_of(other, what, layout, again);
  if (!alone) {
    finding->detail.emplace_back("a fresh process gives the right answer on it");
    return finding;
  }
  alone->detail.emplace_back(
      "a fresh process that ran nothing before gives it wrong too: nothing was remembered");
  return alone;
}

// The elements beyond their bounds that an attempt on another case than this one left.
std::optional<Finding> Trial::misses_of(PreparedCase& other, const char* what, const ImageLayout& layout,
                                        const Attempt& attempt) {
  Series alone{other,          variant_.traits, series_.tolerance,
               context_.parts, context_.known,  context_.options.first};
  alone.add(layout, attempt.after, false);
  const Series::Worst worst = alone.worst();
  const Comparison& found = worst.run->outputs[worst.output];
  if (found.misses == 0) return std::nullopt;
  const Segment& s = alone.outputs[worst.output];
  record_.worst = found, record_.output = s.name;
  keep(attempt, layout, other);
  Finding finding{Verdict::fail, describe_miss(s, found.first.front()), {what}};
  for (std::size_t i = 1; i < found.first.size() && i < static_cast<std::size_t>(context_.options.first); ++i)
    finding.detail.push_back(describe_miss(s, found.first[i]));
  return finding;
}

std::optional<Finding> Trial::check_series() {
  if (!series_.outputs.empty()) {
    const Series::Worst worst = series_.worst();
    record_.worst = worst.run->outputs[worst.output];
    record_.output = series_.outputs[worst.output].name;
    shown_ = schedule_of(static_cast<std::size_t>(worst.run - series_.runs.data()));
  }
  record_.differs = series_.differs(), record_.wrote = series_.wrote();
  // emptying the caches takes every core: that pool is the backend's, not the variant's
  if (timing_ != nullptr) series_.first_threads += omp_get_max_threads() - 1;
  // a framework's pools begin, and grow, in any run: of a plug-in only threads count that most of its runs leave
  if (!variant_.plugin.empty() && 2 * series_.grown <= static_cast<int>(series_.runs.size()))
    series_.first_threads = series_.last_threads;
  RunRequest like;
  like.call = {case_.op, variant_.name, case_.dtype, variant_.device};
  like.call.plugin = variant_.plugin, like.program = variant_.program;
  // threads of a framework and of the driver begin when they are first needed, which may be in any run
  if (!variant_.is_of_framework_on_gpu()) {
    series_.wait_for_threads = [this, like](int threads) {
      keep_last();  // the child may die while it is waited for, and the image with it
      return context_.engine.wait_for_threads(like, threads);
    };
  }
  for (const SeriesCheck finds : series_checks()) {
    std::optional<Finding> finding = finds(series_);
    if (!finding) continue;
    keep_last();
    return finding;
  }
  return std::nullopt;
}

void Trial::note_words(const std::string& said) {
  said_ += said;
  if (said_.size() > kWordsKept) said_.erase(0, said_.size() - kWordsKept);
}

void Trial::keep(const Attempt& attempt, const ImageLayout& layout, PreparedCase& prepared) {
  if (!context_.options.on_failure) return;
  const std::int64_t bytes = layout.bytes();
  kept_.emplace(Kept{layout, {attempt.before, attempt.before + bytes}, {}, prepared});
  if (attempt.after != nullptr) kept_->after.assign(attempt.after, attempt.after + bytes);
}

// Where no run is kept, for a failure that none of them shows alone.
void Trial::keep_last() {
  if (!kept_) keep(last_->attempt, last_->layout, prepared_);
}

Record Trial::ended(const Finding& finding) {
  record_.verdict = finding.verdict;
  record_.reason = finding.reason;
  record_.detail.insert(record_.detail.end(), finding.detail.begin(), finding.detail.end());
  if (!is_passed(finding.verdict)) {
    const std::vector<std::string> lines = last_lines(said_, kWordsShown);
    for (const std::string& line : lines)
      record_.detail.push_back("its process printed: " + printable(line, 300));
  }
  record_.wants_device = finding.wants_device;
  if (takes_seeds() && shown_ && is_failed(finding.verdict)) {
    RunOptions alone = context_.options;
    alone.seeds = 0, alone.schedule = shown_;
    record_.repro = repro_line(case_, variant_, alone, RunOptions{}.repeat);
  }
  if (is_failed(finding.verdict) && kept_) {
    context_.options.on_failure({record_, kept_->layout, kept_->before.data(),
                                 kept_->after.empty() ? nullptr : kept_->after.data(), kept_->prepared,
                                 variant_.traits.arithmetic, series_.tolerance.tensor_cores});
  }
  return record_;
}

}  // namespace plumb
