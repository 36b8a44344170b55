// The one loop under verify, --mutants, --sanitize, --stress and bench: items of work by several threads, each with a Runner of its
// own, until all are done, one throws, stop() is called, or a signal comes.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>

#include "verify/judge/runner.hpp"

namespace plumb {

class Sweep {
 public:
  /// The operator of item i: a Runner ends its child processes where the operator changes.
  using OperatorOf = std::function<std::string(std::size_t)>;
  using Work = std::function<void(Runner&, std::size_t)>;

  Sweep(int workers, RunOptions run) : workers_(workers), run_(std::move(run)) {}

  /// Calls work(runner, i) once for every i below `count`, in order of i as threads are free; with one worker in this thread.
  /// Returns when every thread has ended: null, or the first exception, after which no further item is begun.
  [[nodiscard]] std::exception_ptr run(std::size_t count, const OperatorOf&, const Work&);

  /// No further item is begun. May be called from any thread.
  void stop() { stopped_ = true; }
  /// True after stop(), an exception or a signal. Work of several steps checks it between them.
  [[nodiscard]] bool stopped() const;

 private:
  int workers_;
  RunOptions run_;
  std::atomic<bool> stopped_{false};
};

/// Ctrl-C, SIGTERM and SIGHUP end sweeps after the current run; a second one ends the program at once.
void end_on_interrupt();

/// Checks the environment that all judging depends on. Throws Error: OMP_NUM_THREADS asks for more threads than a process can have.
void check_threads();

/// Starts one child process and asks what it cannot have. Throws ResourceError where none can be started, or not with its threads:
/// every record would be skipped for that. In programs that are their own workers.
void require_child(const RunOptions& run);

}  // namespace plumb
