// What the device pipelines of the GCN share: the network in device memory, a forward pass as a list of named
// steps, its timing, and the layer composed of one rung per product. It stands apart from the pipelines so
// that all are measured in the same way.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/models/gcn/aggregate.hpp"
#include "gpu/models/gcn/peers.hpp"
#include "gpu/models/rungs.hpp"
#include "reference/models/gcn/fused.hpp"
#include "reference/models/gcn/gcn.hpp"

namespace plumb {

struct LogSoftmax;
struct SkinnyGemm;

namespace gcn {

/// x(row, col) += val for every entry; x (rows, ld) is zero. Repeated columns add up in their order.
template <class T>
void scatter_rows(const CsrView<const T, Space::device>& from, T* x, Index ld, void* stream);
/// x(i, j) += bias[j].
template <class T>
void add_bias(T* x, Index rows, Index columns, Index ld, const T* bias, void* stream);

/// Whether A, X, W and biases are finite: rungs for finite inputs are then allowed.
template <class T>
[[nodiscard]] bool is_finite(const Gcn<T>& net);

constexpr int kAlignment = 16;  // bytes, of every array here: bases lie at 256 bytes, rows are whole packs

/// CSR in device memory.
template <class T>
struct DeviceCsr {
  DeviceCsr(const Csr<T>& m, void* stream)
      : rows(m.rows),
        cols(m.cols),
        row_ptr(m.row_ptr, "row pointers", stream),
        col(m.col, "columns", stream),
        val(m.val, "values", stream) {}
  [[nodiscard]] CsrView<const T, Space::device> view() const {
    return {rows, cols, col.size(), row_ptr.data(), col.data(), val.data()};
  }
  Index rows, cols;
  DeviceArray<std::int32_t> row_ptr, col;
  DeviceArray<T> val;
};

/// A dense matrix. Rows are whole packs without gaps; one row of zeros follows the last.
template <class T>
struct DeviceDense {
  Index rows = 0, cols = 0, ld = 0;
  DeviceArray<T> data;
  DeviceDense() = default;
  /// Zeros.
  DeviceDense(Index r, Index c, const char* what, void* stream)
      : rows(r), cols(c), ld(padded<T>(c)), data((r + 1) * ld, what) {
    device_fill(data.data(), 0, static_cast<std::size_t>(data.bytes()), stream);
  }
  DeviceDense(const Dense<T>& m, const char* what, void* stream);
  /// `wide`: includes the columns that fill up the packs.
  [[nodiscard]] DenseView<T, Space::device> view(bool wide = false) const {
    return {data.data(), rows, wide ? ld : cols, ld};
  }
  [[nodiscard]] DenseView<const T, Space::device> input(bool wide = false) const {
    return {data.data(), rows, wide ? ld : cols, ld};
  }
  [[nodiscard]] Weights<T> weights() const {
    return {data.data(), static_cast<int>(rows), static_cast<int>(ld)};
  }
  /// The first `count` rows.
  [[nodiscard]] Dense<T> fetch(Index count, void* stream) const;
};

/// y = x w by the fastest rung of a ladder, or by the rung of the name `preferred` where it can run these operands.
template <class T>
[[nodiscard]] std::unique_ptr<RungStep<SkinnyGemm, T>> fastest_product(
    Ladder ladder, const DenseView<const T, Space::device>& x, const DenseView<const T, Space::device>& w,
    const DenseView<T, Space::device>& y, bool finite, void* stream, const std::string& preferred);
/// The same of LogSoftmax, by a rung of ours.
template <class T>
[[nodiscard]] std::unique_ptr<RungStep<LogSoftmax, T>> fastest_log_softmax(
    const DenseView<const T, Space::device>& logits, const DenseView<T, Space::device>& answer, bool finite,
    void* stream, const std::string& preferred = {});

/// Rows [first, last) of a dense matrix.
template <class T>
[[nodiscard]] DenseView<T, Space::device> rows_between(const DenseView<T, Space::device>& m, Index first,
                                                       Index last) {
  return {m.data + first * m.ld, last - first, m.cols, m.ld};
}

/// X W or H W of a layer, which a step computes; without `of`, none does. `scaled`: row j by scales[j], so that A's values are not needed.
template <class T>
struct Transformed {
  const DeviceDense<T>* of = nullptr;
  bool scaled = false;
};

/// One inference on a device, or the part of one of several devices: its rows of A (rows, rows + others'), whose operands hold
/// all of these; the rows that others compute are there after peers_->receive(). A derived class lists the steps in its
/// constructor. Each step is run once when it is added, so that the choice of later steps is measured on real data.
template <class T>
class Execution {
 public:
  /// `peers` is null where this device computes all rows. It and `net` must outlive this.
  Execution(const Gcn<T>& net, GcnOrders orders, Peers<T>* peers);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  virtual ~Execution() = default;
  /// Runs all steps, times them, and downloads the answer.
  [[nodiscard]] GcnRun<T> run();

 protected:
  /// `waits`: the step's time is spent waiting for other devices.
  void add(std::string name, std::function<void()> step, bool waits = false);
  [[nodiscard]] GcnOrder order_of(Index l) const { return orders_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] Index layers() const { return static_cast<Index>(net_.weights.size()); }
  [[nodiscard]] bool last(Index l) const { return l + 1 == layers(); }
  [[nodiscard]] bool sparse_input(Index l) const { return l == 0 && net_.sparse_features; }
  [[nodiscard]] void* stream() const { return stream_.get(); }
  [[nodiscard]] static std::string number(Index l) { return std::to_string(l + 1); }
  [[nodiscard]] static std::string input_name(Index l) { return l == 0 ? "X" : "H"; }

