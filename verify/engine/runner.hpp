// Stage, run, fetch, judge, record: one variant on one case, several times over, and everything that must hold of it.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "verify/engine/entry.hpp"
#include "verify/engine/worker.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

enum class Isolation : std::uint8_t { none, variant, run };

/// What a failing record leaves behind, for as long as the call lasts.
struct Failure {
  const Record& record;
  const ImageLayout& layout;          // of the run that is shown
  const std::byte* before = nullptr;  // its image as staged
  const std::byte* after = nullptr;   // and as it was left; null where it did not return
  PreparedCase& prepared;             // expected values and bounds
  Arithmetic arithmetic = Arithmetic::native;
};

struct RunOptions {
  int repeat = 3;       // at least 2: two poisons
  double timeout = 60;  // seconds per run
  Isolation isolation = Isolation::variant;
  int first = 10;                 // misses listed
  std::string program;            // what children are started from; "" uses this executable
  std::string simt_program = {};  // the same for Device::simt (verify/engine/simt_device.hpp)
  bool race = false;              // --race: the CPU executor checks every access
  std::uint64_t stress =
      0;  // --stress: a seed of what disturbs every run, drawn anew for each; 0: nothing does
  bool apart =
      false;  // every array in an allocation of its own, nothing poisoned (make_apart_backend); with Isolation::none
  std::function<void(const Failure&)> on_failure =
      {};                       // told of every failing record, from the thread that judges it
  OomCounter oom_counter = {};  // of kills for want of memory; empty: oom_kills()
};

/// What judging consists of; a planted fault of the judge replaces one of these and must be noticed by the self-test.
struct JudgeParts {
  Comparison (*compare)(const Segment&, const std::byte*, const Expected&, Poison) = plumb::compare;
  Trespass (*find_trespass)(const ImageLayout&, const std::byte*, const std::byte*) = plumb::find_trespass;
  ExitCode (*exit_code)(const Totals&) = plumb::exit_code;
};

/// Judges variants on cases. Not thread-safe: one Runner per thread.
class Runner {
 public:
  explicit Runner(RunOptions options, JudgeParts parts = {});

  /// Checks the case itself: "" when its reference can tell right from wrong, else the reason why not.
  [[nodiscard]] std::string mistrust(const Case&, PreparedCase&);

  [[nodiscard]] Record judge(const Case&, PreparedCase&, const VariantInfo&);

  /// Blocks of the largest grid that a run on this case launches; 0 where no launch was seen (libraries launch their own),
  /// -1 where it did not run, with the reason in `why_not`.
  [[nodiscard]] std::int64_t largest_grid(const Case&, PreparedCase&, const VariantInfo&, Record& why_not);

  /// As judge(), with the clock on the last run: two runs are judged before it, and what its last sample left is judged after it,
  /// all in the same process. `timing` is what the clock said, and worth something only where the record passes.
  [[nodiscard]] Record judge_timed(const Case&, PreparedCase&, const VariantInfo&, const TimingRequest&,
                                   Timing& timing);

  /// Runs in this process are made on `entry` instead of the operator of that name in the list: for tests of the engine.
  void use(const OperatorEntry& entry) { entry_ = &entry; }

  /// Ends the child processes of earlier operators.
  void forget_workers() { workers_.clear(); }

 private:
  struct Run;
  [[nodiscard]] std::string mistrust_of(const Case&, PreparedCase&);
  [[nodiscard]] Record judge(const Case&, PreparedCase&, const VariantInfo&, int repeat, const TimingRequest*,
                             Timing*);
  [[nodiscard]] Record judge_or_skip(const Case&, PreparedCase&, const VariantInfo&, int repeat,
                                     const TimingRequest*, Timing*);
  [[nodiscard]] Worker::Outcome execute(const RunRequest&, const ImageLayout&, std::byte*& after,
                                        int tries = 0);
  [[nodiscard]] bool absent(const VariantInfo&, Record&);
  [[nodiscard]] std::string outlived(const std::string& key, int first_threads, int last_threads, Verdict&);

  [[nodiscard]] std::string judge_twin(PreparedCase&, const VariantInfo&, const RunRequest& like, bool packed,
                                       const Tolerance&, Record&);

  Verdict outcome_of_twin_ = Verdict::pass;  // where judge_twin gave a reason
  RunOptions options_;
  JudgeParts parts_;
  const OperatorEntry* entry_ = nullptr;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
  std::set<std::string> endured_;  // variants and types that had their long row of runs
  std::map<Device, std::unique_ptr<Backend>> backends_;
  LargeArray<std::byte> before_, local_image_;  // of the last run; memory for the next
  std::map<Device, std::string> absent_;        // devices that are not there, and why
};

}  // namespace plumb
