#include "verify/judge/trial.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/sparse_cases.hpp"
#include "verify/engine/simt_device.hpp"
#include "verify/judge/repro.hpp"
#include "verify/judge/thread_sanitizer.hpp"

namespace plumb {
namespace {

// Once per variant and type, on its first small case, many more runs in a row: a kernel may be right for the first ten calls only.
// On the host they are calls of one run, which cost no more than the variant itself; elsewhere runs. The plan of one more call is used for more
// runs. A few of those, on one small case in so many, find what is wrong for its kind alone.
constexpr int kSoakRuns = 16, kSoakCalls = 256, kLaterCalls = 2, kRunsOfPlan = 16, kCasesToOneSoaked = 16;
// On the executor, where a run takes long: the second run of a plan finds counters that the first one has left.
// Kernels that are not rungs are few.
constexpr int kRunsOfPlanOnExecutor = 2, kCasesToOneOnExecutor = 32, kCasesToOneOfFewKernels = 8;
// Where such a kernel has a plan: what the first run leaves in it may matter for some sizes alone.
constexpr int kCasesToOneOfFewPlans = 2;
// With as many threads as grids beyond 16 bits have.
constexpr int kCasesOfManyThreads = 1, kRunsOfManyThreads = 2;
constexpr double kTooLargeForThreads = 5e5;  // sizes of which grids of tiles are too large then, too
// Tiles of such sizes are more than the 65,535 blocks that a grid may have down, along either side of a matrix.
constexpr int kCasesOfGrids = 2, kRunsOfGrids = 1;
// A float does not count beyond: such a case has as few runs as may be.
constexpr double kBeyondFloat = 0x1p24;
constexpr int kRunsBeyondFloat = 2;
// Bytes; larger cases are neither repeated so often, nor is a twin of theirs run.
constexpr std::int64_t kSmallImage = 256 << 10;
constexpr int kCasesWithTwins = 16;
// Of disturbed runs on the host one in so many has one OpenMP thread, after runs with more of them than cores: how many there are is no
// property of a process. With fills of integers alone, since a sum may depend on their number.
constexpr int kRunsToOneOfOneThread = 8;
// How many OpenMP threads a process has is no property of a kernel: tables with a place for each thread, rows and sums that are cut into as
// many parts, and what is left of them; and a team may have fewer threads than could be had. In one case of so many, runs with odd numbers
// have one of these.
constexpr int kNumbersOfThreads[] = {kOneUnawares, 1, 3, 4, 7, 9, 17, 33};
constexpr int kCasesToOneOfOtherThreads = 8;
// The same where races are looked for: a place that is kept for each of up to eight or sixteen threads is shared by the next one.
constexpr int kNumbersOfRacingThreads[] = {9, 17};
constexpr double kShortRun = 5e-3;  // seconds
constexpr double kMarginalRatio = 0.5, kInfinity = std::numeric_limits<double>::infinity();

constexpr Poison kPoisons[] = {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b};

// Outputs with contents would have to be put back between two runs, or be there twice.
bool reads_outputs(const ImageLayout& layout) {
  return std::any_of(layout.segments().begin(), layout.segments().end(),
                     [](const Segment& s) { return s.output && s.source != nullptr; });
}

// Whether an output of it has more rows, or as a vector more elements, than a multiprocessor of the executor's device holds threads.
bool has_many_rows(const ImageLayout& layout) {
  constexpr std::int64_t kThreads = 2048;
  return std::any_of(layout.segments().begin(), layout.segments().end(),
                     [](const Segment& s) { return s.output && (s.rows == 1 ? s.cols : s.rows) > kThreads; });
}

// Whether a matrix of it may have one row or one column.
bool has_one_line(const Case& c) {
  constexpr const char* kExtents[] = {"rows", "cols", "m", "n", "k", "v"};
  return std::any_of(std::begin(kExtents), std::end(kExtents),
                     [&](const char* key) { return c.text_or(key, "") == "1"; });
}

// Another seed for every run, never 0: 0 is no disturbance.
std::uint64_t disturbance_of(std::uint64_t seed, int run) {
  std::uint64_t h = seed * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(run) + 1;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
  return (h ^ (h >> 32)) | 1u;
}

// The bytes of every output, padding included: what a timed run begins with again and again.
std::vector<ByteRange> output_ranges(const ImageLayout& layout) {
  std::vector<ByteRange> ranges;
  for (const Segment& s : layout.segments()) {
    if (s.output && s.elements() > 0) ranges.push_back({s.offset, s.extent()});
  }
  return ranges;
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

std::string history_key(const VariantInfo& variant, Dtype dtype) {
  return fmt::format("{}|{}|{}|{}|{}|{}", variant.op, variant.name, static_cast<int>(variant.device),
                     variant.plugin, variant.program, name(dtype));
}

std::uint64_t hash_of(const Case& c) { return hash_of(c.id()); }

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char letter : text) h = (h ^ static_cast<unsigned char>(letter)) * 0x100000001b3ull;
  return h;
}

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
      repeat_(repeat),
      planned_(repeat),
      record_(record_of(c, variant, context.options, repeat)),
      series_{prepared,
              variant.traits,
              {c.fill, variant.traits.arithmetic, c.dtype},
              context.parts,
              context.options.first} {}

Record Trial::judge() {
  if (const std::optional<Finding> finding = why_not()) return ended(*finding);
  if (timing_ == nullptr && has_size(kBeyondFloat, kInfinity))
    planned_ = std::min(planned_, kRunsBeyondFloat);
  if (const std::optional<Finding> finding = make_runs()) return ended(*finding);
  if (const std::optional<Finding> finding = check_series()) return ended(*finding);
  return ended({record_.worst.max_ratio > kMarginalRatio ? Verdict::marginal : Verdict::pass, {}});
}

// Known before any run.
std::optional<Finding> Trial::why_not() const {
  if (std::optional<Finding> absent = device_absent(variant_, context_.absent)) return absent;
  if (variant_.device == Device::simt) {
    const Cost cost = prepared_.cost();
    const bool beyond_float = may_be_large() && has_size(kBeyondFloat, kInfinity);
    const double usual = context_.options.race ? kMaxSimtRaceWork : kMaxSimtWork,
                 limit = beyond_float ? kMaxSimtWorkBeyondFloat : usual;
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
  for (int r = 0; r < planned_; ++r) {
    if (std::optional<Finding> finding = make_run(r)) {
      shown_ = schedule_of(r);
      return finding;
    }
  }
  if (found_.empty()) return std::nullopt;
  shown_ = found_.schedule();
  return found_.all();
}

std::uint64_t Trial::schedule_of(int r) const {
  return context_.options.schedule.value_or(case_.seed) + static_cast<std::uint64_t>(r);
}

std::optional<Finding> Trial::make_run(int r) {
  // the timed run is placed as the first one, whose bits it must repeat
  const Placement placement{kPoisons[r % 3],
                            r % 2 == 1,
                            variant_.traits.alignment,
                            timing_ != nullptr && r % 2 == 0,
                            parse_layout(case_.text_or("layout", "apart"), case_.id()),
                            has_walls(),
                            gapped_arrays()};
  ImageLayout layout(placement);
  RunRequest request = request_for(r, placement, layout);
  request.walls = layout.walls();
  const Attempt attempt = make_attempt(request, layout);
  const RunReply& reply = attempt.outcome.reply;
  note_places(reply);
  if (std::optional<Finding> finding = check(attempt, layout, prepared_)) {
    if (!takes_seeds() || reply.findings.empty()) return finding;
    found_.add(reply.findings, request.schedule);
    return std::nullopt;
  }
  note(reply, r);
  last_.emplace(Last{attempt, layout});

  const bool small = is_small(layout, reply);
  // with the run after the next; a small case may be given more runs yet, and its placements differ in size
  const bool keep_bits = r >= 2 || r + 2 < planned_ || layout.bytes() <= 4 * kSmallImage;
  series_.add(layout, attempt.after, keep_bits);
  const JudgedRun& run = series_.runs.back();
  std::int64_t misses = 0;
  for (const Comparison& c : run.outputs) misses += c.misses;
  if (misses > kept_misses_) kept_misses_ = misses, keep(attempt, layout, prepared_);
  if (schema_ != nullptr) {
    note_bits();
    if (run.failed) planned_ = r + 1;
    return std::nullopt;
  }
  if (small && r + 1 == repeat_ && series_.can_go_on()) plan_soak();
  if (r == 0 && small && !run.failed && meets_twins()) return run_twins(request, placement);
  return std::nullopt;
}

// Kernels that are not rungs are few: on the CPU executor they have runs that take seconds.
bool Trial::may_be_large() const {
  return variant_.device == Device::simt && !is_of_this_project() && !context_.options.race &&
         schema_ == nullptr;
}

bool Trial::has_size(double above, double below) const {
  constexpr const char* kExtents[] = {"rows", "cols", "m", "n", "k", "v", "c", "h", "w"};
  return std::any_of(std::begin(kExtents), std::end(kExtents), [&](const char* key) {
    const double size = std::strtod(case_.text_or(key, "0").c_str(), nullptr);
    return size > above && size < below;
  });
}

// A grid of more than 65,535 blocks of a warp, or of a block, has more threads than a run may usually ask for: a launch may be refused there, and
// a grid that was cut to 65,535 blocks down leaves rows out. Such a run takes seconds. The first such cases of each type have it.
std::int64_t Trial::threads_of_large_grid() {
  if (!may_be_large()) return 0;
  if (has_size(65535, kTooLargeForThreads))
    return times_before(&VariantHistory::many_threads) < kCasesOfManyThreads ? kManySimtThreads : 0;
  if (!has_size(kTooLargeForThreads, kBeyondFloat)) return 0;
  return times_before(&VariantHistory::grids) < kCasesOfGrids ? kGridOfSimtThreads : 0;
}

// LLVM's OpenMP runtime ends a process where a second native thread has tasks with dependences, whose kernels are right: an end without a
// race says nothing there, and one caller is judged instead.
Attempt Trial::make_attempt(RunRequest& request, const ImageLayout& layout) {
  request.threads_of_device = threads_;
  Attempt attempt = context_.engine.run(request, layout);
  const Worker::Outcome& outcome = attempt.outcome;
  const bool declined = attempt.outcome.kind == Worker::Outcome::Kind::replied &&
                        attempt.outcome.reply.status == RunReply::Status::declined;
  if (declined && request.callers > 1) {  // two need twice as much: what one can do is judged with one
    request.callers = 1;
    return make_attempt(request, layout);
  }
  if (declined && threads_ == 0 && (threads_ = threads_of_large_grid()) != 0) {
    planned_ = std::min(planned_, threads_ == kGridOfSimtThreads ? kRunsOfGrids : kRunsOfManyThreads);
    return make_attempt(request, layout);
  }
  const bool ended = outcome.kind == Worker::Outcome::Kind::timed_out ||
                     (outcome.kind == Worker::Outcome::Kind::died && !race_in(outcome.said));
  if (request.callers == 1) return attempt;
  if (variant_.device != Device::cpu || !ended) {
    ++record_.two_callers;
    return attempt;
  }
  request.callers = 1;
  return context_.engine.run(request, layout);
}

RunRequest Trial::request_for(int r, const Placement& placement, ImageLayout& layout) const {
  StagedViews views = prepared_.place(layout);
  RunRequest request{case_.op,         variant_.name,    case_.dtype,    variant_.device,
                     placement.poison, std::move(views), layout.bytes(), variant_.plugin};
  request.schedule = schedule_of(r);
  request.check_accesses = context_.options.race;
  if (runs_its_plan_twice(r, layout)) request.plan_runs = 2;
  if (has_two_callers(r, layout)) request.callers = 2;
  if (context_.options.stress != 0) {
    request.disturbance = disturbance_of(context_.options.stress, r);
    request.schedule = request.disturbance;
    request.one_thread = is_bitwise(case_.fill) && r % kRunsToOneOfOneThread == 5;
  }
  // runs that are placed alike have plans that are made alike: one that chooses may choose by these numbers, which rounding shows
  request.plan_of_other_numbers = variant_.prepares && r % 2 == 1 && timing_ == nullptr;
  request.threads = threads_of(r);
  // in this process there is no image that is shared
  const bool far = placement.wide == WideArrays::far && !placement.tight && !placement.packed;
  if (far && context_.options.isolation != Isolation::none)
    request.far_rows = variant_.device != Device::gpu, request.callers = 1;
  request.min_sm = variant_.traits.min_sm;
  request.program = variant_.program, request.uses = context_.options.uses;
  if (schema_ != nullptr) {
    request.mutant = schema_->mutant, request.note_places = schema_->mutant == 0;
    request.timeout = schema_->timeout;
  }
  if (r == endurance_) {
    request.calls = calls_, request.plan_runs = runs_of_plan_;
    request.stop_where_differs = variant_.traits.reproducible || case_.fill == Fill::exact;
    request.timing.outputs = output_ranges(layout);
  }
  if (is_timed(r)) {
    request.timing = *request_;
    request.timing.outputs = output_ranges(layout);
  }
  return request;
}

std::optional<Finding> Trial::check(const Attempt& attempt, const ImageLayout& layout,
                                    PreparedCase& prepared) {
  const RunReply& reply = attempt.outcome.reply;
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

bool Trial::is_small(const ImageLayout& layout, const RunReply& reply) const {
  return layout.bytes() <= kSmallImage && reply.seconds < kShortRun;
}

// What a run that returned says beside its image.
void Trial::note(const RunReply& reply, int r) {
  if (r == 0) series_.first_threads = reply.threads;
  // a pool that has grown for this run may last until the next region
  if (threads_of(r) != 0) series_.first_threads = std::max(series_.first_threads, reply.threads);
  series_.last_threads = reply.threads;
  record_.seconds = std::max(record_.seconds, reply.seconds);
  if (is_timed(r)) *timing_ = reply.timing;
  if (!reply.chosen.empty()) record_.chosen = reply.chosen;
  if (r != endurance_) return;
  record_.runs += reply.calls - 1;
  series_.uses = reply.uses;
  if (reply.calls < calls_) {
    record_.detail.push_back(fmt::format("call {} of {} in a row, on the same data, differed from the first",
                                         reply.calls, calls_));
  } else if (reply.plan_run > 0) {
    record_.detail.push_back(
        fmt::format("run {} of {} of one plan, on the same data, differed from that of another plan",
                    reply.plan_run, runs_of_plan_));
  }
}

void Trial::note_places(const RunReply& reply) {
  if (schema_ == nullptr) return;
  for (const SeenMutant& m : reply.places) schema_->places[m.number] |= m.seen;
}
void Trial::note_bits() {
  for (const Segment& s : series_.outputs)
    schema_->bits = hash_of(elements_of(s, last_->attempt.after), schema_->bits);
}

int Trial::times_before(int VariantHistory::*what) {
  return context_.histories.count(history_key(variant_, case_.dtype), what);
}

bool Trial::is_of_this_project() const {
  return variant_.name.starts_with("cpu/") || variant_.name.starts_with("gpu/");
}

// Bases in a run with walls lie as the ends of arrays have it: the tight runs of most cases have them at the smallest alignment.
bool Trial::has_walls() const {
  return variant_.device == Device::cpu && schema_ == nullptr && (hash_of(case_) >> 48) % 4 == 0;
}

// Of a tight run, a bit for each array of values: in half of the cases none has gaps between its rows, in the others any of the first three;
// in a quarter where an extent is 1, which are few. A kernel that takes rows without a gap for one long row, or a column for a vector, may
// have asked one array alone.
std::uint8_t Trial::gapped_arrays() const {
  const std::uint64_t drawn = hash_of(case_) >> 12;
  if (has_one_line(case_) && drawn % 4 != 0) return static_cast<std::uint8_t>(1 + drawn / 4 % 7);
  return drawn % 2 == 0 ? 0 : static_cast<std::uint8_t>(drawn / 2 % 8);
}

// On the executor with every access checked, in one case of eight: nobody waits between two runs of a plan, as a user's loop does not. What
// the host rewrites while the first is in flight is a race.
bool Trial::runs_its_plan_twice(int r, const ImageLayout& layout) const {
  return variant_.device == Device::simt && context_.options.race && r == 0 && !reads_outputs(layout) &&
         (hash_of(case_) >> 44) % 8 == 0;
}

// Of OpenMP on the host; 0: as many as usual. Runs that are placed alike have as many, since a sum may depend on their number.
int Trial::threads_of(int r) const {
  const RunOptions& options = context_.options;
  const bool usual = variant_.device != Device::cpu || r % 2 == 0 || timing_ != nullptr ||
                     schema_ != nullptr || options.stress != 0 || options.isolation == Isolation::none;
  const std::uint64_t drawn = hash_of(case_) >> 20;
  if (usual || drawn % kCasesToOneOfOtherThreads != 0) return 0;
  const std::uint64_t which = drawn / kCasesToOneOfOtherThreads;
  if (options.race) return kNumbersOfRacingThreads[which % std::size(kNumbersOfRacingThreads)];
  return kNumbersOfThreads[which % std::size(kNumbersOfThreads)];
}

// What is kept beside the plan is used by both: on the host seen where races are looked for, on the CPU executor also by what comes of it. In
// few cases of our own variants, which are many; of others also in all cases of many rows, which are few.
bool Trial::has_two_callers(int r, const ImageLayout& layout) const {
  const bool seen =
      variant_.device == Device::simt || (variant_.device == Device::cpu && context_.options.race);
  return seen && r == 0 && !reads_outputs(layout) &&
         (is_of_this_project() ? (hash_of(case_) >> 36) % 16 == 1
                               : has_many_rows(layout) || (hash_of(case_) >> 36) % 4 == 1);
}

// What a variant remembers is a habit of its own, and not of the case: each of its first cases, then one in four.
bool Trial::meets_twins() {
  return times_before(&VariantHistory::twins) < kCasesWithTwins || (hash_of(case_) >> 32) % 4 == 0;
}

// Of those behind the first one.
std::uint64_t Trial::cases_to_one_soaked() const {
  if (variant_.prepares && !is_of_this_project()) return kCasesToOneOfFewPlans;
  if (variant_.device == Device::cpu) return kCasesToOneSoaked;
  return is_of_this_project() ? kCasesToOneOnExecutor : kCasesToOneOfFewKernels;
}

void Trial::plan_soak() {
  if (timing_ != nullptr || context_.options.stress != 0 || context_.options.isolation != Isolation::variant)
    return;
  if (std::all_of(series_.outputs.begin(), series_.outputs.end(),
                  [](const Segment& s) { return s.elements() == 0; }))
    return;  // nothing there that could differ
  const int before = times_before(&VariantHistory::soaked);
  const bool on_host = variant_.device == Device::cpu;
  if (!on_host && before == 0) planned_ += kSoakRuns;
  // several calls of one run put the outputs back in the image: a GPU has a copy of it. With races looked for, other runs do so
  if (variant_.device == Device::gpu || (!on_host && context_.options.race)) return;
  if (before != 0 && (hash_of(case_) >> 52) % cases_to_one_soaked() != 0) return;
  calls_ = on_host && before == 0 ? kSoakCalls : kLaterCalls;
  runs_of_plan_ = on_host ? kRunsOfPlan : kRunsOfPlanOnExecutor;
  endurance_ = planned_++;
}

// The case decides which operands are others, so that it repeats alone.
std::optional<Finding> Trial::run_twins(const RunRequest& like, const Placement& placement) {
  constexpr Twin kOperands[] = {Twin::last_operand, Twin::other_operands, Twin::one_element};
  const Twin operands = kOperands[(hash_of(case_) >> 40) % std::size(kOperands)];
  for (const Twin which : {operands, Twin::problem, Twin::pattern}) {
    if (std::optional<Finding> finding = run_twin(which, like, placement)) return finding;
  }
  return std::nullopt;
}

// The same addresses and other data: a kernel that keeps an answer by address, or from its first call, gives the old one.
std::optional<Finding> Trial::run_twin(Twin which, const RunRequest& like, const Placement& placement) {
  PreparedCase* const twin = prepared_.twin(which);
  if (twin == nullptr) return std::nullopt;
  ImageLayout layout(placement);
  RunRequest request = like;
  request.views = twin->place(layout);
  request.image_bytes = layout.bytes();
  const Attempt attempt = context_.engine.run(request, layout);
  std::optional<Finding> finding = check(attempt, layout, *twin);
  if (finding && finding->verdict == Verdict::unsupported) return std::nullopt;  // it may decline by value
  if (finding) return finding;
  // another problem may be the first one that wants threads
  series_.first_threads = std::max(series_.first_threads, attempt.outcome.reply.threads);

  Series alone{*twin, variant_.traits, series_.tolerance, context_.parts, context_.options.first};
  alone.add(layout, attempt.after, false);
  const Series::Worst worst = alone.worst();
  const Comparison& found = worst.run->outputs[worst.output];
  if (found.misses == 0) return std::nullopt;
  const Segment& s = alone.outputs[worst.output];
  record_.worst = found, record_.output = s.name;
  keep(attempt, layout, *twin);
  finding =
      Finding{Verdict::fail, fmt::format("new data, old answer? {}", describe_miss(s, found.first.front()))};
  finding->detail.push_back(describe(which));
  for (std::size_t i = 0; i < found.first.size() && i < static_cast<std::size_t>(context_.options.first); ++i)
    finding->detail.push_back(describe_miss(s, found.first[i]));
  return finding;
}

std::optional<Finding> Trial::check_series() {
  if (!series_.outputs.empty()) {
    const Series::Worst worst = series_.worst();
    record_.worst = worst.run->outputs[worst.output];
    record_.output = series_.outputs[worst.output].name;
    shown_ = schedule_of(static_cast<int>(worst.run - series_.runs.data()));
  }
  record_.differs = series_.differs();
  // emptying the caches takes every core: that pool is the backend's, not the variant's
  if (timing_ != nullptr) series_.first_threads += omp_get_max_threads() - 1;
  RunRequest like{case_.op, variant_.name,  case_.dtype, variant_.device, Poison::nan_payload, {},
                  0,        variant_.plugin};
  like.program = variant_.program;
  series_.wait_for_threads = [this, like](int threads) {
    keep_last();  // the child may die while it is waited for, and the image with it
    return context_.engine.wait_for_threads(like, threads);
  };
  for (const SeriesCheck finds : series_checks()) {
    std::optional<Finding> finding = finds(series_);
    if (!finding) continue;
    keep_last();
    return finding;
  }
  return std::nullopt;
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
  if (record_.two_callers > 0 && is_failed(finding.verdict))
    record_.detail.emplace_back(
        "in its first run it had two callers at once, each with a plan, outputs and a stream or thread of "
        "its own");
  record_.wants_device = finding.wants_device;
  if (takes_seeds() && shown_ && is_failed(finding.verdict)) {
    RunOptions alone = context_.options;
    alone.seeds = 0, alone.schedule = shown_;
    record_.repro = repro_line(case_, variant_, alone, RunOptions{}.repeat);
  }
  if (is_failed(finding.verdict) && kept_) {
    context_.options.on_failure({record_, kept_->layout, kept_->before.data(),
                                 kept_->after.empty() ? nullptr : kept_->after.data(), kept_->prepared,
                                 variant_.traits.arithmetic});
  }
  return record_;
}

}  // namespace plumb
