// Layers of weights in device memory: all of them, or as many as a bound allows, a window that moves over the layers. Each
// layer is one piece of memory, the same on the host as on the device. A stream of its own copies the next layers from pinned
// host memory into places whose layers have been computed; the host waits for none of it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/common/rung.hpp"
#include "gpu/device/resources.hpp"
#include "reference/models/sparse_dnn.hpp"

namespace plumb {
namespace sdnn {

constexpr Index kPieceAlign = 256;       // of a layer's arrays
constexpr Index kDescriptionBytes = 64;  // of a layer, as kernels get it, at most

/// Where the arrays of one layer lie in its piece of memory.
struct LayerShape {
  Index items = 0;                   // neuron tiles or groups
  std::array<Index, 8> begins = {};  // of each array, in bytes
  Index bytes = 0;
  /// Array i of a layer that lies at `base`.
  template <class T>
  [[nodiscard]] const T* array(const char* base, std::size_t i) const {
    return reinterpret_cast<const T*>(base + begins[i]);
  }
};

/// A layer on the host, ready to be copied.
struct PackedLayer {
  LayerShape shape;
  HostBytes bytes;
};

/// The arrays one after another. `pinned`: copies of it run beside the host.
template <class... Arrays>
PackedLayer pack_layer(Index items, bool pinned, const Arrays&... arrays) {
  PackedLayer packed;
  packed.shape.items = items;
  std::size_t i = 0;
  const auto place = [&](Index bytes) {
    packed.shape.begins.at(i++) = packed.shape.bytes;
    packed.shape.bytes += ceil_div(bytes, kPieceAlign) * kPieceAlign;
  };
  (place(static_cast<Index>(arrays.size() * sizeof(arrays[0]))), ...);
  packed.bytes = HostBytes(packed.shape.bytes, pinned);
  i = 0;
  const auto fill = [&](const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(packed.bytes.data() + packed.shape.begins[i], from, bytes);
    ++i;
  };
  (fill(arrays.data(), arrays.size() * sizeof(arrays[0])), ...);
  return packed;
}

/// What may be in device memory: bytes; 0: all that there is, and all layers stay.
struct WindowBound {
  Index memory = 0;
  [[nodiscard]] bool streams() const { return memory > 0; }
};

class LayerWindow {
 public:
  /// All layers are copied now if no bound is given or all fit into the weights' share of it; else a window of at least two is
  /// used, and the layers stay on the host. Errors: two layers are more than the bound.
  LayerWindow(std::vector<PackedLayer> layers, WindowBound bound, void* stream);
  LayerWindow(const LayerWindow&) = delete;
  LayerWindow& operator=(const LayerWindow&) = delete;
  virtual ~LayerWindow() = default;

  [[nodiscard]] Index layers() const { return static_cast<Index>(shapes_.size()); }
  [[nodiscard]] const LayerShape& shape(Index l) const { return shapes_[static_cast<std::size_t>(l)]; }
  /// Whether layers come and go.
  [[nodiscard]] bool moves() const { return !layers_.empty(); }
  /// Layers that are held at a time.
  [[nodiscard]] Index size() const { return places(); }
  /// Layers that one launch may read: half of the window, so that the other half is copied meanwhile.
  [[nodiscard]] Index most_at_once() const { return moves() ? std::max<Index>(1, places() / 2) : layers(); }
  /// Bytes of device memory that weights take.
  [[nodiscard]] Index device_bytes() const { return memory_.bytes() + kDescriptionBytes * layers(); }
  /// Where layer l lies in this pass, once wait_for(l, ..) has been called.
  [[nodiscard]] const char* base(Index l) const;

  /// From here on `passes` passes over layers [first, last).
  void begin(Index first, Index last, Index passes);
  /// Begins the next pass; `stream` has computed all that it will of the one before.
  void begin_pass(void* stream);
  /// What `stream` does from here on comes after layers [begin, end) have arrived.
  void wait_for(Index begin, Index end, void* stream);
  /// `stream` has been given all that reads layers before `end`: their places are free once it has run.
  void release(Index end, void* stream);
  /// Adds what the passes since begin() copied and waited for.
  void add_facts(SdnnStreaming& facts) const;

 protected:
  // What a test may replace, to see that a mistake there is found.
  virtual void wait_arrived(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  virtual void wait_released(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  [[nodiscard]] virtual Index layer_to_copy(Index l) const { return l; }
  [[nodiscard]] virtual Index number_to_read(Index number) const { return number; }

 private:
  // Copies are numbered through all passes; the layer of number n lies at place n % places().
  [[nodiscard]] Index places() const { return static_cast<Index>(begins_.size()); }
  [[nodiscard]] std::size_t place_of(Index number) const {
    return static_cast<std::size_t>(number % places());
  }
  [[nodiscard]] Index number_of(Index l) const { return pass_ * count_ + l - first_; }
  void copy_ahead();
  void release_to(Index number, void* stream);

  std::vector<LayerShape> shapes_;
  std::vector<PackedLayer> layers_;  // on the host; empty: all lie on the device
  std::vector<Index> begins_;        // of the places
  DeviceArray<char> memory_;
  DeviceStream copies_;
  std::vector<DeviceEvent> arrived_, released_;  // of each place
  Index first_ = 0, count_ = 0, passes_ = 0, pass_ = -1;
  Index copied_ = 0, free_to_ = 0;  // numbers: the next to be copied; all before it are released
  Index copied_bytes_ = 0;
  std::unique_ptr<DeviceMarks> copying_, waiting_;  // two marks around each
};

/// Makes the window of a pipeline's layers.
using MakeWindow = std::unique_ptr<LayerWindow> (*)(std::vector<PackedLayer> layers, WindowBound bound,
                                                    void* stream);
[[nodiscard]] std::unique_ptr<LayerWindow> make_window(std::vector<PackedLayer> layers, WindowBound bound,
                                                       void* stream);

/// The layers of a window as kernels get them: `Layer` has pointers into the pieces.
template <class Layer>
class LayerTable {
  static_assert(sizeof(Layer) <= kDescriptionBytes);

 public:
  using Describe = Layer (*)(const LayerShape&, const char* base);
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
