// GCN on a device, fused: which products the kernel of aggregate.hpp computes, and with which epilogue. It is
// a header because the tests run the same plan with kernels that are wrong on purpose.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "gpu/models/gcn/execution.hpp"
#include "reference/core/csr.hpp"

namespace plumb {
namespace gcn {

template <class T, class Policy = Unmodified>
class Fused : public Execution<T> {
 public:
  Fused(const Gcn<T>& net, GcnOrders orders, Peers<T>* peers)
      : Execution<T>(net, std::move(orders), peers),
        columns_(net.scales),
        by_column_(this->largest(columns_.fit() ? 1 : 0) > 0),
        product_rungs_(net.weights.size()) {
    Transformed<T> s;
    if (starts_with_product(0)) s = add_transform(0);
    bool composed = false, stored = false;
    for (Index l = 0; l < this->layers(); ++l) {
      const Form form = fastest_form(l, s);
      composed = composed || form == Form::composed;
      stored = stored || (form != Form::composed && values_of(form, s) == EntryValues::stored);
      s = add_form(form, l, s);
    }
    if (!composed) this->forget_a();
    if (!stored) forget_values();
  }

 private:
  using E = Execution<T>;

  [[nodiscard]] const DeviceDense<T>& w(Index l) const { return this->w_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] bool fits(Index l) const {
    return w(l).rows * w(l).ld <= kMostWeights<T> && w(l).ld <= kWidest<T>;
  }
  /// Whether a row of this layer can pass through the kernel.
  [[nodiscard]] bool fusable(Index l) const {
    if (this->order_of(l) == GcnOrder::transform_first) return w(l).ld <= kWidest<T>;
    return fits(l) && padded<T>(w(l).rows) <= kWidest<T>;
  }
  /// Whether the epilogue of layer l can compute H W of the next.
  [[nodiscard]] bool multiplies_on(Index l) const {
    return !this->last(l) && fusable(l + 1) && this->order_of(l + 1) == GcnOrder::transform_first &&
           fits(l + 1);
  }

  /// Whether layer l begins with X W or H W as a step of its own.
  [[nodiscard]] bool starts_with_product(Index l) const {
    return this->order_of(l) == GcnOrder::transform_first && (!this->sparse_input(l) || fusable(l));
  }

  /// How a layer is computed: by one kernel, which multiplies by the next layer's W as well; by one kernel; by a rung for each product and
  /// pass. `stored`: the kernel reads values of A that follow from the degrees.
  enum class Form { with_next, alone, composed, with_next_stored, alone_stored };
  [[nodiscard]] std::vector<Form> forms_of(Index l, Transformed<T> s) const {
    if (!fusable(l)) return {Form::composed};
    std::vector<Form> forms;
    if (multiplies_on(l)) forms.push_back(Form::with_next);
    forms.push_back(Form::alone);
    if (this->largest(room_for_composed(l) ? 0 : 1) == 0) forms.push_back(Form::composed);
    if (!by_column_ || s.scaled) return forms;
    if (multiplies_on(l)) forms.push_back(Form::with_next_stored);
    forms.push_back(Form::alone_stored);
    return forms;
  }
  [[nodiscard]] EntryValues values_of(Form form, Transformed<T> s) const {
    if (s.scaled) return EntryValues::ones;
    const bool stored = form == Form::with_next_stored || form == Form::alone_stored;
    return !stored && columns_.fit() ? EntryValues::by_column : EntryValues::stored;
  }
  /// Whether A once more, in two formats, and the matrices of a composed layer take at most half of what is free.
  [[nodiscard]] bool room_for_composed(Index l) const {
    const auto size = static_cast<Index>(sizeof(T)), entries = static_cast<Index>(this->net_.a.val.size());
    const Index of_a = 2 * (entries * (size + 4) + this->net_.a.rows * 4);
    const Index of_rows = 3 * this->net_.a.cols * (padded<T>(w(l).rows) + w(l).ld) * size;
    return of_a + of_rows < device_memory_free() / 2;
  }
  /// Layer l in a form, and the product that the next one starts with, which is returned.
  Transformed<T> add_form(Form form, Index l, Transformed<T> s) {
    const EntryValues values = values_of(form, s);
    if (form != Form::composed && values != EntryValues::stored) ++this->without_values_;
    if (form == Form::with_next || form == Form::with_next_stored) return add_layer_and_product(l, s, values);
    const bool product = !this->last(l) && starts_with_product(l + 1);
    DeviceDense<T>* scaled_h = nullptr;
    if (form == Form::composed) {
      this->add_composed_layer(Ladder::ours, l, s, "13_adaptive");
    } else {
      if (product && this->by_degrees()) scaled_h = &this->matrix(w(l).cols, "H scaled");
      add_layer(l, s, values, scaled_h);
    }
    return product ? add_transform(l + 1, scaled_h) : Transformed<T>{};
  }
  /// The form that takes the least time on the slowest device, the same on all; one that is hardly faster than those before it does not
  /// count, so that plans differ little from run to run. The first, where nothing is measured.
  [[nodiscard]] Form fastest_form(Index l, Transformed<T> s) {
    constexpr double kHardly = 0.97;
    const std::vector<Form> forms = forms_of(l, s);
    Form fastest = forms.front();
    if (forms.size() == 1 || !Policy::chooses()) return fastest;
    double least = std::numeric_limits<double>::infinity();
    const auto before = this->mark();
    for (const Form form : forms) {
      add_form(form, l, s);
      const double mine = Policy::seconds_of(static_cast<int>(form), this->seconds_since(before, l));
      const double seconds = this->largest(mine);
      this->take_back(before);
      if (seconds < kHardly * least) least = seconds, fastest = form;
    }
    return fastest;
  }

