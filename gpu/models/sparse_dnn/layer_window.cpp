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

Index largest_piece(const std::vector<PackedLayer>& layers) {
  Index most = kPieceAlign;
  for (const PackedLayer& l : layers) most = std::max(most, l.shape.bytes);
  return most;
}

/// Where the places begin, and behind the last, where they end.
std::vector<Index> places_for(const std::vector<PackedLayer>& layers, WindowBound bound) {
  Index all = 0;
  for (const PackedLayer& l : layers) all += l.shape.bytes;
  std::vector<Index> begins{0};
  if (!bound.streams() || all <= bound.memory / kShareOfWeights || layers.size() <= 2) {
    for (const PackedLayer& l : layers) begins.push_back(begins.back() + l.shape.bytes);
    return begins;
  }
  const Index piece = largest_piece(layers), count = static_cast<Index>(layers.size());
  const Index places = std::clamp<Index>(bound.memory / kShareOfWeights / piece, 2, count);
  for (Index p = 0; p < places; ++p) begins.push_back(begins.back() + piece);
  return begins;
}

}  // namespace

LayerWindow::LayerWindow(std::vector<PackedLayer> layers, WindowBound bound, void* stream)
    : begins_(places_for(layers, bound)) {
  const Index bytes = begins_.back();
  begins_.pop_back();
  if (bound.streams() && bytes > bound.memory) {  // of two layers: a longer window is chosen smaller
    throw Error("sparse DNN: " + show_amount(bound.memory) + " of memory are too little: weights of " +
                std::to_string(begins_.size()) + " layers need " + show_amount(bytes));
  }
  require_device_memory(bytes, "sparse DNN: weights of " + std::to_string(begins_.size()) + " layers");
  memory_ = DeviceArray<char>(bytes, "weights");
  for (const PackedLayer& l : layers) shapes_.push_back(l.shape);
  if (begins_.size() < layers.size()) {
    layers_ = std::move(layers);
    arrived_.resize(begins_.size());
    released_.resize(begins_.size());
    return;
  }
  for (std::size_t l = 0; l < layers.size(); ++l)
    device_write(memory_.data() + begins_[l], layers[l].bytes.data(),
                 static_cast<std::size_t>(shapes_[l].bytes), stream);
}

const char* LayerWindow::base(Index l) const {
  return memory_.data() +
         begins_[moves() ? place_of(number_to_read(number_of(l))) : static_cast<std::size_t>(l)];
}

void LayerWindow::begin(Index first, Index last, Index passes) {
  if (!moves()) return;
  // What the last run copied ahead of its end, where it ended early, is overwritten in the order of the copies.
  first_ = first, count_ = last - first, passes_ = passes, pass_ = -1;
  copied_ = free_to_ = copied_bytes_ = 0;
  copying_ = std::make_unique<DeviceMarks>(2 * passes * count_);
  waiting_ = std::make_unique<DeviceMarks>(2 * passes * count_);
}

void LayerWindow::begin_pass(void* stream) {
  if (!moves()) return;
  ++pass_;
  const Index before = pass_ * count_;
  if (pass_ == 0) {
    for (DeviceEvent& event : released_) event.record(stream);  // of the run before
  }
  copied_ = std::max(copied_, before);  // a pass may end before its last layer, when no row is active
  release_to(before, stream);
}

void LayerWindow::wait_for(Index begin, Index end, void* stream) {
  if (!moves()) return;
  waiting_->mark(stream);
  for (Index l = begin; l < end; ++l) wait_arrived(arrived_[place_of(number_of(l))], stream);
  waiting_->mark(stream);
}

void LayerWindow::release(Index end, void* stream) {
  if (moves()) release_to(number_of(end), stream);
}

/// All layers before `number` are computed once `stream` has come so far: places that held them get the next ones.
void LayerWindow::release_to(Index number, void* stream) {
  for (; free_to_ < number; ++free_to_) released_[place_of(free_to_)].record(stream);
  copy_ahead();
}

void LayerWindow::copy_ahead() {
  void* const stream = copies_.get();
  for (const Index all = passes_ * count_; copied_ < all && copied_ < free_to_ + places(); ++copied_) {
    const std::size_t place = place_of(copied_);
    const PackedLayer& layer = layers_[static_cast<std::size_t>(layer_to_copy(first_ + copied_ % count_))];
    wait_released(released_[place], stream);
    copying_->mark(stream);
    layer.bytes.copy_to(memory_.data() + begins_[place], layer.shape.bytes, stream);
    copying_->mark(stream);
    arrived_[place].record(stream);
    copied_bytes_ += layer.shape.bytes;
  }
}

void LayerWindow::add_facts(SdnnStreaming& facts) const {
  facts.window = size();
  facts.loaded_bytes += copied_bytes_;
  if (!moves()) return;
  copies_.wait();
  const auto sum_of_pairs = [](const DeviceMarks& marks) {
    const std::vector<double> between = marks.seconds();
    double sum = 0;
    for (std::size_t i = 0; i < between.size(); i += 2) sum += between[i];
    return sum;
  };
  facts.load_seconds += sum_of_pairs(*copying_);
  facts.waited_seconds += sum_of_pairs(*waiting_);
}

std::unique_ptr<LayerWindow> make_window(std::vector<PackedLayer> layers, WindowBound bound, void* stream) {
  return std::make_unique<LayerWindow>(std::move(layers), bound, stream);
}

}  // namespace sdnn
}  // namespace plumb
