#include "gpu/models/sparse_dnn/layer_window.hpp"

#include <algorithm>
#include <string>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn_streamed.hpp"

namespace plumb {
namespace sdnn {

namespace {

// What a window of more than two layers may take of the bound: a longer one saves launches of steady-state layers, a shorter
// one leaves more for inputs, and each batch of these is one more copy of all weights.
constexpr Index kShareOfWeights = 8;

PiecePlaces places_for(const std::vector<Piece>& layers, WindowBound bound) {
  PiecePlaces all = PiecePlaces::for_all(layers);
  if (!bound.streams() || all.bytes <= bound.memory / kShareOfWeights || layers.size() <= 2) return all;
  const Index piece = PiecePlaces::for_some(layers, 1).bytes, count = static_cast<Index>(layers.size());
  const Index places = std::clamp<Index>(bound.memory / kShareOfWeights / piece, 2, count);
  return places == count ? all : PiecePlaces::for_some(layers, places);
}

/// Errors: two layers are more than the bound, or than there is.
PiecePlaces places_within(const std::vector<Piece>& layers, WindowBound bound) {
  PiecePlaces places = places_for(layers, bound);
  const std::string of_layers = "weights of " + std::to_string(places.begins.size()) + " layers";
  if (bound.streams() && places.bytes > bound.memory) {  // of two layers: a longer window is chosen smaller
    throw Error("sparse DNN: " + show_amount(bound.memory) + " of memory are too little: " + of_layers +
                " need " + show_amount(places.bytes));
  }
  require_device_memory(places.bytes, "sparse DNN: " + of_layers);
  return places;
}

}  // namespace

LayerWindow::LayerWindow(std::vector<Piece>&& layers, const PiecePlaces& places, void* stream)
    : PieceWindow(std::move(layers), places, std::make_shared<DeviceArray<char>>(places.bytes, "weights"),
                  stream),
      weights_bytes_(places.bytes) {}

LayerWindow::LayerWindow(std::vector<Piece> layers, WindowBound bound, void* stream)
    : LayerWindow(std::move(layers), places_within(layers, bound), stream) {}

std::unique_ptr<LayerWindow> make_window(std::vector<Piece> layers, WindowBound bound, void* stream) {
  return std::make_unique<LayerWindow>(std::move(layers), bound, stream);
}

}  // namespace sdnn
}  // namespace plumb
