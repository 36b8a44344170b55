// Sparse DNN: the forward pass of the Sparse DNN Graph Challenge. The network, the pipelines that run it, and
// the reference that judges them. Not in ops/, because the answer of a network is a decision: a list of ids; and errors
// double per layer.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/abi.hpp"
#include "reference/core/csr.hpp"
#include "reference/core/csr_source.hpp"
#include "reference/core/matrix.hpp"
#include "reference/core/memory.hpp"
#include "reference/core/row_source.hpp"
#include "reference/models/streamed_copies.hpp"

namespace plumb {

/// Y[l+1] = min(cap, max(0, Z + bias * (Z != 0))),  Z = Y[l] W[l],  for l in [0, layers): the challenge.
/// Y[l+1] = min(cap, max(0, Z + biases[l])) where there are `biases`: any other network.
///
/// Shapes    Y (inputs, neurons), a row is an input; W[l] (neurons, neurons), W(i, j) the edge from neuron i
///           to j. square_network() brings layers of other shapes to this one.
/// Layout    W transposed in CSR: row j of gather[l] lists the neurons i that j gathers from. Columns may be
///           unsorted and may repeat; repeats add up. Rows may be empty.
/// Values    stored in fp32. `bias` goes only where Z is not 0: for bias <= 0 that equals bias everywhere
///           followed by ReLU, for bias > 0 it does not. A row without a non-zero stays so. `biases` go
///           everywhere: one above 0 makes a value of a row without a non-zero. NaN stays NaN and counts as a
///           non-zero. A cap of infinity cuts nothing.
/// Bound     per element of one layer (n + 2) u M, M = sum |y||w| + |bias|, n = terms + 1; the interval is
///           carried at the kinks 0 and cap, and at Z == 0 where bias > 0. Above the largest fp32 number it
///           reaches to infinity.
/// Cost      2 flop per edge and active row; with `biases` every row counts as active.
/// Errors    validate() refuses malformed CSR, weights and biases that are not finite, cap below 0 or NaN, and
///           biases whose quotient by a cap below 1 is beyond fp32.
/// Source    J. Kepner et al., Sparse Deep Neural Network Graph Challenge, HPEC 2019.
struct SparseDnn {
  std::int64_t neurons = 0;
  float bias = 0;
  float cap = 32;
  std::vector<Csr<float>> gather;               // (layers), each (neurons, neurons)
  std::vector<std::vector<float>> biases = {};  // empty, or (layers, neurons): in place of `bias`
  std::shared_ptr<const CsrSource> source =
      {};  // in place of `gather`, which is empty then: layers made one by one

