// GCN: the forward pass of a graph convolutional network of any number of layers, and the reference that judges
// its logits. Stands apart from ops/ because it is a composition: the bound travels through all layers, and
// accuracy decides nothing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/cases/case_id.hpp"
#include "reference/core/abi.hpp"
#include "reference/core/matrix.hpp"
#include "reference/models/streamed_copies.hpp"

namespace plumb {

/// H0 = X, Hl = ReLU(A Hl-1 Wl + bl) for l from 1, without the ReLU in the last layer: Z. Answer LogSoftmax(Z) by rows.
///
/// Shapes    A (n, n), normalised by the caller; X (n, F0), dense or CSR; Wl (Fl-1, Fl); bl (Fl) or empty.
/// Layout    CSR as in spmm: columns may be unsorted and may repeat. Dense is row-major.
/// Order     A (X W) and (A X) W give the same Z within rounding; by_cost takes the one with fewer
///           multiplications.
/// Values    NaN passes ReLU; a row of Z of which one is NaN or +Inf answers NaN, a row of -Inf too.
/// Bound     |A| (|X| |W1|) + |b1| carried through all layers, (n + 2) u of it per sum of n terms,
///           which may be equal and drift (reference_gcn). It grows with every layer; that of one layer on a
///           given input (reference_layer) does not.
/// Cost      2 flop per product of the cheaper order (gcn_products).
/// Errors    validate() refuses shapes that do not fit and malformed CSR.
/// Source    T. N. Kipf and M. Welling, Semi-supervised classification with graph convolutional networks,
///           ICLR 2017.
template <class T>
struct Gcn {
  Csr<T> a;                            // (n, n)
  bool sparse_features = false;        // which of the two holds X
  Csr<T> x_sparse;                     // (n, F0)
  Dense<T> x_dense;                    // (n, F0)
  std::vector<T> scales;               // (n), or empty: by them A needs no values (degree_scales)
  std::vector<Dense<T>> weights;       // at least one
  std::vector<std::vector<T>> biases;  // one per weights, each empty or as long as its columns

