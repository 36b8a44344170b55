// infer under mpirun or srun: joins the job, holds the ranks to one command and one set of data, watches them, and ends all
// where one fails.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "reference/parallel/needs.hpp"
#include "reference/parallel/ranks.hpp"
#include "reference/parallel/watch.hpp"
#include "tools/infer.hpp"
#include "tools/model_report.hpp"

namespace plumb {

/// Runs `run(argc, argv, transport)`; transport is null where this process is alone. An exception on any rank is one line with
/// the rank, and ends all of them with kUsage. Rank 0's exit code is the job's. `advice`: what a person can do about too little memory.
using RunOnRank = int (*)(int argc, char** argv, Transport* transport);
[[nodiscard]] int run_in_world(RunOnRank run, int argc, char** argv, const std::string& advice);

/// The ranks of one command, watched from here on. Alone: nothing.
class RankSession {
 public:
  /// `limit_seconds`: how long a rank may be silent or blocked.
  RankSession(Transport* transport, double limit_seconds);
  ~RankSession();
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  [[nodiscard]] Ranks* ranks() { return ranks_.get(); }
  /// Returns on every rank when all have ended their work.
  void end();

 private:
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Ranks> ranks_;
};

/// Errors: a rank was started with other words than rank 0, or sees a file of `paths` with another content. A path that a rank
/// does not see is not compared: rank 0 reads, and sends what the others need.
void require_same_start(Ranks& ranks, const std::vector<std::string>& words,
                        const std::vector<std::string>& paths);

/// Ranks that may run on the same processors share them: fewer threads each, unless OMP_NUM_THREADS says how many.
void share_processors(Ranks& ranks);

/// Gives this rank its device: the ranks of a host take its devices in turn. Returns its name and number. Errors: NoDevice, on all
/// ranks where one of them has none; rank 0's says which and why.
[[nodiscard]] std::string take_device(Ranks& ranks, const InferOptions& o);

/// On rank 0 what is known of every rank, without its finding; elsewhere nothing. `peak_bytes`: this rank's memory. `device`: as
/// take_device() says, or "".
[[nodiscard]] std::vector<RankFacts> gather_facts(Ranks& ranks, const Cuts& rows, std::int64_t peak_bytes,
                                                  const std::string& device);

/// One GPU's memory, in parts with their names: bytes.
struct GpuNeeds {
  std::int64_t rows = 0;  // its inputs
  std::vector<std::pair<const char*, std::int64_t>> parts;
  std::string batches;  // how layers and inputs come, where not all are held; else ""
  [[nodiscard]] std::int64_t bytes() const;
};
/// What --dry-run found.
struct Needs {
  const char* noun;              // what the rows are
  std::vector<RankNeeds> ranks;  // none where only a GPU's memory is counted
  std::vector<GpuNeeds> gpus;    // of --device gpu: one for each rank, or those of one rank
};
/// Prints it, and writes it as JSON where that is asked for. Errors: a GPU's memory is less than what it needs; then no JSON is
/// written.
[[nodiscard]] int report_needs(const InferOptions& o, const Needs& needs);

}  // namespace plumb
