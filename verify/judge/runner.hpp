// Judges variants on cases: attempts, checks, and a record of each.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verify/engine/engine.hpp"
#include "verify/judge/checks.hpp"
#include "verify/judge/trial.hpp"
#include "verify/judge/verdict.hpp"

namespace plumb {

/// Not thread-safe: one Runner per thread. Those of one sweep share their histories.
class Runner {
 public:
  explicit Runner(const RunOptions& options, JudgeParts parts = {},
                  std::shared_ptr<VariantHistories> histories = std::make_shared<VariantHistories>());

  [[nodiscard]] Record judge(const Case&, PreparedCase&, const VariantInfo&);

  /// The same in few runs, for a comparison with another trial.
  [[nodiscard]] Record judge_plainly(const Case&, PreparedCase&, const VariantInfo&, PlainTrial&);

  /// Blocks of the largest grid that a run on this case launches; 0 where no launch was seen (libraries launch their own),
  /// -1 where it did not run, with the reason in `why_not`.
  [[nodiscard]] std::int64_t largest_grid(const Case&, PreparedCase&, const VariantInfo&, Record& why_not);

  /// As judge(), with the clock on the last run: two runs are judged before it, and what its last sample left is judged after it,
  /// all in the same process. `timing` is what the clock said, and worth something only where the record passes.
  [[nodiscard]] Record judge_timed(const Case&, PreparedCase&, const VariantInfo&, const TimingRequest&,
                                   Timing& timing);

  /// Runs in this process are made on `entry` instead of the operator of that name in the list: for tests of the engine.
  void use(const OperatorEntry& entry) { engine_.use(entry); }

  /// As Engine::set_environment().
  void set_environment(std::vector<std::string> variables) { engine_.set_environment(std::move(variables)); }

  /// Ends the child processes of earlier operators.
  void forget_workers() { engine_.forget_workers(); }

 private:
  [[nodiscard]] Record judge_or_skip(const RunOptions&, const Case&, PreparedCase&, const VariantInfo&,
                                     int repeat, const std::function<void(Trial&)>& prepare_trial);
  [[nodiscard]] Record judge_colliding(const Case&, PreparedCase&, const VariantInfo&, const Record& before);

  RunOptions options_;
  JudgeParts parts_;
  Engine engine_;
  std::shared_ptr<VariantHistories> histories_;
  std::map<Device, std::string> absent_;
  KnownCase known_;
};

}  // namespace plumb
