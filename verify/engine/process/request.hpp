// What the judge asks of the process that runs variants, and what that process answers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/engine/backend/backend.hpp"
#include "verify/engine/operator/invocation.hpp"
#include "verify/engine/process/instruments.hpp"
#include "verify/engine/process/resource_use.hpp"

namespace plumb {

/// How often a run is to be repeated under the clock. Every repetition is timed apart, on outputs put back as they were.
struct TimingRequest {
  int samples = 0;  // 0: run once, time nothing
  bool warm = true, cold = true;
  double budget = 0;  // seconds per kind after which no further sample is begun
  // seconds: a run that is slower when the variant is warm is the only sample; 0: all are taken
  double give_up_above = 0;
  std::vector<ByteRange> outputs;
};

/// What the clock said: seconds per sample, in the order they were taken.
struct Timing {
  std::vector<double> warm, cold;
  bool given_up = false;  // one run was above TimingRequest::give_up_above, and is the only sample
  double prepare = -1;    // seconds in prepare(); below 0: the variant has none
  std::vector<KernelUse> kernels;
};

/// One run of one variant on one image.
struct RunRequest {
  Invocation call;
  Instruments instruments;
  TimingRequest timing = {};
  std::int64_t sequence = 0;  // set by Worker::run; the reply carries it back
  std::string program = {};   // the worker to ask, where it is not the judge's own; not sent
  double timeout = 0;         // seconds, where not the engine's; not sent
};

/// In place of an operator's name: list the variants of `plugin`.
inline constexpr const char* kListPlugin = "list-plugin";
inline constexpr double kPluginOpening = 120;  // seconds at most that it may take
/// Likewise: wait until no more than `image_bytes` threads are left, or two seconds have passed.
inline constexpr const char* kWaitForThreads = "wait-for-threads";
/// Likewise: whether the child can have what every variant may take for granted. The reply's text is what missing_resources() says.
inline constexpr const char* kMissingResources = "missing-resources";
/// Likewise: list the variants of device space that the child itself holds.
inline constexpr const char* kListVariants = "list-variants";

/// How a run went. What it wrote is not said here: the judge looks for itself.
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
  std::string workspace_damage;       // a workspace whose guards were written
  std::vector<std::string> findings;  // of instruments
  double seconds = 0;                 // around the variant's call
  int threads = 0;                    // of the child, after the run
  std::int64_t sequence = 0;          // of the request
  Timing timing;
  int calls = 1;                       // that were made
  int plan_run = 0;                    // of the runs of one plan, the first that differed; 0: none
  std::vector<ResourceUse> uses = {};  // after some of many calls; none where nothing counts the heap
};

}  // namespace plumb
