// One variant on one case: runs that differ in poison and placement, some on twins of the case, and the checks of all of them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/engine/engine.hpp"
#include "verify/judge/checks.hpp"
#include "verify/judge/schedule_findings.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// What a failing record leaves behind, for as long as the call lasts.
struct Failure {
  const Record& record;
  const ImageLayout& layout;          // of the run that is shown
  const std::byte* before = nullptr;  // its image as staged
  const std::byte* after = nullptr;   // and as it was left; null where it did not return
  PreparedCase& prepared;             // expected values and bounds: the twin's where that is shown
  Arithmetic arithmetic = Arithmetic::native;
};

struct RunOptions : EngineOptions {
  int repeat = 3;      // at least 2: two poisons
  bool spare = false;  // a tier's cases, and nobody chose `repeat`: on the executor most have two runs
  int first = 10;      // misses listed
  bool race = false;   // --race: the CPU executor checks every access
  std::uint64_t stress =
      0;  // --stress: a seed of what disturbs every run, drawn anew for each; 0: nothing does
  int seeds =
      0;  // --seeds: schedules of the CPU executor, all of them run and their findings joined; 0: `repeat`
  std::optional<std::uint64_t> schedule = {};  // --schedule: the first of them; nothing: by the case's seed
  std::int64_t uses =
      0;  // Context::uses: how many runs of a plan variants are told to expect; 0: they are told nothing
  std::function<void(const Failure&)> on_failure =
      {};  // told of every failing record, from the thread that judges it
};

/// A trial of a schema: the mutant that is in force, and what its runs showed.
struct SchemaTrial {
  int mutant = 0;                            // 0: the original
  double timeout = 0;                        // seconds per run
  std::map<int, int> places = {};            // of the original: numbers of mutants, and PlaceSeen
  std::uint64_t bits = 0xcbf29ce484222325u;  // a hash of every output of every run
};

/// What has been done with a variant in a type.
struct VariantHistory {
  int soaked = 0;         // cases on which it was to be called many times in a row
  int twins = 0;          // cases that were small enough for twins to be run
  int collided = 0;       // cases of integers on which its threads were to be made to collide
  int collided_sums = 0;  // likewise of real numbers with a long sum
  int many_threads = 0;   // cases on which the CPU executor was asked for more threads than usual
  int grids = 0;          // and for as many as grids have that are cut
};
/// Of all variants. The Runners of a sweep share it: how often something is done does not depend on their number.
class VariantHistories {
 public:
  /// How often this was called before for the variant of this key and this member.
  [[nodiscard]] int count(const std::string& key, int VariantHistory::*what) {
    const std::lock_guard lock(mutex_);
    return (of_[key].*what)++;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, VariantHistory> of_;
};
/// The key of a variant in a type.
[[nodiscard]] std::string history_key(const VariantInfo&, Dtype);
/// A number that follows from the id of a case, and is the same wherever the case is judged: FNV-1a.
[[nodiscard]] std::uint64_t hash_of(const Case&);
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

/// What stays from one trial of a Runner to the next.
struct TrialContext {
  Engine& engine;
  const RunOptions& options;
  const JudgeParts& parts;
  VariantHistories& histories;
  std::map<Device, std::string>& absent;  // devices that are not there, and why
};

/// A record with its names and its repro line, and no verdict yet.
[[nodiscard]] Record record_of(const Case&, const VariantInfo&, const RunOptions&, int repeat);

/// Why the device of the variant is known not to be there, or nothing.
[[nodiscard]] std::optional<Finding> device_absent(const VariantInfo&,
                                                   const std::map<Device, std::string>& absent);

class Trial {
 public:
  /// `repeat`: runs, at least 2. Everything handed over outlives the trial.
  Trial(const TrialContext&, const Case&, PreparedCase&, const VariantInfo&, int repeat);

