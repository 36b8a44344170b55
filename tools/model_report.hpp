// What infer found out about one run of one pipeline. One set of facts: print() and to_json() only read it, so that text
// and JSON cannot disagree.
#pragma once
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reference/models/gcn/judge.hpp"
#include "reference/models/sparse_dnn/judge.hpp"

namespace plumb {

/// Where the time went, in seconds.
struct ModelTimes {
  double load = 0;
  std::optional<double> plan;  // of a pipeline that plans apart from its runs
  std::optional<double> cold;  // the first run, where others were timed after it
  std::vector<double> runs;    // what is reported is their median
  [[nodiscard]] double inference() const;
};

struct SdnnFacts {
  std::string weights_from, images_from, searched;  // searched: "" where something was found
  std::int64_t neurons = 0, layers = 0, edges = 0, inputs = 0, input_nonzeros = 0;
  float bias = 0, cap = 0;
  bool bias_of_each_neuron = false;       // in place of `bias`
  std::vector<std::int64_t> widths;       // (layers + 1) of a network of the user's; of the challenge's empty
  std::vector<std::int64_t> active_rows;  // (layers + 1)
  std::vector<std::int64_t>
      absorbed_rows;                  // (layers + 1): of these, at an absorbing state; empty: all computed
  std::vector<double> layer_seconds;  // (layers)
  double active_edges = 0;            // computed
  std::string list;                   // what the ids were compared with, in words
  bool sampled_by_rank = false;       // a sample: the first inputs of each rank
  std::optional<SdnnStreaming> streaming;  // of --memory
  SdnnJudgement judgement;
};

/// What --reorder did, and what it cost, once per graph.
struct GcnReorderFacts {
  std::string order;
  double seconds = 0;
};

/// What lies between the parts of a graph.
struct GcnBetween {
  std::int64_t entries = 0;  // of A
  std::int64_t bytes = 0;    // of rows that are sent in one inference
};
/// How the graph was divided over ranks, and what dividing it cost, once per graph.
struct GcnPartitionFacts {
  std::string by;
  double seconds = 0;
  GcnBetween between, by_rows;
};

struct GcnFacts {
  std::string from, graph;                       // in words; graph: how --graph became A, or empty
  std::vector<std::int64_t> widths;              // (layers + 1)
  std::optional<std::int64_t> features_entries;  // of X in CSR; nothing: X is dense
  std::int64_t vertices = 0, entries = 0, features = 0, layers = 0;
  std::vector<std::string> orders;  // of each layer; of a GAT its heads
  const char* orders_are = "order by cost";
  std::int64_t layers_from_degrees = 0;  // in so many layers the values of A were not read
  double bytes_of_a = 0;                 // of one inference: columns, and values or scales
  double products = 0;
  double normalise_seconds = 0;  // of the edges, which the contest counts
  std::optional<GcnReorderFacts> reorder;
  std::optional<GcnPartitionFacts> partition;  // over ranks
  GcnDeviceTimes device;                       // repeats 0: the run was on the host
  std::optional<GcnStreaming> streaming;       // of --memory
  std::vector<GcnStep> steps;
  double maximum_row_sum = 0;
  int row_sum_digits = 0;
  bool contest = false;
  GcnJudgement judgement;
};

/// One of several ranks.
struct RankFacts {
  std::string host, device;          // device: "" where the rank computes on the CPU
  std::int64_t first = 0, rows = 0;  // inputs or vertices: its part
  bool consecutive = true;           // else `first` is no number of a vertex
  std::int64_t sent = 0, received = 0, peak_bytes = 0;
  std::string finding;  // how its part differs; "": it does not
};

/// What a GPU had of a graph, and exchanged with the others in one inference.
struct GpuGraphFacts {
  std::int64_t first = 0, entries = 0;  // its first vertex; entries of A in its rows
  std::int64_t sent = 0, received = 0;  // bytes
  double kernels = 0, waiting = 0;      // seconds of all steps; of these, for rows of the others
  bool direct = true;                   // copies go from GPU to GPU
  bool consecutive = true;              // else `first` is no number of a vertex
};

/// One of the GPUs that --gpus dealt the inputs to, or divided the graph over.
struct GpuFacts {
  std::string name;
  std::int64_t inputs = 0, peak_bytes = 0;  // inputs or vertices; peak_bytes: of its memory
  double seconds = 0;                       // of its inference, in the last run
  std::string finding;                      // how its part differs; "": it does not
  std::optional<GpuGraphFacts> graph;       // of a GCN
};

struct ModelReport {
  bool verbose = false;
  std::string pipeline, about, device, dtype;        // dtype: of the GCN
  SdnnStructure structure = SdnnStructure::general;  // of the sparse DNN
  bool on_host = true;
  int threads = 0;
  ModelTimes times;
  std::int64_t peak_bytes = 0;
  std::vector<RankFacts> ranks;   // empty: this process alone
  std::vector<GpuFacts> gpus;     // empty: without --gpus
  double host_to_host = 0;        // of `gpus`, in the last run: seconds from inputs to answer
  std::optional<SdnnFacts> sdnn;  // one of the two
  std::optional<GcnFacts> gcn;

  /// The answer differs from something it was compared with.
  [[nodiscard]] bool differs() const;
};

[[nodiscard]] std::string show_partition(const GcnPartitionFacts& partition, std::int64_t entries);
/// "inputs 30001 to 45000" of `first` (from 0) and `rows`, or "no inputs".
[[nodiscard]] std::string show_rows(const char* noun, std::int64_t first, std::int64_t rows);
/// How a rank's part differs, "" where it does not.
[[nodiscard]] std::string finding_of(const SdnnJudgement& part);
/// The same of the inputs in `rows`, in ascending order, which one of the GPUs had, from the judgement of all.
[[nodiscard]] std::string finding_of(const SdnnJudgement& all, const std::vector<std::int64_t>& rows);
/// Of the rows that `has` is true of.
[[nodiscard]] std::string finding_of(const GcnJudgement& all, const std::function<bool(std::int64_t)>& has);

/// For a person. `to`: stdout, or stderr where the JSON takes stdout.
void print(const ModelReport& report, std::FILE* to);
[[nodiscard]] nlohmann::json to_json(const ModelReport& report);

}  // namespace plumb
