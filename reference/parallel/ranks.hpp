// What the models say to other ranks: blocks of one element type, broadcast, gathered or exchanged. Every block has a label,
// a number and a digest of its content, which its receiver compares with what it expects and with what it got.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <type_traits>
#include <vector>

#include "reference/core/matrix.hpp"
#include "reference/parallel/transport.hpp"

namespace plumb {

class Watch;

/// What a block consists of; sender and receiver must agree.
enum class Element : std::uint8_t { bytes, i32, i64, f32, f64 };
template <class T>
[[nodiscard]] constexpr Element element_of() {
  if constexpr (std::is_same_v<T, std::int32_t>) return Element::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Element::i64;
  if constexpr (std::is_same_v<T, float>) return Element::f32;
  if constexpr (std::is_same_v<T, double>) return Element::f64;
  return Element::bytes;
}

/// Bytes of blocks that this rank has sent and received, with what describes each block.
struct Traffic {
  std::int64_t sent = 0, received = 0;
};

/// This process among the ranks of its job. Rank 0 reads, gathers, reports and writes.
///
/// Order     every rank calls the same functions with the same labels in the same order.
/// Errors    a block with another label, number, type, length or content than expected: Error, with both ranks. A rank
///           that does not answer: the watch ends the job.
class Ranks {
 public:
  /// Both must outlive it. `watch` may be null: then nothing limits how long a rank waits.
  explicit Ranks(Transport& transport, Watch* watch = nullptr);

  [[nodiscard]] int rank() const { return transport_.rank(); }
  [[nodiscard]] int size() const { return transport_.size(); }
  [[nodiscard]] bool is_root() const { return rank() == 0; }
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  /// Rank 0's values to all; a vector takes its length.
  template <class T>
  void broadcast(const char* what, std::vector<T>& values);
  template <class T>
  void broadcast_value(const char* what, T& value);
  void broadcast(const char* what, std::string& text);
  template <class T>
  void broadcast(const char* what, Csr<T>& matrix);
  template <class T>
  void broadcast(const char* what, Dense<T>& matrix);

  /// On rank 0 the values of all ranks, by rank; elsewhere nothing.
  template <class T>
  [[nodiscard]] std::vector<std::vector<T>> gather(const char* what, const std::vector<T>& mine);
  /// The values of all ranks, by rank, on every rank.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const char* what, T mine);
  /// Returns once every rank has called it.
  void meet(const char* what);

  /// One vector or matrix from rank to rank; a receiver takes its length.
  template <class T>
  void send(int to, const char* what, const std::vector<T>& values);
  template <class T>
  [[nodiscard]] std::vector<T> receive(int from, const char* what);
  template <class T>
  void send(int to, const char* what, const Csr<T>& matrix);
  template <class T>
  [[nodiscard]] Csr<T> receive_csr(int from, const char* what);

 private:
  friend class Exchange;
  void broadcast_bytes(const char* what, Element type, void* data, std::int64_t bytes);

  Transport& transport_;
  Watch* watch_;
  std::vector<std::int64_t> sent_, received_;  // blocks, by rank: their numbers
  Traffic traffic_;
};

/// Goes before every block, as a message of its own.
struct BlockHeader {
  static constexpr std::size_t kLabel = 24;
  char what[kLabel] = {};
  std::int64_t number = 0;  // of the blocks from this sender to this receiver
  std::int64_t bytes = 0;
  std::int64_t type = 0;  // Element
  std::uint64_t digest = 0;
};

/// Blocks that move while this rank works on: begun by send() and receive(), complete after wait(). The arrays must stay
/// until then. An Exchange that is destroyed before closes the transport: the job can only end.
class Exchange {
 public:
  Exchange(Ranks& ranks, const char* what) : ranks_(ranks), what_(what) {}
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  template <class T>
  void send(int to, const T* data, std::int64_t count) {
    begin(true, to, element_of<T>(), const_cast<T*>(data), count * static_cast<std::int64_t>(sizeof(T)));
  }
  template <class T>
  void receive(int from, T* data, std::int64_t count) {
    begin(false, from, element_of<T>(), data, count * static_cast<std::int64_t>(sizeof(T)));
  }
  /// Moves what can be moved now.
  void advance() { static_cast<void>(poll()); }
  void wait();

 private:
  friend class Ranks;
  struct Block {
    bool sends;
    int peer;
    BlockHeader mine, theirs;  // theirs: of a block that is received
    const void* data;
    std::int64_t moved = 0;
  };
  struct Part {
    Transport::Request request;
    Block* block;
    bool is_header, done;
  };
  void begin(bool sends, int peer, Element type, void* data, std::int64_t bytes);
  [[nodiscard]] Transport::Request begin_part(bool sends, int peer, void* data, std::int64_t bytes);
  bool poll();
  void compare_headers(const Block& block) const;
  void compare_content(const Block& block) const;
  [[noreturn]] void refuse(const Block& block, const std::string& difference) const;

  Ranks& ranks_;
  const char* what_;
  std::deque<Block> blocks_;  // a deque: headers are in use while more blocks are begun
  std::vector<Part> parts_;
};

/// In a broadcast, the rank from which `rank` (not 0) gets the block: `rank` without its lowest bit.
[[nodiscard]] constexpr int broadcast_source(int rank) { return rank & (rank - 1); }

/// 64 bits that tell arrays apart; no protection from an adversary.
[[nodiscard]] std::uint64_t digest_of(const void* data, std::int64_t bytes);

/// Rows [cuts[r], cuts[r + 1]) belong to rank r.
using Cuts = std::vector<std::int64_t>;
/// `rows` in parts that differ by one row at most.
[[nodiscard]] Cuts cut_evenly(std::int64_t rows, int ranks);
/// Consecutive rows in parts with about as many of row_ptr's entries each.
[[nodiscard]] Cuts cut_by_entries(const std::vector<std::int32_t>& row_ptr, int ranks);
/// The rank whose part holds `row`.
[[nodiscard]] int owner_of(const Cuts& cuts, std::int64_t row);

}  // namespace plumb