  [[nodiscard]] std::int64_t layers() const {
    return source != nullptr ? source->size() : static_cast<std::int64_t>(gather.size());
  }
  /// gather[l], or the source's layer l, which goes with the last who holds it. The network must outlive it.
  /// Errors: as make_layer().
  [[nodiscard]] std::shared_ptr<const Csr<float>> layer(std::int64_t l) const;
  /// Layer l of the source, each time anew. Errors: those of the source; a layer that validate() would refuse.
  [[nodiscard]] Csr<float> make_layer(std::int64_t l) const;
  /// Bytes of the weights that are held, or that the source takes.
  [[nodiscard]] std::int64_t held_bytes() const;
  /// Edges of layers [first, last): the multiplications that one row costs when it is active throughout.
  [[nodiscard]] std::int64_t edges(std::int64_t first, std::int64_t last) const;
  /// A row of zeros is one after every layer: no bias makes a value of it.
  [[nodiscard]] bool keeps_zero_rows() const;
};

/// Layers of any widths as one network: `gather[l]` (outputs, inputs), `biases[l]` (outputs). Its neurons are as
/// many as the widest layer has; those that a layer lacks have no edge and no bias, so they are 0. Where all
/// biases are one number up to 0, it becomes `bias`, with which rows of zeros cost nothing.
/// Errors: shapes that do not chain, biases of another length.
[[nodiscard]] SparseDnn square_network(std::vector<Csr<float>> gather, std::vector<std::vector<float>> biases,
                                       float cap);
/// The same with one bias where Z is not 0, as the challenge has it.
[[nodiscard]] SparseDnn square_network(std::vector<Csr<float>> gather, float bias, float cap);

/// -0.30, -0.35, -0.40, -0.45 for the challenge's 1024, 4096, 16384, 65536 neurons; -0.30 for other sizes.
[[nodiscard]] float official_bias(std::int64_t neurons);
/// The published number of categories of the official inputs, the same at every depth; 0 for other sizes.
[[nodiscard]] std::int64_t official_category_count(std::int64_t neurons);

/// Layers of a source are validated when they are made.
void validate(const SparseDnn& net);
/// Throws Error unless `y` is a well-formed (any, net.neurons) CSR; of rows that are made, the shape is looked at.
void validate_inputs(const SparseDnn& net, const RowSource& y);
inline void validate_inputs(const SparseDnn& net, const Csr<float>& y) { validate_inputs(net, HeldRows(y)); }

/// What a plan with bounded memory held, and loaded of weights over all batches, in one run.
struct SdnnStreaming : StreamedCopies {
  std::int64_t memory = 0;              // bytes: the bound
  std::int64_t window = 0;              // layers whose weights are held at a time
  std::int64_t batch = 0, batches = 0;  // inputs of the largest batch
  std::int64_t regrouped = 0;           // batches of rows of several of these, active after the first layers
};

/// What a pipeline answers.
struct SdnnRun {
  Csr<float> y;  // (inputs, neurons): the values that are not 0, columns ascending
  std::vector<std::int64_t>
      active;  // (layers run + 1): rows with a non-zero entering each layer, and at the end; with `biases`
               // all rows enter
  std::vector<std::int64_t> absorbed = {};  // (layers run + 1): how many of `active` had left at an absorbing
                                            // state; empty: the plan computes them all
  std::vector<double>
      layer_seconds;   // (layers run): time in each layer, averaged over threads where they work apart
  double seconds = 0;  // the whole of it, conversions and compaction included
  std::optional<SdnnStreaming> streaming = {};  // of a plan with bounded memory
};

/// 1-based ids of the rows with a non-zero, ascending: the answer of the challenge.
[[nodiscard]] std::vector<std::int32_t> categories(const Csr<float>& y);

/// A network made ready for one pipeline. The network must outlive it.
class SdnnPlan {
 public:
  SdnnPlan() = default;
  SdnnPlan(const SdnnPlan&) = delete;
  SdnnPlan& operator=(const SdnnPlan&) = delete;
  virtual ~SdnnPlan() = default;
  /// Carries y (inputs, neurons) through layers [first, last).
  [[nodiscard]] virtual SdnnRun run(const Csr<float>& y, std::int64_t first, std::int64_t last) = 0;
  /// The same, of inputs that may not be held. A plan with bounded memory on the host makes a batch of them at a time;
  /// any other makes all.
  [[nodiscard]] virtual SdnnRun run_rows(const RowSource& y, std::int64_t first, std::int64_t last) {
    return y.held() != nullptr ? run(*y.held(), first, last) : run(y.make(0, y.rows()), first, last);
  }
};

/// What a pipeline assumes of a network; only pipelines of one structure can be compared. The letters are those of
/// the published tables, and still taken by --class.
enum class SdnnStructure : char {
  general = 'A',         // general sparse fp32: indices and values honoured, only active rows are computed
  shared_inputs = 'B',   // output neurons that read the same inputs are found and computed together
  absorbing_rows = 'C',  // rows at an absorbing state leave: beside A or B, by plan_absorbing()
};
/// "general" or "A", and so on. Errors: throws Error on anything else.
[[nodiscard]] SdnnStructure parse_structure(std::string_view word);
[[nodiscard]] const char* to_string(SdnnStructure structure);

struct AbsorbingStates;  // sparse_dnn/absorbing.hpp

/// What of a device, which need not be there, decides how a pipeline holds a network.
struct DeviceLimits {
  std::int64_t shared_bytes = 0;  // of a block, at most
  int sm = 0;                     // 90: compute capability 9.0
};

/// What a plan and its run are counted for.
struct SdnnDeviceUse {
  DeviceLimits limits;
  std::int64_t memory = 0;  // bytes: the bound of a streamed plan; 0: all layers and inputs are held
  bool absorbing = false;   // rows at an absorbing state leave
};

/// Bytes of one device's memory, as its arrays are allocated: a device rounds each up.
struct SdnnDeviceMemory {
  std::int64_t weights = 0;    // in the order of the kernels: all layers, or a window of them
  std::int64_t plan = 0;       // what describes the layers, at most
  std::int64_t inputs = 0;     // in CSR
  std::int64_t panels = 0;     // two buffers of activations
  std::int64_t workspace = 0;  // lists and numbers of active rows, order of steady-state layers
  std::int64_t answer = 0;     // rows of the answer that are fetched together, at most
  std::int64_t window = 0, batch = 0,
               batches = 0;  // layers held; inputs of the largest batch; how many batches
  [[nodiscard]] std::int64_t bytes() const { return weights + plan + inputs + panels + workspace + answer; }
};

/// Counts for inputs of this shape; only the shape and the row pointers of `y` are read. Errors: a bound is too little.
using SdnnDeviceCount = std::function<SdnnDeviceMemory(const Csr<float>& y)>;

/// One way to run a network. The functions are only given networks without `biases`, but for one_bias_unsupported: it is asked about the
/// layers of any network, and where there are `biases` then about one neuron more, without layers.
struct SdnnPipeline {
  const char* name;
  SdnnStructure structure;
  Space space;
  const char* about;
  const char* (*one_bias_unsupported)(const SparseDnn&);  // null: runs; else the reason why not
  std::unique_ptr<SdnnPlan> (*one_bias_plan)(const SparseDnn&);
  int preference = 0;            // of equal structure and space, the highest is the one to take unasked
  const char* former = nullptr;  // a name it had in the version before
  // As one_bias_plan; rows at one of the states, which are those of the first neurons, leave. Null: there is none.
  std::unique_ptr<SdnnPlan> (*one_bias_absorbing_plan)(const SparseDnn&, AbsorbingStates) = nullptr;
  // As one_bias_plan, within so many bytes (sparse_dnn/streamed.hpp). Null: there is none.
  std::unique_ptr<SdnnPlan> (*one_bias_streamed_plan)(const SparseDnn&, const MemoryBound& memory) = nullptr;
  // What one_bias_plan, or the streamed one, takes on a device, in all layers; the device need not be there. Null: it is not
  // counted.
  SdnnDeviceCount (*one_bias_device_count)(const SparseDnn&, const SdnnDeviceUse&) = nullptr;
  SdnnPipeline* next = nullptr;

