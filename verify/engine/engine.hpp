// Makes runs: one request on one image, in a child process or in this one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "verify/engine/backend/backend.hpp"
#include "verify/engine/operator/entry.hpp"
#include "verify/engine/operator/resources.hpp"
#include "verify/engine/process/request.hpp"
#include "verify/engine/process/worker.hpp"
#include "verify/image/image.hpp"
#include "verify/image/staged_images.hpp"

namespace plumb {

/// none: in this process. variant: a child per variant, kept for its next run. run: a child per run.
enum class Isolation : std::uint8_t { none, variant, run };

struct EngineOptions {
  double timeout = 60;  // seconds per run
  Isolation isolation = Isolation::variant;
  std::string program = {};       // what children are started from; "" uses this executable
  std::string simt_program = {};  // the same for Device::simt (verify/engine/process/simt_device.hpp)
  bool apart =
      false;  // every array in an allocation of its own, nothing poisoned (make_apart_backend); with Isolation::none
  OomCounter oom_counter = {};  // of kills for want of memory; empty: oom_kills()
};

/// One run: how it ended, and the image as staged and as it was left. The images are valid until the engine's next run.
struct Attempt {
  Worker::Outcome outcome;
  const std::byte* before = nullptr;
  const std::byte* after = nullptr;  // null where the variant did not return

  /// Whether the variant returned, and what it left can be judged.
  [[nodiscard]] bool returned() const {
    return outcome.kind == Worker::Outcome::Kind::replied && outcome.reply.status == RunReply::Status::ok;
  }
};

/// Not thread-safe: one Engine per thread.
class Engine {
 public:
  explicit Engine(EngineOptions options);

  /// Writes the image, runs, and returns what came back. A run whose process the kernel killed for want of memory is made again.
  /// Throws ResourceError where memory, descriptors or processes run out, Error where no child can be started.
  [[nodiscard]] Attempt run(const RunRequest&, const ImageLayout&);

  /// Waits a moment until the child that served `like` has no more than `threads` threads. Nothing where it has no child of its own.
  [[nodiscard]] std::optional<Worker::Outcome> wait_for_threads(const RunRequest& like, int threads);

  /// Runs in this process are made on `entry` instead of the operator of that name in the list: for tests of the engine.
  void use(const OperatorEntry& entry) { entry_ = &entry; }
  /// "NAME=VALUE": what child processes have in their environment beside this process' own. Ends those that have others.
  void set_environment(std::vector<std::string> variables);
  /// Ends the child processes of earlier operators.
  void forget_workers() { workers_.clear(); }
  /// Ends the child processes and gives the images back.
  void release_memory();

 private:
  // `before`: the image as it is staged.
  [[nodiscard]] Attempt run_here(const RunRequest&, const std::byte* before, std::int64_t bytes);
  [[nodiscard]] Attempt run_in_child(const RunRequest&, const std::byte* before, std::int64_t bytes);
  /// The child for a request, a new one where there is none; `opening` is how a new one opened its plug-in.
  [[nodiscard]] Worker& worker_for(const RunRequest&, Worker::Outcome& opening);

  EngineOptions options_;
  std::vector<std::string> environment_;  // of children
  const OperatorEntry* entry_ = nullptr;
  std::map<std::string, std::unique_ptr<Worker>> workers_;
  std::map<Device, std::unique_ptr<Backend>> backends_;
  StagedImages staged_;
  LargeArray<std::byte> local_image_;  // of the last run; memory for the next
};

/// One text per variant of one operator in one program: what keeps it apart from every other.
[[nodiscard]] std::string variant_key(const RunRequest&);

}  // namespace plumb