  /// Puts the clock on the last run; `timing` is what it said.
  void time_last_run(const TimingRequest& request, Timing& timing) { request_ = &request, timing_ = &timing; }

  /// At most so many runs, of those that `repeat` asks for.
  void run_at_most(int runs) { planned_ = std::min(planned_, runs); }

  /// Puts a mutant in force: neither a soak nor a twin is run, and no run after one that fails.
  void put_in_force(SchemaTrial& schema) { schema_ = &schema; }

  [[nodiscard]] Record judge();

 private:
  // A run as a failure shows it.
  struct Kept {
    ImageLayout layout;
    std::vector<std::byte> before, after;
    PreparedCase& prepared;
  };

  // The last run that returned; its image is valid until the engine's next run.
  struct Last {
    Attempt attempt;
    ImageLayout layout;
  };

  [[nodiscard]] std::optional<Finding> why_not() const;
  [[nodiscard]] std::optional<Finding> make_runs();
  [[nodiscard]] std::optional<Finding> make_run(int r);
  [[nodiscard]] std::optional<Finding> run_twins(const RunRequest& like, const Placement&);
  [[nodiscard]] std::optional<Finding> run_twin(Twin which, const RunRequest& like, const Placement&);
  [[nodiscard]] std::optional<Finding> check(const Attempt&, const ImageLayout&, PreparedCase&);
  [[nodiscard]] std::optional<Finding> check_series();
  [[nodiscard]] Attempt make_attempt(RunRequest& request, const ImageLayout& layout);
  [[nodiscard]] RunRequest request_for(int r, const Placement&, ImageLayout&) const;
  [[nodiscard]] bool takes_seeds() const {
    return context_.options.seeds > 0 && variant_.device == Device::simt;
  }
  [[nodiscard]] std::uint64_t schedule_of(int r) const;
  [[nodiscard]] bool is_timed(int r) const { return timing_ != nullptr && r == repeat_ - 1; }
  [[nodiscard]] bool is_small(const ImageLayout&, const RunReply&) const;
  void note(const RunReply&, int r);
  void note_places(const RunReply&);
  void note_bits();
  [[nodiscard]] int times_before(int VariantHistory::*what);
  [[nodiscard]] bool meets_twins();
  [[nodiscard]] bool is_of_this_project() const;
  [[nodiscard]] bool may_be_large() const;
  [[nodiscard]] bool has_size(double above, double below) const;
  [[nodiscard]] std::int64_t threads_of_large_grid();
  [[nodiscard]] bool has_walls() const;
  [[nodiscard]] bool runs_its_plan_twice(int r, const ImageLayout& layout) const;
  [[nodiscard]] bool has_two_callers(int r, const ImageLayout& layout) const;
  [[nodiscard]] int threads_of(int r) const;
  [[nodiscard]] std::uint8_t gapped_arrays() const;
  [[nodiscard]] std::uint64_t cases_to_one_soaked() const;
  void plan_soak();
  void keep(const Attempt&, const ImageLayout&, PreparedCase&);
  void keep_last();
  [[nodiscard]] Record ended(const Finding&);

  TrialContext context_;
  const Case& case_;
  PreparedCase& prepared_;
  const VariantInfo& variant_;
  int repeat_, planned_;
  int endurance_ = -1;    // the run of many calls; below 0: there is none
  int calls_ = 1;         // of that run
  int runs_of_plan_ = 1;  // of the plan of one more call of it
  const TimingRequest* request_ = nullptr;
  Timing* timing_ = nullptr;
  SchemaTrial* schema_ = nullptr;
  std::int64_t threads_ = 0;  // that runs may ask the CPU executor for; 0: as many as usual
  Record record_;
  Series series_;
  std::optional<Last> last_;
  std::optional<Kept> kept_;
  std::int64_t kept_misses_ = 0;
  ScheduleFindings found_;                   // with --seeds
  std::optional<std::uint64_t> shown_ = {};  // the schedule that the failure is of
};

}  // namespace plumb