  // Of any network: sparse_dnn/biases.cpp.
  [[nodiscard]] const char* unsupported(const SparseDnn& net) const;
  /// Errors, as of plan_absorbing(): a network with a `source`.
  [[nodiscard]] std::unique_ptr<SdnnPlan> plan(const SparseDnn& net) const;
  [[nodiscard]] bool has_absorbing_plan() const { return one_bias_absorbing_plan != nullptr; }
  /// The same answer, without computing rows at an absorbing state.
  [[nodiscard]] std::unique_ptr<SdnnPlan> plan_absorbing(const SparseDnn& net, AbsorbingStates states) const;
  [[nodiscard]] bool has_streamed_plan() const { return one_bias_streamed_plan != nullptr; }
  /// The same answer with at most `memory.for_data()` bytes of weights and activations at a time: on the host of this process, on a
  /// device of its memory. The one kind of plan for networks with a `source`.
  /// Errors: two layers and the least batch of inputs take more; run() throws that too, where the inputs matter.
  [[nodiscard]] std::unique_ptr<SdnnPlan> plan_streamed(const SparseDnn& net,
                                                        const MemoryBound& memory) const;
  [[nodiscard]] bool has_device_count() const { return one_bias_device_count != nullptr; }
  /// Memory of a device by the count that plans and runs go by themselves. Errors: a bound is too little for the weights.
  [[nodiscard]] SdnnDeviceCount device_count(const SparseDnn& net, const SdnnDeviceUse& use) const;
};

/// The value of the neuron that carries the biases: the largest power of two up to 1 that `cap` does not cut.
[[nodiscard]] float constant_neuron_value(float cap);

/// Pipelines of other rooms (gpu/models), linked in by RegisterSdnnPipeline; constant-initialised.
inline SdnnPipeline* more_sdnn_pipelines = nullptr;
class RegisterSdnnPipeline {
 public:
  explicit RegisterSdnnPipeline(const SdnnPipeline& pipeline) : pipeline_(pipeline) {
    pipeline_.next = more_sdnn_pipelines;
    more_sdnn_pipelines = &pipeline_;
  }
  RegisterSdnnPipeline(const RegisterSdnnPipeline&) = delete;
  RegisterSdnnPipeline& operator=(const RegisterSdnnPipeline&) = delete;

