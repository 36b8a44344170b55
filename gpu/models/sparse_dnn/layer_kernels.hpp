// Kernels of single layers for networks of any width, as the loop of the tuned pipelines (tuned_loop.hpp)
// needs them, and the kernels between such layers.
#pragma once
#include "gpu/models/sparse_dnn/lane_gather.hpp"
#include "gpu/models/sparse_dnn/layer_window.hpp"
#include "reference/core/memory.hpp"

namespace plumb {
namespace sdnn {

/// 32-bit words that run_steady needs for this many layers and rows.
inline Index steady_zeros(Index layers, Index rows) { return 1 + layers * ceil_div(rows, kPanel); }

/// A network's layers, ready to run. Rows lie in panels of 32, and every panel is written to its end.
class LayerKernels {
 public:
  LayerKernels() = default;
  LayerKernels(const LayerKernels&) = delete;
  LayerKernels& operator=(const LayerKernels&) = delete;
  virtual ~LayerKernels() = default;

  [[nodiscard]] virtual LayerWindow& window() const = 0;
  /// Begins the window's next pass over layers [first, last), of which run() and run_steady() compute some that have arrived.
  virtual void begin_pass(Index first, Index last, void* stream) = 0;

  /// out(r) = layer l of in(place[r]), or of in(r) where place is null, r in [0, *count); the bits of rows
  /// with a non-zero are set.
  virtual void run(Index l, const float* in, const std::int32_t* place, const std::int32_t* count, float* out,
                   unsigned* active_bits, void* stream) const = 0;

  /// Layers [first, last) in one launch; rows [0, rows) stay where they are, inactive ones as zeros. The
  /// result is in `y` if last - first is even, otherwise in `other`. `y` holds zeros or numbers to the end of
  /// the last panel. active_bits (last - first, panels) and zeros (steady_zeros) are 0 before the call.
  virtual void run_steady(Index first, Index last, Index rows, float* y, float* other, unsigned* active_bits,
                          unsigned* zeros, void* stream) const = 0;

  /// Time of run() for a row read through `place`, relative to a row read where it lies.
  [[nodiscard]] virtual double listed_cost() const = 0;
};

/// pack(layer, pinned) of every layer, on all the host's threads; pinned where the bound may keep them on the host.
template <class Pack>
std::vector<Piece> pack_layers(const SparseDnn& net, WindowBound bound, Pack pack) {
  constexpr double kBytesPerEdge = 6;  // or a little less
  const Index layers = net.layers();
  if (bound.streams())
    require_memory("prepared weights of " + std::to_string(layers) + " layers",
                   kBytesPerEdge * static_cast<double>(net.edges(0, layers)));
  return make_parts<Piece>(net, [&](const Csr<float>& gather) { return pack(gather, bound.streams()); });
}

/// Kernels of layers that come from a window. `Layer`: what a kernel gets of one.
template <class Layer>
class WindowKernels : public LayerKernels {
 public:
  using Pack = Piece (*)(const Csr<float>& gather, bool pinned);
  WindowKernels(const SparseDnn& net, WindowBound bound, MakeWindow make, Pack pack,
                typename LayerTable<Layer>::Describe describe, void* stream)
      : neurons_(net.neurons),
        bias_(net.bias),
        cap_(net.cap),
        layers_(make(pack_layers(net, bound, pack), bound, stream), describe, stream) {}

  LayerWindow& window() const override { return layers_.window(); }
  void begin_pass(Index first, Index last, void* stream) override { layers_.begin_pass(first, last, stream); }

 protected:
  Index neurons_;
  float bias_, cap_;
  LayerTable<Layer> layers_;
};

/// The listed inputs, whose columns are distinct, as panels; every element of every panel is written once.
void panel_inputs(const DeviceRows& inputs, const ActiveRows& active, Index neurons, float* y, void* stream);

/// to(r) = from(place[r]) for r in [0, *count), both in panels; zeros from there to the panel's end.
void compact_rows(const float* from, const std::int32_t* place, const std::int32_t* count, Index neurons,
                  float* to, void* stream);

/// counts[i] = bits set in words [i * words, (i + 1) * words), i in [0, layers).
void count_active(const unsigned* active_bits, Index words, Index layers, std::int32_t* counts, void* stream);

}  // namespace sdnn
}  // namespace plumb
