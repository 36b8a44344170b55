#include "gpu/models/sparse_dnn/layer_window.hpp"

#include <algorithm>
#include <string>

#include "reference/core/error.hpp"
#include "reference/models/sparse_dnn/streamed.hpp"

namespace plumb {
namespace sdnn {

namespace {

// What a window of more than two layers may take of the bound: a longer one saves launches of steady-state layers, a shorter
// one leaves more for inputs, and each batch of these is one more copy of all weights.
constexpr Index kShareOfWeights = 8;

PiecePlaces places_for(const std::vector<PieceShape>& layers, WindowBound bound) {
  PiecePlaces all = PiecePlaces::for_all(layers);
  if (!bound.streams() || all.bytes <= bound.memory / kShareOfWeights || layers.size() <= 2) return all;
  const Index piece = PiecePlaces::for_some(layers, 1).bytes, count = static_cast<Index>(layers.size());
  const Index places = std::clamp<Index>(bound.memory / kShareOfWeights / piece, 2, count);
  return places == count ? all : PiecePlaces::for_some(layers, places);
}

std::string weights_of(const PiecePlaces& places) {
  return "weights of " + std::to_string(places.begins.size()) + " layers";
}

/// Errors: as layer_places(); the device has less memory.
PiecePlaces places_on_device(const std::vector<Piece>& layers, WindowBound bound) {
  PiecePlaces places = layer_places(shapes_of(layers), bound);
  require_device_memory(places.bytes, "sparse DNN: " + weights_of(places));
  return places;
}

}  // namespace

PiecePlaces layer_places(const std::vector<PieceShape>& layers, WindowBound bound) {
  PiecePlaces places = places_for(layers, bound);
  if (bound.streams() && places.bytes > bound.memory) {  // of two layers: a longer window is chosen smaller
    throw Error("sparse DNN: " + show_amount(bound.memory) +
                " of memory are too little: " + weights_of(places) + " need " + show_amount(places.bytes));
  }
  return places;
}

LayerWindow::LayerWindow(std::vector<Piece>&& layers, const PiecePlaces& places, void* stream)
    : PieceWindow(std::move(layers), places, std::make_shared<DeviceArray<char>>(places.bytes, "weights"),
                  stream),
      weights_bytes_(places.bytes) {}

LayerWindow::LayerWindow(std::vector<Piece> layers, WindowBound bound, void* stream)
    : LayerWindow(std::move(layers), places_on_device(layers, bound), stream) {}

std::unique_ptr<LayerWindow> make_window(std::vector<Piece> layers, WindowBound bound, void* stream) {
  return std::make_unique<LayerWindow>(std::move(layers), bound, stream);
}

}  // namespace sdnn
}  // namespace plumb
