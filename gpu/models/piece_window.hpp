// Pieces of a model's data in device memory: all of them, or a window that moves over them. Each piece is one piece of memory, the same on
// the host as on the device. A stream of its own copies the next pieces from pinned host memory into places whose pieces have been
// computed; the host waits for none of it.
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
#include "reference/models/streamed_copies.hpp"

namespace plumb {

constexpr Index kPieceAlign = 256;  // of a piece's arrays

/// Bytes that an array of so many takes in a piece.
[[nodiscard]] constexpr Index in_piece(Index bytes) { return ceil_div(bytes, kPieceAlign) * kPieceAlign; }

/// Where the arrays of one piece lie in its memory.
struct PieceShape {
  Index items = 0;                   // of what the piece is made of: neuron tiles, groups, rows
  std::array<Index, 8> begins = {};  // of each array, in bytes
  Index bytes = 0;
  /// Array i of a piece that lies at `base`.
  template <class T>
  [[nodiscard]] const T* array(const char* base, std::size_t i) const {
    return reinterpret_cast<const T*>(base + begins[i]);
  }
};

/// A piece on the host, ready to be copied.
struct Piece {
  PieceShape shape;
  HostBytes bytes;
};

/// The arrays one after another. `pinned`: copies of it run beside the host.
template <class... Arrays>
Piece pack_piece(Index items, bool pinned, const Arrays&... arrays) {
  Piece packed;
  packed.shape.items = items;
  std::size_t i = 0;
  const auto place = [&](Index bytes) {
    packed.shape.begins.at(i++) = packed.shape.bytes;
    packed.shape.bytes += in_piece(bytes);
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

[[nodiscard]] std::vector<PieceShape> shapes_of(const std::vector<Piece>& pieces);

/// Where pieces lie on the device.
struct PiecePlaces {
  std::vector<Index> begins;  // of each place, in bytes
  Index bytes = 0;            // of all
  bool move = false;          // pieces come and go; else each has its place
  /// A place for each piece.
  [[nodiscard]] static PiecePlaces for_all(const std::vector<PieceShape>& pieces);
  /// `count` places, each for any of them.
  [[nodiscard]] static PiecePlaces for_some(const std::vector<PieceShape>& pieces, Index count);
};

class PieceWindow {
 public:
  /// Where pieces do not move they are copied now, else they stay on the host. `memory` has places.bytes at least; windows that move
  /// may share it, if `stream` has come to the end of what reads one when the first pass of another begins.
  PieceWindow(std::vector<Piece> pieces, PiecePlaces places, std::shared_ptr<DeviceArray<char>> memory,
              void* stream);
  PieceWindow(const PieceWindow&) = delete;
  PieceWindow& operator=(const PieceWindow&) = delete;
  virtual ~PieceWindow() = default;

  /// How many there are.
  [[nodiscard]] Index pieces() const { return static_cast<Index>(shapes_.size()); }
  [[nodiscard]] const PieceShape& shape(Index i) const { return shapes_[static_cast<std::size_t>(i)]; }
  /// Whether pieces come and go.
  [[nodiscard]] bool moves() const { return places_.move; }
  /// Pieces that are held at a time.
  [[nodiscard]] Index size() const { return static_cast<Index>(places_.begins.size()); }
  /// Piece i on the host, where pieces move: what comes next is copied from here.
  [[nodiscard]] HostBytes& on_host(Index i) { return pieces_[static_cast<std::size_t>(i)].bytes; }
  /// Where piece i lies in this pass, once wait_for(i, ..) has been called.
  [[nodiscard]] const char* base(Index i) const;

  /// From here on `passes` passes over pieces [first, last).
  void begin(Index first, Index last, Index passes);
  /// Begins the next pass; `stream` has computed all that it will of the one before.
  void begin_pass(void* stream);
  /// What `stream` does from here on comes after pieces [begin, end) have arrived.
  void wait_for(Index begin, Index end, void* stream);
  /// `stream` has been given all that reads pieces before `end`: their places are free once it has run.
  void release(Index end, void* stream);
  /// What the passes since begin() copied and waited for.
  [[nodiscard]] StreamedCopies copied() const;

 protected:
  // What a test may replace, to see that a mistake there is found.
  virtual void wait_arrived(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  virtual void wait_released(const DeviceEvent& event, void* stream) const { event.wait(stream); }
  [[nodiscard]] virtual Index piece_to_copy(Index i) const { return i; }
  [[nodiscard]] virtual Index number_to_read(Index number) const { return number; }

 private:
  // Copies are numbered through all passes; the piece of number n lies at place n % size().
  [[nodiscard]] std::size_t place_of(Index number) const { return static_cast<std::size_t>(number % size()); }
  [[nodiscard]] Index number_of(Index i) const { return pass_ * count_ + i - first_; }
  void copy_ahead();
  void release_to(Index number, void* stream);

  std::vector<PieceShape> shapes_;
  std::vector<Piece> pieces_;  // on the host; empty: all lie on the device
  PiecePlaces places_;
  std::shared_ptr<DeviceArray<char>> memory_;
  DeviceStream copies_;
  std::vector<DeviceEvent> arrived_, released_;  // of each place
  Index first_ = 0, count_ = 0, passes_ = 0, pass_ = -1;
  Index copied_ = 0, free_to_ = 0;  // numbers: the next to be copied; all before it are released
  Index copied_bytes_ = 0;
  std::unique_ptr<DeviceMarks> copying_, waiting_;  // two marks around each
};

/// Seconds between the first and the second of each two marks.
[[nodiscard]] double sum_of_pairs(const DeviceMarks& marks);

}  // namespace plumb