 private:
  SdnnPipeline pipeline_;
};

/// All that are linked in, the best of each space first.
[[nodiscard]] std::vector<const SdnnPipeline*> sdnn_pipelines();

// The host's, each in the file of its idea.
extern const SdnnPipeline kSdnnCacheBlocked;  // sparse_dnn/cache_blocked.cpp
extern const SdnnPipeline kSdnnCsrSpmm;       // sparse_dnn/layer_by_layer.cpp, as the rest
extern const SdnnPipeline kSdnnDenseAlloc;
extern const SdnnPipeline kSdnnDenseHoisted;
extern const SdnnPipeline kSdnnEigen;

// The reference: sparse_dnn/reference.cpp.

/// Values of some rows with what an honest fp32 computation may have in their place: anything in [low, high],
/// or 0 where `or_zero`. Feature-major: element (row r, neuron j) at [j * rows + r].
struct SdnnBand {
  std::int64_t rows = 0, neurons = 0;
  std::vector<double> value, low, high;
  std::vector<std::uint8_t> or_zero;  // where bias > 0 and Z may be 0

  /// Rows [first, last) of y, known exactly.
  [[nodiscard]] static SdnnBand exact(const Csr<float>& y, std::int64_t first, std::int64_t last);
};

/// Layer l in fp64: the value, and the band that follows from the band of the input and from fp32 rounding in
/// any order.
[[nodiscard]] SdnnBand reference_layer(const SparseDnn& net, std::int64_t l, const SdnnBand& y);

/// How one layer's answer compares with the reference of the same input.
struct SdnnLayerVerdict {
  std::int64_t compared = 0, misses = 0;
  std::int64_t undecided_rows = 0;  // rows that may or may not have a non-zero, within rounding
  double worst =
      0;  // largest |got - want| / bound among elements with room to differ; infinite at a miss without
  std::int64_t row = -1, neuron = -1;  // of the worst, 0-based
  double got = 0, want = 0, low = 0, high = 0;

  void merge(const SdnnLayerVerdict& other);
};

/// Judges rows [first, last) of `got`, the answer of layer l to `y`.
[[nodiscard]] SdnnLayerVerdict judge_layer(const SparseDnn& net, std::int64_t l, const Csr<float>& y,
                                           const Csr<float>& got, std::int64_t first, std::int64_t last);

/// Free-running reference: categories in fp64, and the ids that fp32 rounding may decide either way (an input
/// on an unstable fixed point of the network). `progress` may be empty; it is called with the number of rows done so far.
struct SdnnAnswer {
  std::vector<std::int32_t> ids;          // 1-based, fp64
  std::vector<std::int32_t> undecidable;  // 1-based
};
[[nodiscard]] SdnnAnswer reference_run(const SparseDnn& net, const RowSource& images,
                                       const std::function<void(std::int64_t rows_done)>& progress = {});

[[nodiscard]] inline SdnnAnswer reference_run(const SparseDnn& net, const Csr<float>& images) {
  return reference_run(net, HeldRows(images));
}

/// Runs `plan` layer by layer and judges each layer on the very input it had (teacher forcing).
struct SdnnCheck {
  std::vector<SdnnLayerVerdict> layers;
  std::vector<std::int32_t> ids;  // 1-based, of the layer-by-layer run
  std::int64_t unsaturated = 0;   // final values that are neither 0 nor cap
};
[[nodiscard]] SdnnCheck check_run(const SparseDnn& net, SdnnPlan& plan, const RowSource& images,
                                  const std::function<void(std::int64_t rows_done)>& progress = {});
[[nodiscard]] inline SdnnCheck check_run(const SparseDnn& net, SdnnPlan& plan, const Csr<float>& images) {
  return check_run(net, plan, HeldRows(images));
}

}  // namespace plumb
