// The runs of one variant on one case, planned before they are made. One table, run_kinds(), says which kinds of runs there are, which cases
// and variants have them, and what they set. A fault that no run shows adds a row to it.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/judge/checks.hpp"
#include "verify/judge/run_options.hpp"

namespace plumb {

/// A number that follows from the id of a case, and is the same wherever the case is judged.
[[nodiscard]] std::uint64_t hash_of(const Case&);
/// FNV-1a.
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

/// How often a kind of runs was open to a variant in a type before. The Runners of a sweep share it: how often something is done does not
/// depend on their number.
class VariantHistories {
 public:
  /// How often this was called before with the same key.
  [[nodiscard]] int count(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return of_[key]++;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> of_;
};

/// One run: where its arrays lie, and what the judge does beside it.
struct PlannedRun {
  Placement placement;
  Instruments instruments;  // without walls, which follow from the layout
  bool timed = false;       // under the clock
};

struct RunKind;
struct RunPlan {
  int repeat = 0;                          // runs that were asked for
  std::vector<PlannedRun> runs = {};       // runs n and n + 2 are placed alike and have as many threads
  std::vector<Twin> twins = {};            // run behind the first run, placed as it is
  bool meets_neighbours = false;           // the same of all PreparedCase::neighbour, shuffled, twice
  std::int64_t threads_of_device = 0;      // that all runs may ask the CPU executor for; 0: as many as usual
  bool collides = false;                   // the same case again, with threads that are made to collide
  std::vector<const RunKind*> kinds = {};  // that hold, in the order in which they came
};

/// What a plan is made for.
struct RunSubject {
  const Case& c;
  const VariantInfo& variant;
  const RunOptions& options;
  PreparedCase& prepared;
  VariantHistories& histories;
  int repeat = 3;                    // runs, where no kind changes it
  bool timed = false;                // the last of them is under the clock
  bool plain = false;                // what costs much or comes by chance is left out
  std::vector<Segment> arrays = {};  // of the case, wherever they are placed
};
/// The arrays of a case, placed anywhere.
[[nodiscard]] std::vector<Segment> arrays_of(const PreparedCase&);

/// When a kind is decided upon.
enum class Stage : std::uint8_t {
  planned,    // before any run
  first_run,  // of a small case whose first run was right
  last_run,   // of a small case, behind the runs that were asked for
  declined,   // the CPU executor has too few threads for the case
  passed      // all runs passed
};

/// What is drawn or counted apart, beside an operator's cases in a type.
enum class Per : std::uint8_t { type, variant, problem };

/// A row of the table. A name may have several rows: the first that concerns the subject and is drawn holds, and the others do not.
struct RunKind {
  const char* name;
  Stage stage;
  int share, of;     // share in `of` cases have it, drawn from the case's id and the name
  int first;         // and the first so many that a variant comes to in one command, in each type
  Per per;           // whether that is anew for each class of problems, or the draw for each variant
  const char* who;   // in words
  const char* sets;  // in words
  bool (*concerns)(const RunSubject&);
  void (*set_run)(PlannedRun&, int run, const RunSubject&, std::uint64_t drawn);  // each run, later ones too
  void (*set_plan)(RunPlan&, const RunSubject&, std::uint64_t drawn);             // once
};
/// In the order in which they are applied.
[[nodiscard]] std::span<const RunKind> run_kinds();

/// The runs before which nothing is known of the variant.
[[nodiscard]] RunPlan plan_runs(const RunSubject&);
/// Adds what the kinds of a later stage ask for.
void extend(RunPlan&, Stage, const RunSubject&);

/// One more run, as all are that no kind has changed.
PlannedRun& add_run(RunPlan&, const RunSubject&);

/// Names of the kinds that this case is drawn for, whatever the variant, each once.
[[nodiscard]] std::vector<std::string> kinds_drawn_for(const Case&);

/// Operations and words of the largest case that the CPU executor judges this variant on.
[[nodiscard]] double most_work_on_simt(const RunSubject&);

/// The schedule of run `run`, of those that the CPU executor knows.
[[nodiscard]] std::uint64_t schedule_of(const RunOptions&, const Case&, int run);
/// Whether a variant belongs to this project: of these there are many, and how they compute is known.
[[nodiscard]] bool is_of_this_project(const VariantInfo&);
/// What tells this run from others of its plan.
[[nodiscard]] Environment environment_of(const PlannedRun&, Device);
/// The bytes of every output, padding included: what a run that is repeated begins with again and again.
[[nodiscard]] std::vector<ByteRange> output_ranges(const ImageLayout&);

}  // namespace plumb
