// Layers of weights in device memory: all of them, or as many as a bound allows, a window that moves over the layers.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/models/piece_window.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb {
namespace sdnn {

constexpr Index kDescriptionBytes = 64;  // of a layer, as kernels get it, at most

/// What may be in device memory: bytes; 0: all that there is, and all layers stay.
struct WindowBound {
  Index memory = 0;
  [[nodiscard]] bool streams() const { return memory > 0; }
};

/// Where layers of these shapes lie: all, if no bound is given or all fit into the weights' share of it; else a window of at least two.
/// Errors: two layers are more than the bound.
[[nodiscard]] PiecePlaces layer_places(const std::vector<PieceShape>& layers, WindowBound bound);

/// Each layer is a piece.
class LayerWindow : public PieceWindow {
 public:
  /// Layers that do not move are copied now, else they stay on the host. Errors: as layer_places(); the device has less memory.
  LayerWindow(std::vector<Piece> layers, WindowBound bound, void* stream);

  [[nodiscard]] Index layers() const { return pieces(); }
  /// Layers that one launch may read: half of the window, so that the other half is copied meanwhile.
  [[nodiscard]] Index most_at_once() const { return moves() ? std::max<Index>(1, size() / 2) : layers(); }
  /// Bytes of device memory that weights take, and what describes their layers.
  [[nodiscard]] Index weights_bytes() const { return weights_bytes_; }
  [[nodiscard]] Index description_bytes() const { return kDescriptionBytes * layers(); }

 private:
  LayerWindow(std::vector<Piece>&& layers, const PiecePlaces& places, void* stream);
  Index weights_bytes_;
};

/// Makes the window of a pipeline's layers.
using MakeWindow = std::unique_ptr<LayerWindow> (*)(std::vector<Piece> layers, WindowBound bound,
                                                    void* stream);
[[nodiscard]] std::unique_ptr<LayerWindow> make_window(std::vector<Piece> layers, WindowBound bound,
                                                       void* stream);

/// The layers of a window as kernels get them: `Layer` has pointers into the pieces.
template <class Layer>
class LayerTable {
  static_assert(sizeof(Layer) <= kDescriptionBytes);

 public:
  using Describe = Layer (*)(const PieceShape&, const char* base);
  LayerTable(std::unique_ptr<LayerWindow> window, Describe describe, void* stream)
      : window_(std::move(window)),
        describe_(describe),
        layers_(static_cast<std::size_t>(window_->layers())) {
    if (!window_->moves()) describe_layers(0, window_->layers());
    on_device_ = DeviceArray<Layer>(layers_, "layers", stream);
  }
  [[nodiscard]] LayerWindow& window() const { return *window_; }
  [[nodiscard]] const Layer& operator[](Index l) const { return layers_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] const Layer* on_device() const { return on_device_.data(); }

  /// Begins the window's next pass over layers [first, last).
  void begin_pass(Index first, Index last, void* stream) {
    window_->begin_pass(stream);
    if (!window_->moves()) return;
    describe_layers(first, last);
    device_write(on_device_.data(), layers_.data(), layers_.size() * sizeof(Layer), stream);
  }

 private:
  void describe_layers(Index first, Index last) {
    for (Index l = first; l < last; ++l)
      layers_[static_cast<std::size_t>(l)] = describe_(window_->shape(l), window_->base(l));
  }

  std::unique_ptr<LayerWindow> window_;
  Describe describe_;
  std::vector<Layer> layers_;
  DeviceArray<Layer> on_device_;
};

}  // namespace sdnn
}  // namespace plumb