  /// A matrix converted, by piece.
  using Pieces = std::vector<DeviceRows<T>>;
  [[nodiscard]] Pieces converted(const Csr<T>& m, bool values, const ColumnScales<T>& scales,
                                 Index widest) const {
    const Index count = this->piece_count();
    const Index length = part_length<T>(widest);
    Pieces pieces;
    if (count == 1) {
      pieces.emplace_back(m, values, scales, widest, length, this->stream());
      return pieces;
    }
    for (Index p = 0; p < count; ++p)
      pieces.emplace_back(slice_rows(m, this->piece_begin(p), this->piece_begin(p + 1)), values, scales,
                          widest, length, this->stream());
    return pieces;
  }

  /// A, whose values are there from the first layer on that reads them.
  const Pieces& rows(bool values) {
    if (!rows_.empty() && (has_values_ || !values)) return rows_;
    Index widest = 1;
    for (Index l = 0; l < this->layers(); ++l) {
      const bool transform = this->order_of(l) == GcnOrder::transform_first;
      const Index held = transform ? w(l).ld : padded<T>(w(l).rows);
      if (held <= kWidest<T> && held > widest) widest = held;
    }
    this->stream_.wait();  // for what reads the rows that are replaced
    rows_.clear();
    rows_ = converted(this->net_.a, values, columns_, padded<T>(widest));
    has_values_ = values;
    return rows_;
  }
  /// No step may read them.
  void forget_values() {
    for (DeviceRows<T>& piece : rows_) piece.val = {};
    has_values_ = false;
  }

  /// Launches the kernel on each piece, with `e` for row 0, and sends the piece, A's operand in layer `operand_of` (-1: it is not).
  void aggregate(const Pieces& pieces, EntryValues values, const DeviceDense<T>& from, const Epilogue<T>& e,
                 Index operand_of) const {
    for (Index p = 0; p < this->piece_count(); ++p) {
      launch_aggregate<T, Policy>(pieces[static_cast<std::size_t>(p)].view(values), from.data.data(), from.ld,
                                  static_cast<int>(from.ld), from_row(e, this->piece_begin(p)),
                                  this->stream());
      if (operand_of >= 0) this->send(operand_of, p);
    }
  }

