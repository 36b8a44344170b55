#include "verify/judge/run_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reference/core/random.hpp"

namespace plumb {
namespace {

constexpr Poison kPoisons[] = {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b};

// What a case draws for a name: the draws of two names have nothing to do with each other. Mixed, since the low bits of FNV-1a depend on
// the low ones of each letter alone.
std::uint64_t draw(const std::string& id, std::string_view kind) {
  return mixed(hash_of(id) + mixed(hash_of(kind)));
}

PlannedRun plain_run(int r, const RunSubject& s) {
  PlannedRun run;
  run.placement = {
      kPoisons[r % 3], r % 2 == 1, s.variant.traits.alignment,
      s.timed && r % 2 == 0,  // the timed run is placed as the first one, whose bits it must repeat
      parse_layout(s.c.text_or("layout", "apart"), s.c.id())};
  run.timed = s.timed && r == s.repeat - 1;
  run.instruments.poison = run.placement.poison;
  run.instruments.schedule = schedule_of(s.options, s.c, r);
  run.instruments.check_accesses = s.options.race;
  return run;
}

bool has_name(const RunPlan& plan, std::string_view name) {
  return std::any_of(plan.kinds.begin(), plan.kinds.end(),
                     [&](const RunKind* kind) { return name == kind->name; });
}

std::string history_key(const RunSubject& s, const RunKind& kind) {
  const std::string problems = kind.per == Per::problem ? s.prepared.problem_class() : "";
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", s.variant.op, s.variant.name,
                     static_cast<int>(s.variant.device), s.variant.plugin, s.variant.program, name(s.c.dtype),
                     kind.name, problems);
}

std::uint64_t draw_of(const RunKind& kind, const RunSubject& s, const std::string& id) {
  return draw(kind.per == Per::variant ? id + s.variant.name : id, kind.name);
}

// Gives the runs from `first` on what the kinds that hold ask for.
void set_runs(RunPlan& plan, std::size_t first, const RunSubject& s) {
  if (first == plan.runs.size()) return;
  const std::string id = s.c.id();
  for (const RunKind* kind : plan.kinds) {
    if (kind->set_run == nullptr) continue;
    const std::uint64_t drawn = draw_of(*kind, s, id) / static_cast<std::uint64_t>(kind->of);
    for (std::size_t r = first; r < plan.runs.size(); ++r)
      kind->set_run(plan.runs[r], static_cast<int>(r), s, drawn);
  }
}

}  // namespace

std::uint64_t hash_of(const Case& c) { return hash_of(c.id()); }

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char letter : text) h = (h ^ static_cast<unsigned char>(letter)) * 0x100000001b3ull;
  return h;
}

std::uint64_t schedule_of(const RunOptions& options, const Case& c, int run) {
  return options.schedule.value_or(c.seed) + static_cast<std::uint64_t>(run);
}

bool is_of_this_project(const VariantInfo& variant) {
  return variant.name.starts_with("cpu/") || variant.name.starts_with("gpu/");
}

Environment environment_of(const PlannedRun& run, Device device) {
  constexpr const char* kContents[] = {"NaN", "a small number", "another small number"};
  const Placement& p = run.placement;
  const Instruments& with = run.instruments;
  Environment all{{"poison", kContents[static_cast<int>(p.poison)]},
                  {"rows", with.far_rows ? "far apart"
                           : p.tight     ? "without padding"
                                         : "padded"}};
  if (p.tight && p.gapped != 0) all.emplace_back("gaps between rows", "of some arrays");
  if (p.tight && p.walled) all.emplace_back("inputs that end at a page", "all");
  if (with.threads != 0)
    all.emplace_back("OpenMP threads",
                     with.threads < 0 ? "1, where several were promised" : std::to_string(with.threads));
  if (with.callers > 1) all.emplace_back("callers at once", std::to_string(with.callers));
  if (with.calls > 1) all.emplace_back("calls in a row", std::to_string(with.calls));
  if (with.plan_of_other_numbers) all.emplace_back("plan", "of other factors than the run's");
  if (with.disturbance != 0) all.emplace_back("threads", "interrupted at random");
  if (device == Device::simt) all.emplace_back("schedule", std::to_string(with.schedule));
  return all;
}

std::vector<ByteRange> output_ranges(const ImageLayout& layout) {
  std::vector<ByteRange> ranges;
  for (const Segment& s : layout.segments()) {
    if (s.output && s.elements() > 0) ranges.push_back({s.offset, s.extent()});
  }
  return ranges;
}

std::vector<Segment> arrays_of(const PreparedCase& prepared) {
  ImageLayout layout{Placement{}};
  (void)prepared.place(layout);
  return layout.segments();
}

RunPlan plan_runs(const RunSubject& s) {
  RunPlan plan;
  plan.repeat = s.repeat;
  for (int r = 0; r < s.repeat; ++r) (void)add_run(plan, s);
  extend(plan, Stage::planned, s);
  set_runs(plan, 0, s);
  return plan;
}

PlannedRun& add_run(RunPlan& plan, const RunSubject& s) {
  return plan.runs.emplace_back(plain_run(static_cast<int>(plan.runs.size()), s));
}

void extend(RunPlan& plan, Stage stage, const RunSubject& s) {
  const std::size_t before = plan.runs.size();
  const std::string id = s.c.id();
  std::map<std::string_view, int>
      counts;  // by name: a variant comes to a kind once, however many rows it has
  for (const RunKind& kind : run_kinds()) {
    if (kind.stage != stage || has_name(plan, kind.name) || !kind.concerns(s)) continue;
    const std::uint64_t drawn = draw_of(kind, s, id), of = static_cast<std::uint64_t>(kind.of);
    bool holds = drawn % of < static_cast<std::uint64_t>(kind.share);
    if (kind.first > 0) {
      const std::string key = history_key(s, kind);
      const auto [count, fresh] = counts.try_emplace(key, 0);
      if (fresh) count->second = s.histories.count(key);
      holds = holds || count->second < kind.first;
    }
    if (!holds) continue;
    plan.kinds.push_back(&kind);
    if (kind.set_plan != nullptr) kind.set_plan(plan, s, drawn / of);
  }
  if (stage != Stage::planned) set_runs(plan, before, s);
}

std::vector<std::string> kinds_drawn_for(const Case& c) {
  std::vector<std::string> names;
  for (const RunKind& kind : run_kinds()) {
    if (kind.share == 0 || kind.share == kind.of || kind.per == Per::variant) continue;
    if (draw(c.id(), kind.name) % static_cast<std::uint64_t>(kind.of) >=
        static_cast<std::uint64_t>(kind.share))
      continue;
    if (std::find(names.begin(), names.end(), kind.name) == names.end()) names.emplace_back(kind.name);
  }
  return names;
}

}  // namespace plumb