  [[nodiscard]] std::int64_t vertices() const { return a.rows; }
  [[nodiscard]] std::int64_t features() const { return sparse_features ? x_sparse.cols : x_dense.cols; }
  [[nodiscard]] std::int64_t classes() const { return weights.empty() ? 0 : weights.back().cols; }
};

/// The network of what was loaded or drawn: members of these names (datasets/networks/gcn_data.hpp).
template <class T, template <class> class Parts>
[[nodiscard]] Gcn<T> network_of(Parts<T>&& parts) {
  Gcn<T> net;
  net.a = std::move(parts.a);
  net.sparse_features = parts.sparse_features;
  net.x_sparse = std::move(parts.x_sparse);
  net.x_dense = std::move(parts.x_dense);
  net.weights = std::move(parts.weights);
  net.biases = std::move(parts.biases);
  return net;
}

template <class T>
void validate(const Gcn<T>& net);

/// The A^ of a graph without weights is D^-1/2 P D^-1/2 with a pattern P and the lengths D of its rows. This is the diagonal of D^-1/2
/// where every value of `a` is within 8 u (fp64) of the product of its row's and its column's, and empty where one is not. A pipeline may
/// scale rows by it in place of reading a.val.
[[nodiscard]] std::vector<double> degree_scales(const Csr<double>& a);
/// Gives a network its scales, if it has any and its rows are long enough for them to pay.
void set_scales(Gcn<double>& net);

enum class GcnOrder : std::uint8_t { by_cost, transform_first, aggregate_first };

/// Multiplications of layer l (from 0) in one order: A (X W) or (A X) W. by_cost: the smaller.
template <class T>
[[nodiscard]] double gcn_products(const Gcn<T>& net, std::int64_t l, GcnOrder order);
/// The order by_cost stands for in layer l.
template <class T>
[[nodiscard]] GcnOrder cheaper_order(const Gcn<T>& net, std::int64_t l);
[[nodiscard]] const char* to_string(GcnOrder order);

struct GcnStep {
  std::string name;
  double seconds = 0;
};
/// The parts of a run's time on a device; seconds. For a run on the host `repeats` is 0, and the others do not apply.
struct GcnDeviceTimes {
  std::int64_t repeats = 0;  // inferences that were timed after one to warm up
  double plan = 0;           // formats, libraries' analysis, choice of kernels: once per graph and shape
  double upload = 0;         // A, X, W and biases to the device
  double kernels = 0;        // all steps, each its median: marks between them
  double resident = 0;       // one inference, operands and answer in device memory: no marks within
  std::vector<double> inferences;  // of each of the `repeats`, on one device; `resident` is their mean
  double download = 0;             // LogSoftmax to the host
  double waiting = 0;              // of `kernels`: for rows that other devices compute
};

/// How a layer is computed within bounded memory: `blocks` blocks of its operand's columns are there one after the other.
struct GcnStreamedLayer {
  GcnOrder order = GcnOrder::transform_first;
  std::int64_t columns = 0, blocks = 0;  // columns: of a block, the most, with those that fill up packs
  bool direct =
      false;  // the layer before computes the operand; else X, or the hidden layer, comes from the host
};
/// What a run within bounded memory held, and copied: to the device, and back.
struct GcnStreaming : StreamedCopies {
  std::int64_t memory = 0;        // bytes: the bound
  std::int64_t pieces = 0;        // of rows, which are copied and computed one after the other
  bool holds_a = false;           // else A is copied once for each block of columns
  std::int64_t stored_bytes = 0;  // of these copies, to the host: hidden layers and the answer
  std::vector<GcnStreamedLayer> layers;
};

template <class T>
struct GcnRun {
  std::vector<Dense<T>> hidden;  // (n, Fl) after ReLU: of every layer but the last
  Dense<T> logits;               // (n, classes): Z
  Dense<T> log_softmax;          // (n, classes)
  std::vector<GcnStep> steps;
  std::int64_t layers_from_degrees = 0;  // in so many layers a.val was not read
  double seconds = 0;  // host to host: all steps, memory taken inside; on a device, transfers but no plan
  GcnDeviceTimes device;
  std::optional<GcnStreaming> streaming;  // of a run within bounded memory
};

/// What one of several devices did in a run. Its rows are consecutive.
struct GcnDevicePart {
  std::string name;
  std::int64_t first = 0, rows = 0, entries = 0;  // of A
  std::int64_t sent = 0, received = 0;            // bytes of rows, in one inference
  GcnDeviceTimes times;
  std::int64_t peak_bytes = 0;  // of device memory
  bool direct = true;  // copies to all others go from device to device, not through the host's memory
};
template <class T>
struct GcnDevicesRun {
  GcnRun<T> run;  // of all rows; times are the longest of the parts
  std::vector<GcnDevicePart> parts;
};

/// What a run within bounded memory takes of a device, at most: bytes in parts with their names.
struct GcnDeviceMemory {
  std::vector<std::pair<const char*, std::int64_t>> parts;
  std::int64_t pieces = 0;  // of rows
  bool holds_a = false;     // else A comes in pieces too
};

struct GcnPipeline {
  const char* name;
  Space space;
  const char* about;
  const char* (*unsupported)();  // null: runs; else why not ("no device")
  GcnRun<float> (*run_f32)(const Gcn<float>&, GcnOrder);
  GcnRun<double> (*run_f64)(const Gcn<double>&, GcnOrder);
  int preference = 0;  // of one space, the highest is the one to take unasked
  GcnPipeline* next = nullptr;
  /// The same on several devices, device d having rows [cuts[d], cuts[d + 1]); null: it runs on one device.
  GcnDevicesRun<float> (*on_devices_f32)(const Gcn<float>&, GcnOrder,
                                         const std::vector<std::int64_t>& cuts) = nullptr;
  GcnDevicesRun<double> (*on_devices_f64)(const Gcn<double>&, GcnOrder,
                                          const std::vector<std::int64_t>& cuts) = nullptr;
  bool library = false;  // its products are calls of a library: what ours are timed beside
  /// The same with at most `memory` bytes of the device's memory; null: it needs all data there. Errors: that is too little.
  GcnRun<float> (*streamed_f32)(const Gcn<float>&, GcnOrder, std::int64_t memory) = nullptr;
  GcnRun<double> (*streamed_f64)(const Gcn<double>&, GcnOrder, std::int64_t memory) = nullptr;
  /// What these go by; the device need not be there. Errors: as theirs.
  GcnDeviceMemory (*memory_f32)(const Gcn<float>&, GcnOrder, std::int64_t memory) = nullptr;
  GcnDeviceMemory (*memory_f64)(const Gcn<double>&, GcnOrder, std::int64_t memory) = nullptr;
};

/// Pipelines of other rooms (gpu/models), linked in by RegisterGcnPipeline; constant-initialised.
inline GcnPipeline* more_gcn_pipelines = nullptr;
class RegisterGcnPipeline {
 public:
  explicit RegisterGcnPipeline(const GcnPipeline& pipeline) : pipeline_(pipeline) {
    pipeline_.next = more_gcn_pipelines;
    more_gcn_pipelines = &pipeline_;
  }
  RegisterGcnPipeline(const RegisterGcnPipeline&) = delete;
  RegisterGcnPipeline& operator=(const RegisterGcnPipeline&) = delete;