  /// X W of layer l; `scaled_h`: its input times the scales, where a step computes that.
  Transformed<T> add_transform(Index l, const DeviceDense<T>* scaled_h = nullptr) {
    DeviceDense<T>& s = this->matrix(w(l).cols, "X W");
    this->set_operand(l, s);
    const std::string name = E::input_name(l) + " W" + E::number(l);
    if (!this->sparse_input(l)) {
      const DeviceDense<T>& x = scaled_h != nullptr ? *scaled_h : this->dense_input(l);
      std::string& rung = product_rungs_[static_cast<std::size_t>(l)];
      rung = this->add_dense_product(Ladder::ours, name, x, w(l), s, true, l, rung);
      return {&s, scaled_h != nullptr};
    }
    x_rows_ = converted(this->net_.x_sparse, true, ColumnScales<T>({}), s.ld);
    Epilogue<T> e;
    e.scale = this->scales();
    e.columns = static_cast<int>(s.cols), e.width = static_cast<int>(s.ld), e.z = s.data.data();
    const DeviceDense<T>& from = w(l);
    this->add(name, [this, e, l, &from] { aggregate(x_rows_, EntryValues::stored, from, e, l); });
    return {&s, this->by_degrees()};
  }

  /// What the kernel does in layer l, whatever comes after it.
  [[nodiscard]] Epilogue<T> epilogue_of(Index l, Transformed<T> s, EntryValues values) {
    const DeviceDense<T>& z = this->output(l);
    Epilogue<T> e;
    if (values != EntryValues::stored) e.scale = this->scales();
    if (s.of == nullptr) e.before = w(l).weights();
    e.bias = this->bias(l);
    e.relu = !this->last(l);
    e.columns = static_cast<int>(z.cols), e.width = static_cast<int>(z.ld);
    if (this->last(l)) e.log_softmax = this->answer_.data.data();
    return e;
  }
  [[nodiscard]] std::string name_of(Index l, Transformed<T> s, EntryValues values) const {
    const std::string name =
        s.of != nullptr ? "A S" + E::number(l) : "(A " + E::input_name(l) + ") W" + E::number(l);
    const char* const from = values == EntryValues::by_column ? ", scaled" : "";
    return name + from + (this->last(l) ? ", LogSoftmax" : ", ReLU");
  }
  /// The step of layer l; `needed`: a later step reads the hidden layer.
  void add_step(const std::string& name, Index l, Transformed<T> s, EntryValues values, const Epilogue<T>& e,
                bool needed, Index operand_of) {
    const DeviceDense<T>& from = s.of != nullptr ? *s.of : this->dense_input(l);
    this->add_receive(l);
    // where forms are timed, one that reads the values follows: A is then converted once
    const bool tried = values == EntryValues::by_column && Policy::chooses();
    const Pieces& a = rows(values == EntryValues::stored || tried);
    const DeviceDense<T>& z = this->output(l);
    this->add(name, [this, &a, e, &from, &z, needed, values, operand_of] {
      Epilogue<T> now = e;
      if (needed || this->keep_) now.z = z.data.data();
      aggregate(a, values, from, now, operand_of);
    });
  }

  /// Layer l by the kernel; `scaled_h`: what the next layer's product reads in its place, or null.
  void add_layer(Index l, Transformed<T> s, EntryValues values, const DeviceDense<T>* scaled_h) {
    Epilogue<T> e = epilogue_of(l, s, values);
    if (scaled_h != nullptr) e.next_scale = this->scales(), e.next = scaled_h->data.data();
    const bool needed = !this->last(l) && scaled_h == nullptr;
    const bool sent = needed && this->order_of(l + 1) == GcnOrder::aggregate_first;
    add_step(name_of(l, s, values), l, s, values, e, needed, sent ? l + 1 : -1);
  }

  /// Layer l by the kernel, with H W of the next layer, which is returned.
  Transformed<T> add_layer_and_product(Index l, Transformed<T> s, EntryValues values) {
    DeviceDense<T>& next = this->matrix(w(l + 1).cols, "H W");
    this->set_operand(l + 1, next);
    Epilogue<T> e = epilogue_of(l, s, values);
    e.after = w(l + 1).weights();
    e.next_scale = this->scales(), e.next = next.data.data();
    add_step(name_of(l, s, values) + ", H W" + E::number(l + 1), l, s, values, e, false, l + 1);
    return {&next, this->by_degrees()};
  }

  const ColumnScales<T> columns_;
  const bool by_column_;  // on any device columns_ fit
  Pieces rows_, x_rows_;
  bool has_values_ = false;  // rows_
  // Of X W by layer: the fastest, found in the first form that has it.
  std::vector<std::string> product_rungs_;
};

}  // namespace gcn
}  // namespace plumb
