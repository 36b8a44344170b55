#include "gpu/models/piece_window.hpp"

#include <algorithm>

namespace plumb {

std::vector<PieceShape> shapes_of(const std::vector<Piece>& pieces) {
  std::vector<PieceShape> shapes;
  shapes.reserve(pieces.size());
  for (const Piece& p : pieces) shapes.push_back(p.shape);
  return shapes;
}

PiecePlaces PiecePlaces::for_all(const std::vector<PieceShape>& pieces) {
  PiecePlaces places;
  for (const PieceShape& p : pieces) places.begins.push_back(places.bytes), places.bytes += p.bytes;
  return places;
}

PiecePlaces PiecePlaces::for_some(const std::vector<PieceShape>& pieces, Index count) {
  Index most = kPieceAlign;
  for (const PieceShape& p : pieces) most = std::max(most, p.bytes);
  PiecePlaces places;
  places.move = true;
  for (Index i = 0; i < count; ++i) places.begins.push_back(i * most);
  places.bytes = count * most;
  return places;
}

PieceWindow::PieceWindow(std::vector<Piece> pieces, PiecePlaces places,
                         std::shared_ptr<DeviceArray<char>> memory, void* stream)
    : shapes_(shapes_of(pieces)), places_(std::move(places)), memory_(std::move(memory)) {
  if (moves()) {
    pieces_ = std::move(pieces);
    arrived_.resize(places_.begins.size());
    released_.resize(places_.begins.size());
    return;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    device_write(memory_->data() + places_.begins[i], pieces[i].bytes.data(),
                 static_cast<std::size_t>(shapes_[i].bytes), stream);
}

const char* PieceWindow::base(Index i) const {
  return memory_->data() +
         places_.begins[moves() ? place_of(number_to_read(number_of(i))) : static_cast<std::size_t>(i)];
}

void PieceWindow::begin(Index first, Index last, Index passes) {
  if (!moves()) return;
  // What the last run copied ahead of its end, where it ended early, is overwritten in the order of the copies.
  first_ = first, count_ = last - first, passes_ = passes, pass_ = -1;
  copied_ = free_to_ = copied_bytes_ = 0;
  copying_ = std::make_unique<DeviceMarks>(2 * passes * count_);
  waiting_ = std::make_unique<DeviceMarks>(2 * passes * count_);
}

void PieceWindow::begin_pass(void* stream) {
  if (!moves()) return;
  ++pass_;
  const Index before = pass_ * count_;
  if (pass_ == 0) {
    for (DeviceEvent& event : released_) event.record(stream);  // of the run before
  }
  copied_ =
      std::max(copied_, before);  // a pass may end before its last piece, when nothing is left to compute
  release_to(before, stream);
}

void PieceWindow::wait_for(Index begin, Index end, void* stream) {
  if (!moves()) return;
  waiting_->mark(stream);
  for (Index i = begin; i < end; ++i) wait_arrived(arrived_[place_of(number_of(i))], stream);
  waiting_->mark(stream);
}

void PieceWindow::release(Index end, void* stream) {
  if (moves()) release_to(number_of(end), stream);
}

/// All pieces before `number` are computed once `stream` has come so far: places that held them get the next ones.
void PieceWindow::release_to(Index number, void* stream) {
  for (; free_to_ < number; ++free_to_) released_[place_of(free_to_)].record(stream);
  copy_ahead();
}

void PieceWindow::copy_ahead() {
  void* const stream = copies_.get();
  for (const Index all = passes_ * count_; copied_ < all && copied_ < free_to_ + size(); ++copied_) {
    const std::size_t place = place_of(copied_);
    const Piece& piece = pieces_[static_cast<std::size_t>(piece_to_copy(first_ + copied_ % count_))];
    wait_released(released_[place], stream);
    copying_->mark(stream);
    piece.bytes.copy_to(memory_->data() + places_.begins[place], piece.shape.bytes, stream);
    copying_->mark(stream);
    arrived_[place].record(stream);
    copied_bytes_ += piece.shape.bytes;
  }
}

StreamedCopies PieceWindow::copied() const {
  StreamedCopies copies;
  copies.loaded_bytes = copied_bytes_;
  if (!moves()) return copies;
  copies_.wait();
  copies.load_seconds = sum_of_pairs(*copying_);
  copies.waited_seconds = sum_of_pairs(*waiting_);
  return copies;
}

double sum_of_pairs(const DeviceMarks& marks) {
  const std::vector<double> between = marks.seconds();
  double sum = 0;
  for (std::size_t i = 0; i < between.size(); i += 2) sum += between[i];
  return sum;
}

}  // namespace plumb
