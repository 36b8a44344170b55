// GCN on a device, fused: which products the kernel of aggregate.hpp computes, and with which epilogue. It is
// a header because the tests run the same plan with kernels that are wrong on purpose.
#pragma once
#include "gpu/models/gcn/execution.hpp"

namespace plumb {
namespace gcn {

template <class T, class Policy = Unmodified>
class Fused : public Execution<T> {
 public:
  Fused(const Gcn<T>& net, GcnOrder order) : Execution<T>(net, order) {
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

  const RowsView<T> rows() {
    if (rows_ == nullptr) {
      Index widest = 1;
      for (Index l = 0; l < this->layers(); ++l) {
        const bool transform = this->order_of(l) == GcnOrder::transform_first;
        const Index held = transform ? w(l).ld : padded<T>(w(l).rows);
        if (held <= kWidest<T> && held > widest) widest = held;
      }
      rows_ = std::make_unique<DeviceRows<T>>(this->net_.a, padded<T>(widest), this->stream());
    }
    return rows_->view();
  }

  /// X W of layer l.
  const DeviceDense<T>* add_transform(Index l) {
    DeviceDense<T>& s = this->matrix(w(l).cols, "X W");
    const std::string name = E::input_name(l) + " W" + E::number(l);
    if (!this->sparse_input(l)) {
      this->add_dense_product(Ladder::ours, name, this->dense_input(l), w(l), s, true);
      return &s;
    }
    x_rows_ = std::make_unique<DeviceRows<T>>(this->net_.x_sparse, s.ld, this->stream());
    Epilogue<T> e;
    e.columns = static_cast<int>(s.cols), e.width = static_cast<int>(s.ld), e.z = s.data.data();
    const DeviceDense<T>& from = w(l);
    this->add(name, [this, e, &from] {
      launch_aggregate<T, Policy>(x_rows_->view(), from.data.data(), from.ld, e.width, e, this->stream());
    });
    return &s;
  }

  /// Layer l with everything that its epilogue can compute; returns H W of the next layer, or null.
  const DeviceDense<T>* add_layer(Index l, const DeviceDense<T>* s) {
    const bool transform = this->order_of(l) == GcnOrder::transform_first, last = this->last(l);
    if (transform && s == nullptr) s = add_transform(l);
    const DeviceDense<T>& from = transform ? *s : this->dense_input(l);
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
      e.after = w(l + 1).weights();
      e.next = next->data.data();
      name += ", ReLU, H W" + E::number(l + 1);
    } else {
      name += ", ReLU";
    }
    const bool needed = !last && next == nullptr;
    const RowsView<T> a = rows();
    this->add(name, [this, a, e, &from, &z, needed] {
      Epilogue<T> now = e;
      if (needed || this->keep_) now.z = z.data.data();
      launch_aggregate<T, Policy>(a, from.data.data(), from.ld, static_cast<int>(from.ld), now,
                                  this->stream());
    });
    return next;
  }

  std::unique_ptr<DeviceRows<T>> rows_, x_rows_;
};

}  // namespace gcn
}  // namespace plumb
