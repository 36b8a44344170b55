// GCN on a device, fused: which products the kernel of aggregate.hpp computes, and with which epilogue. It is
// a header because the tests run the same plan with kernels that are wrong on purpose.
#pragma once
#include "gpu/models/gcn/execution.hpp"
#include "reference/core/csr.hpp"

namespace plumb {
namespace gcn {

template <class T, class Policy = Unmodified>
class Fused : public Execution<T> {
 public:
  Fused(const Gcn<T>& net, GcnOrders orders, Peers<T>* peers) : Execution<T>(net, std::move(orders), peers) {
    const DeviceDense<T>* s = nullptr;  // X W or H W of this layer, if the layer before has computed it
    for (Index l = 0; l < this->layers(); ++l) {
      if (!fusable(l)) {
        this->add_composed_layer(Ladder::ours, l);
        s = nullptr;
        continue;
      }
      s = add_layer(l, s);
    }
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

  /// A matrix converted, by piece.
  using Pieces = std::vector<DeviceRows<T>>;
  void convert(const Csr<T>& m, Index widest, Pieces& pieces) const {
    const Index count = this->piece_count();
    if (count == 1) return void(pieces.emplace_back(m, widest, this->stream()));
    for (Index p = 0; p < count; ++p)
      pieces.emplace_back(slice_rows(m, this->piece_begin(p), this->piece_begin(p + 1)), widest,
                          this->stream());
  }

  const Pieces& rows() {
    if (rows_.empty()) {
      Index widest = 1;
      for (Index l = 0; l < this->layers(); ++l) {
        const bool transform = this->order_of(l) == GcnOrder::transform_first;
        const Index held = transform ? w(l).ld : padded<T>(w(l).rows);
        if (held <= kWidest<T> && held > widest) widest = held;
      }
      convert(this->net_.a, padded<T>(widest), rows_);
    }
    return rows_;
  }

  /// Launches the kernel on each piece, with `e` for row 0, and sends the piece, A's operand in layer `operand_of` (-1: it is not).
  void aggregate(const Pieces& pieces, const DeviceDense<T>& from, const Epilogue<T>& e,
                 Index operand_of) const {
    for (Index p = 0; p < this->piece_count(); ++p) {
      launch_aggregate<T, Policy>(pieces[static_cast<std::size_t>(p)].view(), from.data.data(), from.ld,
                                  static_cast<int>(from.ld), from_row(e, this->piece_begin(p)),
                                  this->stream());
      if (operand_of >= 0) this->send(operand_of, p);
    }
  }

  /// X W of layer l.
  const DeviceDense<T>* add_transform(Index l) {
    DeviceDense<T>& s = this->matrix(w(l).cols, "X W");
    this->set_operand(l, s);
    const std::string name = E::input_name(l) + " W" + E::number(l);
    if (!this->sparse_input(l)) {
      this->add_dense_product(Ladder::ours, name, this->dense_input(l), w(l), s, true, l);
      return &s;
    }
    convert(this->net_.x_sparse, s.ld, x_rows_);
    Epilogue<T> e;
    e.columns = static_cast<int>(s.cols), e.width = static_cast<int>(s.ld), e.z = s.data.data();
    const DeviceDense<T>& from = w(l);
    this->add(name, [this, e, l, &from] { aggregate(x_rows_, from, e, l); });
    return &s;
  }

  /// Layer l with everything that its epilogue can compute; returns H W of the next layer, or null.
  const DeviceDense<T>* add_layer(Index l, const DeviceDense<T>* s) {
    const bool transform = this->order_of(l) == GcnOrder::transform_first, last = this->last(l);
    if (transform && s == nullptr) s = add_transform(l);
    const DeviceDense<T>& from = transform ? *s : this->dense_input(l);
    this->add_receive(l);
    DeviceDense<T>& z = this->output(l);
    Epilogue<T> e;
    if (!transform) e.before = w(l).weights();
    e.bias = this->bias(l);
    e.relu = !last;
    e.columns = static_cast<int>(z.cols), e.width = static_cast<int>(z.ld);
    DeviceDense<T>* next = nullptr;
    std::string name = transform ? "A S" + E::number(l) : "(A " + E::input_name(l) + ") W" + E::number(l);
    if (last) {
      e.log_softmax = this->answer_.data.data();
      name += ", LogSoftmax";
    } else if (multiplies_on(l)) {
      next = &this->matrix(w(l + 1).cols, "H W");
      this->set_operand(l + 1, *next);
      e.after = w(l + 1).weights();
      e.next = next->data.data();
      name += ", ReLU, H W" + E::number(l + 1);
    } else {
      name += ", ReLU";
    }
    const bool needed = !last && next == nullptr;
    const bool sent = next != nullptr || (needed && this->order_of(l + 1) == GcnOrder::aggregate_first);
    const Pieces& a = rows();
    this->add(name, [this, &a, e, &from, &z, needed, to = sent ? l + 1 : -1] {
      Epilogue<T> now = e;
      if (needed || this->keep_) now.z = z.data.data();
      aggregate(a, from, now, to);
    });
    return next;
  }

  Pieces rows_, x_rows_;
};

}  // namespace gcn
}  // namespace plumb
