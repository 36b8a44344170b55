// The table of run kinds.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "verify/engine/process/simt_device.hpp"
#include "verify/judge/run_plan.hpp"

namespace plumb {
namespace {

// ---- whom a kind concerns ----

bool on_host(const RunSubject& s) { return s.variant.device == Device::cpu; }
bool on_executor(const RunSubject& s) { return s.variant.device == Device::simt; }
bool is_ours(const RunSubject& s) { return is_of_this_project(s.variant); }
bool of_user(const RunSubject& s) { return s.variant.name.starts_with("user/"); }
bool races(const RunSubject& s) { return s.options.race; }
bool anybody(const RunSubject&) { return true; }

bool has_size(const RunSubject& s, double above, double below) {
  const std::vector<double>& extents = s.prepared.extents();
  return std::any_of(extents.begin(), extents.end(), [&](double n) { return n > above && n < below; });
}
// A matrix of one row, or of one column.
bool has_one_line(const RunSubject& s) {
  const std::vector<double>& extents = s.prepared.extents();
  return std::find(extents.begin(), extents.end(), 1.0) != extents.end();
}
// Outputs with contents would have to be put back between two runs, or be there twice.
bool reads_outputs(const RunSubject& s) {
  return std::any_of(s.arrays.begin(), s.arrays.end(),
                     [](const Segment& a) { return a.output && a.source != nullptr; });
}
// An output has more rows, or as a vector more elements, than a multiprocessor of the executor's device holds threads.
bool has_many_rows(const RunSubject& s) {
  constexpr std::int64_t kThreads = 2048;
  return std::any_of(s.arrays.begin(), s.arrays.end(),
                     [](const Segment& a) { return a.output && (a.rows == 1 ? a.cols : a.rows) > kThreads; });
}
double work_of(const RunSubject& s) {
  const Cost cost = s.prepared.cost();
  return cost.flop + cost.bytes / 4;
}

// Of OpenMP, where nothing else decides how many there are: another number of threads.
bool has_usual_threads(const RunSubject& s) {
  return on_host(s) && !s.timed && !s.plain && s.options.stress == 0 &&
         s.options.isolation != Isolation::none;
}
// Two callers are seen to disturb each other: on the executor by what comes of it, too. What is kept beside the plan is used by both.
bool shows_two_callers(const RunSubject& s) {
  return (on_executor(s) || (on_host(s) && races(s))) && !reads_outputs(s);
}
// Kernels that are not rungs are few: on the CPU executor they have runs that take seconds.
bool may_be_large(const RunSubject& s) { return on_executor(s) && !is_ours(s) && !races(s) && !s.plain; }
// The same child makes all runs, and there is an output that could differ.
bool may_be_repeated(const RunSubject& s) {
  return !s.timed && !s.plain && s.options.stress == 0 && s.options.isolation == Isolation::variant &&
         std::any_of(s.arrays.begin(), s.arrays.end(),
                     [](const Segment& a) { return a.output && a.elements() > 0; });
}
// Several calls of one run put the outputs back in the image. A GPU has a copy of it; with races looked for, other runs do so.
bool may_be_called_again(const RunSubject& s) {
  return may_be_repeated(s) && (on_host(s) || (on_executor(s) && !races(s)));
}
bool may_meet_neighbours(const RunSubject& s) {
  return !s.timed && s.options.stress == 0 && s.options.isolation == Isolation::variant;
}
// What each call holds back is counted in the child, whether or not there is an output.
bool may_grow(const RunSubject& s) {
  return on_host(s) && !s.timed && !s.plain && s.options.stress == 0 &&
         s.options.isolation == Isolation::variant;
}
// A tier's case on the executor, where runs take long: most have two.
bool is_spared(const RunSubject& s) { return on_executor(s) && s.options.spare && !of_user(s); }

// A product that is deep, wide or high, and thin in all else. Kernels made of tiles do for it the work of one that is a tile thick, which on
// the executor takes as long as a hundred others.
bool is_thin_product(const RunSubject& s) {
  constexpr double kBeyondTiles = 4000, kBelowTile = 64;
  const std::vector<double>& extents = s.prepared.extents();
  const auto large = std::count_if(extents.begin(), extents.end(), [](double n) { return n > kBeyondTiles; });
  const auto small = std::count_if(extents.begin(), extents.end(), [](double n) { return n < kBelowTile; });
  return extents.size() >= 3 && large == 1 && small + 1 == static_cast<std::ptrdiff_t>(extents.size());
}
constexpr int kLongSum = 1024;  // terms
bool has_long_sum(const RunSubject& s) {
  for (const ReferenceArray& output : s.prepared.reference().outputs) {
    if (std::any_of(output.terms.begin(), output.terms.end(), [](auto n) { return n >= kLongSum; }))
      return true;
  }
  return false;
}
// Enough work (operations and 4-byte words) for several threads to be at work at once and to be interrupted there, little enough for many runs.
bool may_collide(const RunSubject& s) {
  if (!on_host(s) || s.plain || s.timed || s.options.stress != 0 || s.options.isolation == Isolation::none)
    return false;
  const double work = work_of(s);
  return work >= 1e5 && work <= 2e6;
}

// ---- what a kind sets ----

// At most so many runs, of those that were asked for.
template <int kRuns>
void few_runs(RunPlan& plan, const RunSubject&, std::uint64_t) {
  plan.runs.resize(std::min<std::size_t>(plan.runs.size(), kRuns));
}
void two_runs(RunPlan& plan, const RunSubject& s, std::uint64_t drawn) {
  few_runs<2>(plan, s, drawn);
  plan.repeat = static_cast<int>(plan.runs.size());
}
template <std::int64_t kThreads, int kRuns>
void more_threads(RunPlan& plan, const RunSubject& s, std::uint64_t drawn) {
  plan.threads_of_device = kThreads;
  few_runs<kRuns>(plan, s, drawn);
}

void wall(PlannedRun& run, int, const RunSubject&, std::uint64_t) { run.placement.walled = true; }
void gap(PlannedRun& run, int, const RunSubject&, std::uint64_t drawn) {
  run.placement.gapped = static_cast<std::uint8_t>(1 + drawn % 7);
}
// Runs that are placed alike have as many, since a sum may depend on their number.
void set_threads(PlannedRun& run, int r, const RunSubject&, std::uint64_t drawn) {
  constexpr int kThreads[] = {kOneUnawares, 1, 3, 4, 7, 9, 17, 33};
  if (r % 2 == 1) run.instruments.threads = kThreads[drawn % std::size(kThreads)];
}
// A place that is kept for each of up to eight or sixteen threads is shared by the next one.
void set_racing_threads(PlannedRun& run, int r, const RunSubject&, std::uint64_t drawn) {
  if (r % 2 == 1) run.instruments.threads = drawn % 2 == 0 ? 9 : 17;
}
void use_plan_twice(PlannedRun& run, int r, const RunSubject&, std::uint64_t) {
  if (r == 0) run.instruments.plan_runs = 2;
}
void call_twice_at_once(PlannedRun& run, int r, const RunSubject&, std::uint64_t) {
  if (r == 0) run.instruments.callers = 2;
}
// One that chooses may choose by these numbers, which rounding shows: runs that are placed alike have plans that are made alike.
void plan_otherwise(PlannedRun& run, int r, const RunSubject&, std::uint64_t) {
  run.instruments.plan_of_other_numbers = r % 2 == 1;
}
void part_rows(PlannedRun& run, int, const RunSubject& s, std::uint64_t) {
  if (run.placement.tight || run.placement.packed) return;
  run.instruments.far_rows = s.variant.device != Device::gpu;
  run.instruments.callers = 1;
}
// Another seed for every run, never 0: 0 is no disturbance. How many OpenMP threads there are is no property of a process: one of eight
// runs has one, where a sum does not depend on their number.
void disturb(PlannedRun& run, int r, const RunSubject& s, std::uint64_t) {
  std::uint64_t h = s.options.stress * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(r) + 1;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93ull;
  run.instruments.schedule = run.instruments.disturbance = (h ^ (h >> 32)) | 1u;
  run.instruments.one_thread = is_bitwise(s.c.fill) && r % 8 == 5;
}

void add_twins(RunPlan& plan, const RunSubject&, std::uint64_t drawn) {
  constexpr Twin kOperands[] = {Twin::last_operand, Twin::other_operands, Twin::one_element};
  plan.twins = {kOperands[drawn % std::size(kOperands)], Twin::problem, Twin::pattern};
}
void meet_neighbours(RunPlan& plan, const RunSubject&, std::uint64_t) { plan.meets_neighbours = true; }
// Calls of one run cost no more than the variant itself. The plan of one more call is used for more runs.
template <int kCalls, int kRunsOfPlan>
void add_calls(RunPlan& plan, const RunSubject& s, std::uint64_t) {
  Instruments& with = add_run(plan, s).instruments;
  with.calls = kCalls, with.plan_runs = kRunsOfPlan;
  with.stop_where_differs = s.variant.traits.reproducible || s.c.fill == Fill::exact;
}
// What a kernel keeps beside its plan is used by both callers. The small case may be over before they meet: many calls, and interrupts.
void add_calls_at_once(RunPlan& plan, const RunSubject& s, std::uint64_t drawn) {
  add_calls<32, 1>(plan, s, drawn);
  Instruments& with = plan.runs.back().instruments;
  with.callers = 2, with.disturbance = drawn | 1u;
}
// Where a call takes long: runs, and two calls of one more.
void add_runs(RunPlan& plan, const RunSubject& s, std::uint64_t drawn) {
  for (int n = 0; n < 16; ++n) (void)add_run(plan, s);
  if (may_be_called_again(s)) add_calls<2, 2>(plan, s, drawn);
}
void collide(RunPlan& plan, const RunSubject&, std::uint64_t) { plan.collides = true; }

// ---- the table ----

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A float does not count beyond; sizes of which grids of tiles are more than 65,535 blocks down.
constexpr double kBeyondFloat = 0x1p24, kTooLargeForThreads = 5e5;
constexpr double kMostWorkOfThirdRun = 2e4;

// clang-format off
constexpr std::array kKinds{
    // how many runs
    RunKind{"two runs", Stage::planned, 1, 1, 0, Per::type, "rungs on the executor, in a tier, cases of more than 20,000 operations and words",
            "no third run, of the first one's placement in another schedule: what a rung does by chance it does on many cases",
            [](const RunSubject& s) { return is_spared(s) && work_of(s) > kMostWorkOfThirdRun; }, nullptr, two_runs},
    RunKind{"two runs", Stage::planned, 3, 4, 0, Per::type, "rungs on the executor, in a tier", "the same",
            is_spared, nullptr, two_runs},
    RunKind{"one run", Stage::planned, 3, 4, 0, Per::variant, "rungs on the executor, in a tier, products that are thin in all extents but one",
            "one run; the others have the second, of the other placement and schedule",
            [](const RunSubject& s) { return is_spared(s) && is_thin_product(s); }, nullptr, few_runs<1>},
    RunKind{"few large runs", Stage::planned, 1, 1, 0, Per::type, "an extent beyond 2^24", "two runs",
            [](const RunSubject& s) { return !s.timed && has_size(s, kBeyondFloat, kInfinity); }, nullptr, few_runs<2>},
    // where arrays lie
    RunKind{"walls", Stage::planned, 1, 4, 0, Per::type, "the host", "tight runs: each input ends at a page that may not be touched, and is not to be written",
            [](const RunSubject& s) { return on_host(s) && !s.plain; }, wall, nullptr},
    RunKind{"gaps", Stage::planned, 3, 4, 0, Per::type, "an extent is 1", "tight runs: gaps between the rows of any of the first three arrays of values",
            has_one_line, gap, nullptr},
    RunKind{"gaps", Stage::planned, 1, 2, 0, Per::type, "all", "the same", anybody, gap, nullptr},
    // with whom
    RunKind{"threads", Stage::planned, 1, 8, 0, Per::type, "the host", "odd runs: 1, 3, 4, 7, 9, 17 or 33 OpenMP threads, or 1 where several were promised",
            [](const RunSubject& s) { return has_usual_threads(s) && !races(s); }, set_threads, nullptr},
    RunKind{"threads", Stage::planned, 1, 8, 0, Per::type, "the host with --race", "odd runs: 9 or 17 OpenMP threads",
            [](const RunSubject& s) { return has_usual_threads(s) && races(s); }, set_racing_threads, nullptr},
    RunKind{"plan twice", Stage::planned, 1, 8, 0, Per::type, "the executor with --race", "first run: its plan is used twice, and nothing waits between",
            [](const RunSubject& s) { return on_executor(s) && races(s) && !reads_outputs(s); }, use_plan_twice, nullptr},
    RunKind{"two callers", Stage::planned, 1, 1, 0, Per::type, "the executor, and the host with --race; no rung; many rows", "first run: two callers at once",
            [](const RunSubject& s) { return shows_two_callers(s) && !is_ours(s) && has_many_rows(s); }, call_twice_at_once, nullptr},
    RunKind{"two callers", Stage::planned, 1, 4, 0, Per::type, "the executor, and the host with --race; no rung", "the same",
            [](const RunSubject& s) { return shows_two_callers(s) && !is_ours(s); }, call_twice_at_once, nullptr},
    RunKind{"two callers", Stage::planned, 1, 16, 0, Per::type, "the executor, and the host with --race; rungs", "the same",
            [](const RunSubject& s) { return shows_two_callers(s) && is_ours(s); }, call_twice_at_once, nullptr},
    RunKind{"other plan", Stage::planned, 1, 1, 0, Per::type, "variants with a plan", "odd runs: it is made with other factors, or another bias and cap",
            [](const RunSubject& s) { return s.variant.prepares && !s.timed; }, plan_otherwise, nullptr},
    RunKind{"far rows", Stage::planned, 1, 1, 0, Per::type, "layout=far", "even runs: rows are mapped 2^30 elements and more apart",
            [](const RunSubject& s) {  // in this process there is no image that is shared
              return s.options.isolation != Isolation::none &&
                     parse_layout(s.c.text_or("layout", "apart"), s.c.id()) == WideArrays::far;
            },
            part_rows, nullptr},
    RunKind{"disturbed", Stage::planned, 1, 1, 0, Per::type, "--stress", "all runs: threads that collide, delays, load; one of eight with one OpenMP thread",
            [](const RunSubject& s) { return s.options.stress != 0; }, disturb, nullptr},
    // with what else at the same addresses
    RunKind{"twins", Stage::first_run, 1, 4, 16, Per::type, "small cases", "the same addresses with other operands, another problem, another pattern",
            anybody, nullptr, add_twins},
    RunKind{"neighbours", Stage::first_run, 1, 16, 2, Per::type, "small cases on the host", "the same addresses with problems that differ in one number or extent, shuffled, twice",
            [](const RunSubject& s) { return may_meet_neighbours(s) && on_host(s); }, nullptr, meet_neighbours},
    RunKind{"neighbours", Stage::first_run, 1, 64, 1, Per::type, "small cases elsewhere", "the same",
            may_meet_neighbours, nullptr, meet_neighbours},
    // how often
    RunKind{"calls in a row", Stage::last_run, 0, 1, 1, Per::type, "small cases on the host", "256 calls, and 16 runs of one plan",
            [](const RunSubject& s) { return may_be_repeated(s) && on_host(s); }, nullptr, add_calls<256, 16>},
    RunKind{"calls in a row", Stage::last_run, 0, 1, 1, Per::type, "small cases elsewhere", "16 runs; on the executor two calls, and two runs of one plan",
            [](const RunSubject& s) { return may_be_repeated(s) && !on_host(s); }, nullptr, add_runs},
    RunKind{"calls in a row", Stage::last_run, 0, 1, 1, Per::problem, "small cases on the host; a class of factors and empty arrays", "64 calls",
            [](const RunSubject& s) { return may_grow(s); }, nullptr, add_calls<64, 1>},
    RunKind{"calls at once", Stage::last_run, 0, 1, 1, Per::problem, "small cases on the host without --race; a class of factors; fills of integers, 10,000 operations and words or more",
            "32 calls by two callers at once, whose threads are interrupted",
            [](const RunSubject& s) {
              return may_be_called_again(s) && on_host(s) && !races(s) && !reads_outputs(s) && is_bitwise(s.c.fill) && work_of(s) >= 1e4;
            },
            nullptr, add_calls_at_once},
    RunKind{"calls in a row", Stage::last_run, 1, 2, 0, Per::type, "small cases on the host; variants with a plan, no rung", "two calls, and 16 runs of one plan",
            [](const RunSubject& s) { return may_be_called_again(s) && on_host(s) && s.variant.prepares && !is_ours(s); },
            nullptr, add_calls<2, 16>},
    RunKind{"calls in a row", Stage::last_run, 1, 2, 0, Per::type, "small cases on the executor; variants with a plan, no rung", "two calls, and two runs of one plan",
            [](const RunSubject& s) { return may_be_called_again(s) && on_executor(s) && s.variant.prepares && !is_ours(s); },
            nullptr, add_calls<2, 2>},
    RunKind{"calls in a row", Stage::last_run, 1, 16, 0, Per::type, "small cases on the host", "two calls, and 16 runs of one plan",
            [](const RunSubject& s) { return may_be_called_again(s) && on_host(s); }, nullptr, add_calls<2, 16>},
    RunKind{"calls in a row", Stage::last_run, 1, 8, 0, Per::type, "small cases on the executor; no rung", "two calls, and two runs of one plan",
            [](const RunSubject& s) { return may_be_called_again(s) && on_executor(s) && !is_ours(s); }, nullptr, add_calls<2, 2>},
    RunKind{"calls in a row", Stage::last_run, 1, 32, 0, Per::type, "small cases on the executor; rungs", "the same",
            [](const RunSubject& s) { return may_be_called_again(s) && on_executor(s) && is_ours(s); }, nullptr, add_calls<2, 2>},
    // a grid of more than 65,535 blocks has more threads than a run may usually ask for: a launch may be refused there, and a grid that was
    // cut to 65,535 blocks down leaves rows out
    RunKind{"more threads", Stage::declined, 0, 1, 1, Per::type, "the executor without --race, no rung; an extent of 65,536 to 500,000", "two runs with as many threads as grids beyond 16 bits have",
            [](const RunSubject& s) { return may_be_large(s) && has_size(s, 65535, kTooLargeForThreads); }, nullptr, more_threads<kManySimtThreads, 2>},
    RunKind{"a high grid", Stage::declined, 0, 1, 2, Per::type, "the executor without --race, no rung; an extent of 500,000 to 2^24", "one run with as many threads as grids have that are cut",
            [](const RunSubject& s) {
              return may_be_large(s) && !has_size(s, 65535, kTooLargeForThreads) && has_size(s, kTooLargeForThreads, kBeyondFloat);
            },
            nullptr, more_threads<kGridOfSimtThreads, 1>},
    // integers: a lost term changes bits, whatever the order of the sum and whatever the variant promises. Real numbers: so does the order
    RunKind{"collisions", Stage::passed, 0, 1, 2, Per::type, "the host; fills of integers, 100,000 to 2,000,000 operations and words", "eight runs whose threads are made to collide",
            [](const RunSubject& s) { return may_collide(s) && is_bitwise(s.c.fill); }, nullptr, collide},
    RunKind{"collisions of sums", Stage::passed, 0, 1, 1, Per::type, "the host; reproducible variants, no rung; fill real, a sum of 1,024 terms", "the same",
            [](const RunSubject& s) {
              return may_collide(s) && s.c.fill == Fill::real && s.variant.traits.reproducible &&
                     !s.variant.name.starts_with("cpu/") && has_long_sum(s);
            },
            nullptr, collide},
};
// clang-format on

}  // namespace

std::span<const RunKind> run_kinds() { return kKinds; }

double most_work_on_simt(const RunSubject& s) {
  if (may_be_large(s) && has_size(s, kBeyondFloat, kInfinity)) return kMaxSimtWorkBeyondFloat;
  return races(s) ? kMaxSimtRaceWork : kMaxSimtWork;
}

}  // namespace plumb