  /// The dense left operand of layer l: X, or H. Adds the step that makes a sparse X dense.
  const DeviceDense<T>& dense_input(Index l);
  /// Where layer l ends: its hidden layer, or logits_.
  DeviceDense<T>& output(Index l) { return last(l) ? logits_ : hidden_[static_cast<std::size_t>(l)]; }
  /// A matrix of all rows that A gathers, which lives as long as this object.
  DeviceDense<T>& matrix(Index cols, const char* what);
  /// Rows that this device computes.
  [[nodiscard]] Index own() const { return net_.vertices(); }
  /// Piece p is of rows [piece_begin(p), piece_begin(p + 1)), and is sent when it is computed; alone, there is one.
  [[nodiscard]] Index piece_count() const { return static_cast<Index>(pieces_.size()) - 1; }
  [[nodiscard]] Index piece_begin(Index p) const { return pieces_[static_cast<std::size_t>(p)]; }
  /// Whether A's operand in layer l has rows that others compute.
  [[nodiscard]] bool exchanges(Index l) const {
    return peers_ != nullptr && (l > 0 || order_of(l) == GcnOrder::transform_first);
  }
  /// Says where A's operand in layer l is, before any of its rows are computed.
  void set_operand(Index l, DeviceDense<T>& m);
  /// Sends piece p of A's operand in layer l, where that is exchanged.
  void send(Index l, Index p) const {
    if (exchanges(l)) peers_->send(l, p, stream());
  }
  /// The step that sends all of it.
  void add_send(Index l);
  /// The step after which all rows of A's operand in layer l are there.
  void add_receive(Index l);
  [[nodiscard]] const T* bias(Index l) const;
  /// Where A's values follow from the degrees: the scales of this device's rows, by which a row of A S and one of S are multiplied.
  [[nodiscard]] bool by_degrees() const { return by_degrees_; }
  [[nodiscard]] const T* scales() const { return scales_.data(); }
  /// A in CSR; uploaded at the first call. Of a `scaled` S: row i has the values scales[i].
  const DeviceCsr<T>& a(bool scaled = false);
  /// Frees it; no step may read it.
  void forget_a() { a_.reset(), a_of_scaled_.reset(); }

  /// y = x w in this device's rows by the fastest rung of a ladder, y being A's operand in layer `operand_of` (-1: it is not);
  /// `wide`: includes the columns that fill up the packs. Where `rung` can run these operands, it is taken unmeasured. Returns the rung's
  /// name.
  std::string add_dense_product(Ladder ladder, const std::string& name, const DeviceDense<T>& x,
                                const DeviceDense<T>& w, DeviceDense<T>& y, bool wide, Index operand_of,
                                const std::string& rung = {});
  /// c = m b. Where `rung` can run these operands, it is taken unmeasured.
  void add_sparse_product(Ladder ladder, const std::string& name, const DeviceCsr<T>& m,
                          const DeviceDense<T>& b, DeviceDense<T>& c, const std::string& rung = {});
  /// Layer l with one rung per product and element-wise pass: from X or the hidden layer before to its own, or to
  /// logits_ and answer_. `s`: X W of this layer where a step has computed it. `spmm`: the rung of the product with A, or the fastest.
  void add_composed_layer(Ladder ladder, Index l, Transformed<T> s = {}, const std::string& spmm = {});

  /// Where a plan stands, so that the steps added since can be timed and taken back.
  struct Mark {
    std::size_t steps, matrices;
    Index without_values;
  };
  [[nodiscard]] Mark mark() const { return {steps_.size(), matrices_.size(), without_values_}; }
  /// Seconds of the fastest of a few runs of the steps added since, which are layer l's, until the rows of the next layer are there.
  /// Hidden layers are stored where a step reads them.
  [[nodiscard]] double seconds_since(const Mark& mark, Index l);
  void take_back(const Mark& mark);
  /// The largest that any device says.
  [[nodiscard]] double largest(double mine) const { return peers_ != nullptr ? peers_->largest(mine) : mine; }

  const Gcn<T>& net_;
  GcnOrders orders_;
  Peers<T>* peers_;
  std::vector<Index> pieces_;
  DeviceStream stream_;
  GcnDeviceTimes times_;
  DeviceDense<T> x_, logits_, answer_, x_made_dense_;
  std::vector<DeviceDense<T>> hidden_;  // of every layer but the last
  std::unique_ptr<DeviceCsr<T>> x_sparse_, a_, a_of_scaled_;
  bool by_degrees_ = false;  // on any device: one without rows has no scales
  DeviceArray<T> scales_;
  Index without_values_ = 0;  // layers in which no step reads A's values
  std::vector<DeviceDense<T>> w_;
  std::vector<DeviceArray<T>> b_;
  std::list<DeviceDense<T>> matrices_;
  bool keep_ = true;     // hidden layers and logits are stored even if no step reads them
  bool finite_ = false;  // is_finite()
  double begun_ = 0;     // the plan

 private:
  struct Step {
    std::string name;
    std::function<void()> run;
    bool waits;
  };
  void add_composed_products(Ladder ladder, Index l, Transformed<T> s, const std::string& spmm,
                             DeviceDense<T>& z);
  void begin_pass() const {
    if (peers_ != nullptr) peers_->begin(stream());
  }
  void pass() const;
  void spoil(DeviceDense<T>& m) const;
  void time_steps(Index runs, GcnRun<T>& result);
  std::vector<Step> steps_;
};

/// For GcnPipeline: plan with `E`, run.
template <class E, class T>
GcnRun<T> execute(const Gcn<T>& net, GcnOrder order) {
  E execution(net, orders_of(net, order), nullptr);
  return execution.run();
}

}  // namespace gcn
}  // namespace plumb
