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
#include "verify/judge/run_plan.hpp"
#include "verify/judge/schedule_findings.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// A trial of few runs, whose outputs can be compared with another trial's.
struct PlainTrial {
  double timeout = 0;                        // seconds per run
  std::uint64_t bits = 0xcbf29ce484222325u;  // a hash of every output of every run
};

/// What stays from one trial of a Runner to the next.
struct TrialContext {
  Engine& engine;
  const RunOptions& options;
  const JudgeParts& parts;
  VariantHistories& histories;
  std::map<Device, std::string>& absent;  // devices that are not there, and why
  KnownCase& known;
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

  /// Neither a soak nor a twin is run, and no run after one that fails.
  void make_plain(PlainTrial& plain) { plain_ = &plain; }

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
  [[nodiscard]] std::optional<Finding> make_run(std::size_t r);
  [[nodiscard]] std::optional<Finding> after_run(std::size_t r, const RunRequest&, const ImageLayout&);
  [[nodiscard]] std::optional<Finding> run_twins(const RunRequest& like, const Placement&);
  [[nodiscard]] std::optional<Finding> run_neighbours(const RunRequest& like, const Placement&);
  [[nodiscard]] std::optional<Finding> run_other(PreparedCase&, const char* what, const RunRequest& like,
                                                 const Placement&);
  [[nodiscard]] std::optional<Finding> misses_of(PreparedCase&, const char* what, const ImageLayout&,
                                                 const Attempt&);
  void note_words(const std::string& said);
  [[nodiscard]] std::optional<Finding> check(const Attempt&, const ImageLayout&, PreparedCase&);
  [[nodiscard]] std::optional<Finding> check_series();
  [[nodiscard]] Attempt make_attempt(RunRequest& request, const ImageLayout& layout);
  [[nodiscard]] RunRequest request_for(const PlannedRun&, ImageLayout&) const;
  [[nodiscard]] bool takes_seeds() const {
    return context_.options.seeds > 0 && variant_.device == Device::simt;
  }
  [[nodiscard]] std::uint64_t schedule_of(std::size_t r) const {
    return plumb::schedule_of(context_.options, case_, static_cast<int>(r));
  }
  void note(const RunReply&, const PlannedRun&);
  void keep(const Attempt&, const ImageLayout&, PreparedCase&);
  void keep_last();
  [[nodiscard]] Record ended(const Finding&);

  TrialContext context_;
  const Case& case_;
  PreparedCase& prepared_;
  const VariantInfo& variant_;
  RunSubject subject_;
  RunPlan plan_;
  const TimingRequest* request_ = nullptr;
  Timing* timing_ = nullptr;
  PlainTrial* plain_ = nullptr;
  Record record_;
  Series series_;
  std::optional<Last> last_;
  std::optional<Kept> kept_;
  std::int64_t kept_misses_ = 0;
  std::string said_;                         // by its processes, the end of it
  ScheduleFindings found_;                   // with --seeds
  std::optional<std::uint64_t> shown_ = {};  // the schedule that the failure is of
};

}  // namespace plumb
