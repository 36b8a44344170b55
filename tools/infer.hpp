// infer's three commands, and what they share: options as parsed, the devices, timed runs. Each command is load -> plan ->
// run -> judge -> report.
#pragma once
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "datasets/networks/gcn_data.hpp"
#include "datasets/networks/sdnn_data.hpp"
#include "reference/core/abi.hpp"
#include "reference/models/gcn/partition.hpp"
#include "reference/models/gcn/reorder.hpp"
#include "reference/parallel/ranks.hpp"
#include "tools/model_report.hpp"

namespace plumb {

/// What all commands take.
struct InferOptions {
  std::string pipeline = "auto", device = "cpu";
  std::int64_t repeat = 1;
  bool check = false, verbose = false;
  std::string json;
  double rank_timeout = 25;  // seconds
  bool dry_run = false;
  std::int64_t ranks = 1;     // of --dry-run
  std::string chip = "H200";  // of --dry-run: the GPU whose memory is meant
  std::string gpus;           // "all", or how many; "": one, as it always was
  std::int64_t drawn = 0;     // networks that nobody chose; 0: one network, that of the other options
  std::uint64_t seed = 1;     // of `drawn`
  std::int64_t memory =
      0;  // bytes: of a device for operands or, of a sparse DNN on the CPU, of the process; 0: no bound
};

struct SdnnOptions : InferOptions {
  SdnnRequest data;
  std::string network;  // a network.json or its folder: in place of the challenge's
  std::string out;
  bool bias_given = false;
  float bias = 0, cap = 32;
  std::string structure = "general";  // or its letter
  std::string absorbing = "off";      // "on": rows at an absorbing state leave
  std::int64_t program_memory = 0;    // of `memory`, bytes that the program takes before it loads anything
};
/// Judges `options.drawn` drawn networks in every pipeline of the device or of the CPU, or in `options.pipeline`, with and without rows
/// at an absorbing state.
[[nodiscard]] int infer_drawn_sdnns(const SdnnOptions& options);
/// `ranks`: null where this process is alone. The exit code is rank 0's.
[[nodiscard]] int infer_sdnn(const SdnnOptions& options, Ranks* ranks);
/// Files and folders that a run reads and that are there; empty where they are not found.
[[nodiscard]] std::vector<std::string> inputs_of(const SdnnOptions& options);

struct GcnOptions : InferOptions {
  GcnRequest data;
  std::string dtype = "auto";
  std::string edge_values = "auto";
  VertexOrder reorder = VertexOrder::given;
  std::optional<VertexPartition> partition;  // of several ranks; not given: rows
  std::string out;
};
[[nodiscard]] int infer_gcn(const GcnOptions& options, Ranks* ranks);
/// Judges `options.drawn` drawn networks, each watched by itself; its findings come after its command.
[[nodiscard]] int infer_drawn_gcns(const GcnOptions& options);
[[nodiscard]] std::vector<std::string> inputs_of(const GcnOptions& options);

struct GatOptions : InferOptions {
  GcnRequest data;  // graph, features and weights alone
  std::string dtype = "f32", activation = "elu", out;
};
[[nodiscard]] int infer_gat(const GatOptions& options);

/// The device asked for is not there: one line `skip: ...`, and kNoDevice.
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline constexpr const char* kNoGpuSide =
    "this infer was built without a GPU side (no CUDA compiler at configure time)";

/// Whose pipelines run: gpu and simt are both Space::device; the program infer_simt has the CPU executor there.
[[nodiscard]] inline Space space_of(const InferOptions& o) {
  return o.device == "cpu" ? Space::host : Space::device;
}

/// Errors: NoDevice, where `o.device` is one of which there is none here.
void require_device(const InferOptions& o);
/// How many devices --gpus asks for; 0 without it. Errors: NoDevice; --gpus without a device, with more than there are, or where nothing
/// is run.
[[nodiscard]] int devices_of(const InferOptions& o);

/// Errors: --memory comes with what it excludes: --gpus, several ranks, or one of `others` that is true.
void require_memory_alone(const InferOptions& o, const Ranks* ranks,
                          std::initializer_list<std::pair<bool, const char*>> others);

/// True in the program infer_simt, whose device is the CPU executor (infer_executor.cpp; else infer_no_executor.cpp).
[[nodiscard]] bool has_executor();
/// Runs `run()`, in infer_simt with every access of kernels watched: findings go to stderr, and make kFailed of
/// kOk.
[[nodiscard]] int watched(const std::function<int()>& run);

/// Runs of pipelines on drawn networks, and those beyond a bound or ended by an error.
struct DrawnTally {
  std::int64_t runs = 0, failed = 0;
};
/// Judges `count` networks, each watched by itself: prints what repeats it, calls `judge`, which prints its findings and counts them, and
/// says at the end how many failed. The exit code.
[[nodiscard]] int judge_drawn_networks(std::FILE* to, std::int64_t count,
                                       const std::function<std::string(std::int64_t)>& command_of,
                                       const std::function<void(std::int64_t, DrawnTally&)>& judge);

/// Where messages for a person go: to standard error where the JSON is written to standard output.
[[nodiscard]] std::FILE* output_for_words(const InferOptions& o);

/// Errors: more multiplications on the CPU executor than it does in some minutes.
void require_executor_can(const InferOptions& o, double products);

/// Errors, before any work: a file that cannot be written.
void require_outputs(const InferOptions& o);
void write_json(const std::string& path, const nlohmann::json& json);

/// Runs `run()`, whose result has `seconds`, `o.repeat` times after one run to warm up, and returns the last result. There
/// is no run to warm up where it would take long, or on the CPU executor, whose times mean nothing.
template <class Run>
[[nodiscard]] auto timed_runs(const InferOptions& o, ModelTimes& times, Run&& run) {
  constexpr double kLong = 2;  // seconds
  auto result = run();
  std::int64_t left = o.repeat;
  if (result.seconds < kLong && o.device != "simt") {
    times.cold = result.seconds;
  } else {
    times.runs.push_back(result.seconds);
    --left;
  }
  for (; left > 0; --left) {
    result = {};  // its memory is free for the next
    result = run();
    times.runs.push_back(result.seconds);
  }
  return result;
}

}  // namespace plumb