 private:
  GcnPipeline pipeline_;
};
/// All that are linked in, the best of each space first.
[[nodiscard]] std::vector<const GcnPipeline*> gcn_pipelines();

extern const GcnPipeline kGcnFused;     // gcn/fused.cpp
extern const GcnPipeline kGcnOpenBlas;  // gcn/libraries.cpp
extern const GcnPipeline kGcnEigen;     // gcn/libraries.cpp

// The reference: gcn/reference.cpp.

/// Values in at least fp64, and how far an honest computation of type `candidate` may be from each.
struct GcnReference {
  std::vector<Dense<double>> hidden, hidden_bound;  // (n, Fl), of every layer but the last
  Dense<double> logits, logits_bound;               // (n, classes)
  Dense<double> log_softmax, log_softmax_bound;     // (n, classes)
  Dense<double> magnitude;                          // (n, classes): the same sums over absolute values
};
/// Relative error by which the candidate's inputs may differ from the reference's: u where they were rounded,
/// else 0.
struct GcnInputError {
  double a = 0, x = 0, w = 0;  // w: weights and biases
};
[[nodiscard]] GcnReference reference_gcn(const Gcn<double>& net, Dtype candidate,
                                         const GcnInputError& inputs = {});

/// Values of one layer, and the bound of each.
struct GcnLayerReference {
  Dense<double> value, bound;
};
/// Layer l (from 1) alone on `input` (n, Fl), which the candidate had to the last bit: the result of its layer before. The bound is
/// of this layer's roundings, however deep the layer is.
[[nodiscard]] GcnLayerReference reference_layer(const Gcn<double>& net, std::size_t l,
                                                const Dense<double>& input, Dtype candidate,
                                                const GcnInputError& inputs = {});

/// One matrix against its expectation. NaN and infinities are compared by class.
struct GcnVerdict {
  std::int64_t compared = 0, misses = 0;
  double worst = 0, mean = 0;       // err / bound
  std::int64_t row = -1, col = -1;  // of the worst
  double got = 0, want = 0, bound = 0;
  std::vector<std::int64_t> missed_rows;  // ascending, each once
};
template <class T>
[[nodiscard]] GcnVerdict judge_matrix(const Dense<T>& got, const Dense<double>& want,
                                      const Dense<double>& bound);

/// Rows of `vertices` whose largest logit stands at their label. Ties go to the lowest class; NaN is never
/// correct.
template <class T>
[[nodiscard]] std::int64_t count_right(const Dense<T>& logits, const std::vector<std::int32_t>& labels,
                                       const std::vector<std::int32_t>& vertices);

/// The contest's check: the largest sum of a row, summed from left to right in T. -Inf for no rows.
template <class T>
[[nodiscard]] T max_row_sum(const Dense<T>& matrix);

/// The same network in another type: fp32 exactly to fp64, fp64 rounded to fp32.
template <class To, class From>
[[nodiscard]] Gcn<To> convert(const Gcn<From>& net);

}  // namespace plumb
