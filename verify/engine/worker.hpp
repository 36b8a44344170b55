// The child process that runs variants, and the wire between it and the judge. The child never sees a reference or a report:
// it is handed staged bytes, runs, and says only how the run went. Everything it may have done wrong is found by the parent.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verify/engine/backend.hpp"
#include "verify/engine/entry.hpp"
#include "verify/engine/resources.hpp"

namespace plumb {

/// How often a run is to be repeated under the clock. Every repetition is timed apart, on outputs put back as they were.
struct TimingRequest {
  int samples = 0;  // 0: run once, time nothing
  bool warm = true, cold = true;
  double budget = 0;  // seconds per kind after which no further sample is begun
  std::vector<ByteRange> outputs;
};

/// What the clock said: seconds per sample, in the order they were taken.
struct Timing {
  std::vector<double> warm, cold;
  double prepare = -1;  // seconds in prepare(); below 0: the variant has none
  std::vector<KernelUse> kernels;
};

struct RunRequest {
  std::string op, variant;
  Dtype dtype = Dtype::f32;
  Device device = Device::cpu;
  Poison poison = Poison::nan_payload;
  StagedViews views;
  std::int64_t image_bytes = 0;   // the image lies in the shared block
  std::string plugin = {};        // the shared library that holds the variant; "" for a registered one
  std::uint64_t schedule = 0;     // of the CPU executor: the order of blocks, warps and lanes follows from it
  bool check_accesses = false;    // of the CPU executor: --race
  std::uint64_t disturbance = 0;  // seed of what --stress does beside the run; 0: nothing
  int min_sm = 0;                 // compute capability * 10 that the variant needs
  bool watch = false;             // note the kernels that are launched, in the reply's timing
  std::int64_t ticket = 0;        // set by Worker::run; the reply carries it back
  TimingRequest timing = {};
  std::string program = {};  // the worker to ask, where it is not the judge's own; not sent
};

/// In place of an operator's name: list the variants of `plugin`.
inline constexpr const char* kListPlugin = "list-plugin";
/// Likewise: list the variants of device space that the child itself holds.
inline constexpr const char* kListVariants = "list-variants";

/// The path of this executable.
[[nodiscard]] std::string this_program();

struct RunReply {
  enum class Status : std::uint8_t {
    ok,
    unsupported,
    error,
    unavailable,
    declined,
    too_old,
    no_resource
  } status = Status::ok;
  std::string text;                   // reason or error
  std::string chosen;                 // Context::explain
  std::string trespass;               // a damaged workspace fence
  std::vector<std::string> findings;  // of instruments
  double seconds = 0;                 // around the variant's call
  int threads = 0;                    // of the child, after the run
  std::int64_t ticket = 0;
  Timing timing;
};

/// Runs one request on an image in this process's memory.
[[nodiscard]] RunReply serve(const RunRequest&, const OperatorEntry&, std::byte* image, Backend&);

/// Set by a handler of Ctrl-C or SIGTERM: runs end at once, as `interrupted`.
inline std::atomic<int> stop_signal{0};

/// The largest image a worker maps: address space, not memory.
inline constexpr std::int64_t kWindowBytes = std::int64_t{64} << 30;

/// Main loop of a child: `verify --worker`. Wire on descriptor 3, image block on descriptor 4. Returns when the wire closes.
int worker_main();

/// An open file; closed when destroyed. -1: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// A child process. Movable handle; killed and reaped when destroyed.
class Worker {
 public:
  /// Starts `program --worker`. Throws ResourceError where descriptors, processes or memory run out, Error where it cannot otherwise.
  explicit Worker(const std::string& program, OomCounter oom_counter = oom_kills);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Memory shared with the child, at least `bytes`, valid until the next call. Throws ResourceError when there is not that much.
  [[nodiscard]] std::byte* image(std::int64_t bytes);

  struct Outcome {
    /// out_of_memory: killed by SIGKILL, and the kernel has counted a kill for want of memory since the child was started.
    enum class Kind : std::uint8_t {
      replied,
      died,
      timed_out,
      interrupted,
      out_of_memory
    } kind = Kind::replied;
    RunReply reply;
    std::string how;  // "killed by SIGSEGV; last words: ..."
  };
  /// Sends the request and waits at most `seconds`. After died or timed_out the worker is gone: alive() is false.
  [[nodiscard]] Outcome run(const RunRequest&, double seconds);
  /// Gives threads that a variant left behind a moment to end, or to be caught writing where they must not.
  /// The reply's `threads` is how many are left; more than `threads` of them is too many.
  [[nodiscard]] Outcome settle(int threads);
  [[nodiscard]] bool alive() const { return pid_ > 0; }
  /// Kills and reaps the child.
  void end();

 private:
  std::string last_words();
  [[nodiscard]] Outcome exchange(RunRequest request, double seconds);

  std::int64_t tickets_ = 0;
  int pid_ = -1, group_ = -1;
  Descriptor wire_, block_, words_;
  std::byte* window_ = nullptr;
  std::int64_t mapped_ = 0;
  OomCounter oom_counter_;
  std::int64_t oom_kills_before_ = 0;
};

/// The entries of this process, in the order of verify/operators.hpp.
[[nodiscard]] const std::vector<std::unique_ptr<OperatorEntry>>& operators();
/// Throws Error with "did you mean" when there is none of that name.
[[nodiscard]] const OperatorEntry& find_operator(std::string_view name);

}  // namespace plumb
