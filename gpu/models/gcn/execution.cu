// The forward pass of a GCN on a device: operands are uploaded, steps are run and timed, the answer is
// downloaded.
#include "gpu/models/gcn/execution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/models/gcn/parts.hpp"
#include "reference/ops/bias_relu.hpp"
#include "reference/ops/log_softmax.hpp"
#include "reference/ops/skinny_gemm.hpp"
#include "reference/ops/spmm.hpp"

namespace plumb {
namespace gcn {

namespace {

template <class V>
bool all_finite(const V& values) {
  return std::all_of(values.begin(), values.end(), [](auto x) { return std::isfinite(x); });
}

/// The pattern of `a`, with value[i] for every entry of row i; `value` may have more.
template <class T>
Csr<T> with_values_of_rows(const Csr<T>& a, const std::vector<T>& value) {
  Csr<T> m{a.rows, a.cols, a.row_ptr, a.col, {}};
  m.val.reserve(a.col.size());
  for (std::size_t i = 0; i + 1 < a.row_ptr.size(); ++i)
    m.val.resize(static_cast<std::size_t>(a.row_ptr[i + 1]), value[i]);
  return m;
}

/// How often the whole pass is run for its time.
Index timed_runs() { return device_has_clock() ? 20 : 1; }

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

template <class T>
bool is_finite(const Gcn<T>& net) {
  const auto holds = [](const auto& matrix) { return all_finite(matrix.data); };
  return all_finite(net.a.val) && all_finite(net.sparse_features ? net.x_sparse.val : net.x_dense.data) &&
         std::all_of(net.weights.begin(), net.weights.end(), holds) &&
         std::all_of(net.biases.begin(), net.biases.end(), all_finite<std::vector<T>>);
}

template <class T>
DeviceDense<T>::DeviceDense(const Dense<T>& m, const char* what, void* stream)
    : rows(m.rows), cols(m.cols), ld(padded<T>(m.cols)), data((m.rows + 1) * ld, what) {
  if (ld == cols) {
    device_write(data.data(), m.data.data(), m.data.size() * sizeof(T), stream);
    device_fill(data.data() + rows * ld, 0, static_cast<std::size_t>(ld) * sizeof(T), stream);
    return;
  }
  std::vector<T> wide(static_cast<std::size_t>((rows + 1) * ld));
  for (Index i = 0; i < rows; ++i) std::copy_n(m.data.begin() + i * cols, cols, wide.begin() + i * ld);
  device_write(data.data(), wide.data(), wide.size() * sizeof(T), stream);
}

template <class T>
Dense<T> DeviceDense<T>::fetch(Index count, void* stream) const {
  std::vector<T> wide = data.read(count * ld, stream);
  if (ld == cols) return {count, cols, std::move(wide)};
  Dense<T> m = make_dense<T>(count, cols);
  for (Index i = 0; i < count; ++i) std::copy_n(wide.begin() + i * ld, cols, m.data.begin() + i * cols);
  return m;
}

template <class T>
std::unique_ptr<RungStep<SkinnyGemm, T>> fastest_product(Ladder ladder,
                                                         const DenseView<const T, Space::device>& x,
                                                         const DenseView<const T, Space::device>& w,
                                                         const DenseView<T, Space::device>& y, bool finite,
                                                         void* stream, const std::string& preferred) {
  return fastest_rung<SkinnyGemm, T>(ladder, {}, {x, w}, {y}, kAlignment, finite, stream, preferred);
}

template <class T>
std::unique_ptr<RungStep<LogSoftmax, T>> fastest_log_softmax(const DenseView<const T, Space::device>& logits,
                                                             const DenseView<T, Space::device>& answer,
                                                             bool finite, void* stream,
                                                             const std::string& preferred) {
  return fastest_rung<LogSoftmax, T>(Ladder::ours, {}, {logits}, {answer}, kAlignment, finite, stream,
                                     preferred);
}

template <class T>
Execution<T>::Execution(const Gcn<T>& net, GcnOrders orders, Peers<T>* peers)
    : net_(net),
      orders_(std::move(orders)),
      peers_(peers),
      pieces_(peers != nullptr ? peers->pieces() : std::vector<Index>{0, net.vertices()}) {
  finite_ = is_finite(net);
  const double start = now();
  if (net.sparse_features) {
    x_sparse_ = std::make_unique<DeviceCsr<T>>(net.x_sparse, stream());
  } else {
    x_ = DeviceDense<T>(net.x_dense, "X", stream());
  }
  for (Index l = 0; l < layers(); ++l) {
    const auto at = static_cast<std::size_t>(l);
    w_.emplace_back(net.weights[at], "W", stream());
    std::vector<T> b = net.biases[at];
    if (!b.empty()) b.resize(static_cast<std::size_t>(w_.back().ld));
    b_.emplace_back(b, "bias", stream());
  }
  by_degrees_ = largest(net.scales.empty() ? 0 : 1) > 0;
  if (!net.scales.empty()) scales_ = DeviceArray<T>(net.scales, "scales of A's rows", stream());
  times_.upload = now() - start;
  const Index n = net.vertices();
  for (Index l = 0; !last(l); ++l) {
    hidden_.emplace_back(net.a.cols, net.weights[static_cast<std::size_t>(l)].cols, "hidden layer", stream());
  }
  for (Index l = 1; l < layers(); ++l) {
    if (order_of(l) == GcnOrder::aggregate_first) set_operand(l, output(l - 1));
  }
  logits_ = DeviceDense<T>(n, net.classes(), "logits", stream());
  answer_ = DeviceDense<T>(n, net.classes(), "LogSoftmax", stream());
  begun_ = now();
}

template <class T>
void Execution<T>::add(std::string name, std::function<void()> step, bool waits) {
  step();
  steps_.push_back({std::move(name), std::move(step), waits});
}

template <class T>
void Execution<T>::set_operand(Index l, DeviceDense<T>& m) {
  if (!exchanges(l)) return;
  stream_.wait();  // for the zeros
  peers_->set_operand(l, m.data.data(), m.ld);
}

template <class T>
void Execution<T>::add_receive(Index l) {
  if (!exchanges(l)) return;
  add(
      "wait for rows of layer " + number(l), [this, l] { peers_->receive(l, stream()); }, true);
}

template <class T>
const DeviceDense<T>& Execution<T>::dense_input(Index l) {
  if (l > 0) return output(l - 1);
  if (!net_.sparse_features) return x_;
  x_made_dense_ = DeviceDense<T>(x_sparse_->rows, net_.features(), "X made dense", stream());
  add("X made dense", [this] {
    device_fill(x_made_dense_.data.data(), 0, static_cast<std::size_t>(x_made_dense_.data.bytes()), stream());
    scatter_rows(x_sparse_->view(), x_made_dense_.data.data(), x_made_dense_.ld, stream());
  });
  return x_made_dense_;
}

template <class T>
DeviceDense<T>& Execution<T>::matrix(Index cols, const char* what) {
  return matrices_.emplace_back(net_.a.cols, cols, what, stream());
}

template <class T>
const T* Execution<T>::bias(Index l) const {
  const DeviceArray<T>& b = b_[static_cast<std::size_t>(l)];
  return b.size() > 0 ? b.data() : nullptr;
}

template <class T>
const DeviceCsr<T>& Execution<T>::a(bool scaled) {
  std::unique_ptr<DeviceCsr<T>>& a = scaled ? a_of_scaled_ : a_;
  if (a == nullptr) {
    const double start = now();
    a = std::make_unique<DeviceCsr<T>>(scaled ? with_values_of_rows(net_.a, net_.scales) : net_.a, stream());
    times_.upload += now() - start;
    begun_ += now() - start;
  }
  return *a;
}

template <class T>
std::string Execution<T>::add_dense_product(Ladder ladder, const std::string& name, const DeviceDense<T>& x,
                                            const DeviceDense<T>& w, DeviceDense<T>& y, bool wide,
                                            Index operand_of, const std::string& rung) {
  std::vector<std::shared_ptr<RungStep<SkinnyGemm, T>>> rungs;  // by piece
  std::string chosen = rung;  // on all devices and in all pieces, where it runs
  for (Index p = 0; p < piece_count(); ++p) {
    const Index first = piece_begin(p), end = piece_begin(p + 1);
    rungs.emplace_back();
    if (first < end) {
      rungs.back() = fastest_product<T>(ladder, rows_between(x.input(), first, end), w.input(wide),
                                        rows_between(y.view(wide), first, end), finite_, stream(), chosen);
    }
    if (p == 0) {
      if (first < end) chosen = rungs[0]->name();
      if (peers_ != nullptr) chosen = peers_->agreed(chosen);  // device 0 has rows where any has
    }
  }
  add(name + " (skinny_gemm " + chosen + ")", [this, rungs, operand_of] {
    for (Index p = 0; p < piece_count(); ++p) {
      if (const auto& step = rungs[static_cast<std::size_t>(p)]; step != nullptr) step->run();
      if (operand_of >= 0) send(operand_of, p);
    }
  });
  return chosen;
}

template <class T>
void Execution<T>::add_sparse_product(Ladder ladder, const std::string& name, const DeviceCsr<T>& m,
                                      const DeviceDense<T>& b, DeviceDense<T>& c, const std::string& rung) {
  const std::shared_ptr<RungStep<Spmm, T>> step =
      fastest_rung<Spmm, T>(ladder, {}, {m.view(), b.input()}, {rows_between(c.view(), 0, m.rows)},
                            kAlignment, finite_, stream(), rung);
  add(name + " (spmm " + step->name() + ")", [step] { step->run(); });
}

/// z = A x w.
template <class T>
void Execution<T>::add_composed_products(Ladder ladder, Index l, Transformed<T> s, const std::string& spmm,
                                         DeviceDense<T>& z) {
  const DeviceDense<T>& w = w_[static_cast<std::size_t>(l)];
  const std::string in = input_name(l);
  if (order_of(l) == GcnOrder::aggregate_first) {
    const DeviceDense<T>& x = dense_input(l);
    add_receive(l);
    DeviceDense<T>& ax = matrix(w.rows, "A X");
    add_sparse_product(ladder, "A " + in, a(), x, ax, spmm);
    add_dense_product(ladder, "(A " + in + ") W" + number(l), ax, w, z, false, -1);
    return;
  }
  if (s.of == nullptr) {
    DeviceDense<T>& made = matrix(w.cols, "X W");
    s.of = &made;
    set_operand(l, made);
    if (sparse_input(l)) {
      add_sparse_product(ladder, in + " W" + number(l), *x_sparse_, w, made);
      add_send(l);
    } else {
      add_dense_product(ladder, in + " W" + number(l), dense_input(l), w, made, false, l);
    }
  }
  add_receive(l);
  if (s.scaled) ++without_values_;
  add_sparse_product(ladder, "A S" + number(l), a(s.scaled), *s.of, z, spmm);
}

template <class T>
void Execution<T>::add_send(Index l) {
  if (!exchanges(l)) return;
  add("send rows of layer " + number(l), [this, l] {
    for (Index p = 0; p < piece_count(); ++p) send(l, p);
  });
}

template <class T>
void Execution<T>::add_composed_layer(Ladder ladder, Index l, Transformed<T> s, const std::string& spmm) {
  const DeviceDense<T>& w = w_[static_cast<std::size_t>(l)];
  DeviceDense<T>& z = last(l) ? logits_ : matrix(w.cols, "a layer before its ReLU");
  add_composed_products(ladder, l, s, spmm, z);
  if (!last(l)) {
    const BiasRelu::Problem<T> problem{T(0), std::numeric_limits<T>::infinity()};
    const DeviceArray<T>& b = b_[static_cast<std::size_t>(l)];
    const std::shared_ptr<RungStep<BiasRelu, T>> rung = fastest_rung<BiasRelu, T>(
        Ladder::ours, problem, {rows_between(z.input(), 0, own()), {b.data(), b.size() > 0 ? w.cols : 0}},
        {rows_between(output(l).view(), 0, own())}, kAlignment, finite_, stream());
    add(std::string("bias, ReLU (bias_relu ") + rung->name() + ")", [rung] { rung->run(); });
    if (order_of(l + 1) == GcnOrder::aggregate_first) add_send(l + 1);
    return;
  }
  if (bias(l) != nullptr) {
    const T* const b = bias(l);
    // The product before this step overwrites the rows, so a repeated run does not add twice.
    add("bias",
        [this, b] { add_bias(logits_.data.data(), logits_.rows, logits_.cols, logits_.ld, b, stream()); });
  }
  const std::shared_ptr<RungStep<LogSoftmax, T>> rung =
      fastest_log_softmax<T>(logits_.input(), answer_.view(), finite_, stream());
  add(std::string("LogSoftmax (log_softmax ") + rung->name() + ")", [rung] { rung->run(); });
}

template <class T>
void Execution<T>::pass() const {
  begin_pass();
  for (const Step& step : steps_) step.run();
}

template <class T>
double Execution<T>::seconds_since(const Mark& mark, Index l) {
  keep_ = false;
  const auto arrive = [this, l] {
    if (!last(l) && exchanges(l + 1)) peers_->receive(l + 1, stream());
  };
  arrive();  // what the steps sent when they were added
  const auto run = [&] {
    begin_pass();
    for (std::size_t s = mark.steps; s < steps_.size(); ++s) steps_[s].run();
    arrive();
  };
  const double seconds = least_seconds(run, 5, stream());
  keep_ = true;
  return seconds;
}

template <class T>
void Execution<T>::take_back(const Mark& mark) {
  stream_.wait();
  if (peers_ != nullptr) peers_->wait_sent();
  steps_.resize(mark.steps);
  while (matrices_.size() > mark.matrices) matrices_.pop_back();
  without_values_ = mark.without_values;
}

/// NaN: an element that no step writes stays NaN.
template <class T>
void Execution<T>::spoil(DeviceDense<T>& m) const {
  if (m.rows > 0)
    device_fill(m.data.data(), 0xff, static_cast<std::size_t>(m.rows * m.ld) * sizeof(T), stream());
}

template <class T>
void Execution<T>::time_steps(Index runs, GcnRun<T>& result) {
  std::vector<std::vector<double>> by_step(steps_.size());
  for (Index r = 0; r < runs; ++r) {
    DeviceMarks marks(static_cast<std::int64_t>(steps_.size()) + 1);
    begin_pass();
    marks.mark(stream());
    for (const Step& step : steps_) {
      step.run();
      marks.mark(stream());
    }
    const std::vector<double> seconds = marks.seconds();
    for (std::size_t s = 0; s < steps_.size(); ++s) by_step[s].push_back(seconds[s]);
  }
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const double seconds = median_of(by_step[s]);
    result.steps.push_back({steps_[s].name, seconds});
    times_.kernels += seconds;
    if (steps_[s].waits) times_.waiting += seconds;
  }
}

template <class T>
GcnRun<T> Execution<T>::run() {
  begin_pass();  // the others have taken what the plan sent
  stream_.wait();
  times_.plan = now() - begun_;
  GcnRun<T> result;
  for (DeviceDense<T>& h : hidden_) spoil(h);
  spoil(logits_), spoil(answer_);
  if (peers_ != nullptr) {
    for (DeviceDense<T>& m : matrices_) spoil(m);
  }
  keep_ = true;
  pass();
  for (const DeviceDense<T>& h : hidden_) result.hidden.push_back(h.fetch(own(), stream()));
  result.logits = logits_.fetch(own(), stream());

  // Timed passes keep only what they need. The answer is that of the last one.
  keep_ = false;
  spoil(answer_);
  pass();
  const Index runs = timed_runs();
  DeviceMarks ends(runs + 1);
  ends.mark(stream());
  for (Index r = 0; r < runs; ++r) {
    pass();
    ends.mark(stream());
  }
  times_.repeats = runs;
  times_.inferences = ends.seconds();
  times_.resident =
      std::accumulate(times_.inferences.begin(), times_.inferences.end(), 0.0) / static_cast<double>(runs);
  time_steps(runs, result);
  stream_.wait();
  const double start = now();
  result.log_softmax = answer_.fetch(own(), stream());
  times_.download = now() - start;
  result.layers_from_degrees = without_values_;
  result.seconds = times_.upload + times_.resident + times_.download;
  result.device = times_;
  return result;
}

#define PLUMB_GCN_RUNGS_FOR(T)                                                                    \
  template bool is_finite(const Gcn<T>&);                                                         \
  template std::unique_ptr<RungStep<SkinnyGemm, T>> fastest_product(                              \
      Ladder, const DenseView<const T, Space::device>&, const DenseView<const T, Space::device>&, \
      const DenseView<T, Space::device>&, bool, void*, const std::string&);                       \
  template std::unique_ptr<RungStep<LogSoftmax, T>> fastest_log_softmax(                          \
      const DenseView<const T, Space::device>&, const DenseView<T, Space::device>&, bool, void*,  \
      const std::string&);
PLUMB_GCN_RUNGS_FOR(float)
PLUMB_GCN_RUNGS_FOR(double)
#undef PLUMB_GCN_RUNGS_FOR
template struct DeviceDense<float>;
template struct DeviceDense<double>;
template class Execution<float>;
template class Execution<double>;

}  // namespace gcn
}  // namespace plumb
