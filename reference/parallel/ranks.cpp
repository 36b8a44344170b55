#include "reference/parallel/ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/parallel/watch.hpp"

namespace plumb {

namespace {

const char* name_of(std::int64_t type) {
  constexpr const char* kNames[] = {"bytes", "int32", "int64", "fp32", "fp64"};
  return type >= 0 && type < 5 ? kNames[type] : "no known type";
}

/// Gives the core away: more and more, as ranks may share one.
class Pause {
 public:
  void operator()() {
    constexpr int kYields = 256;
    constexpr std::chrono::microseconds kSleep{100};
    if (++turns_ < kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSleep);
    }
  }

 private:
  int turns_ = 0;
};

}  // namespace

Exchange::~Exchange() {
  if (!parts_.empty()) ranks_.transport_.close();
}

Transport::Request Exchange::begin_part(bool sends, int peer, void* data, std::int64_t bytes) {
  return sends ? ranks_.transport_.begin_send(peer, Channel::data, data, bytes)
               : ranks_.transport_.begin_receive(peer, Channel::data, data, bytes);
}

void Exchange::begin(bool sends, int peer, Element type, void* data, std::int64_t bytes) {
  Block& block = blocks_.emplace_back();
  block.sends = sends;
  block.peer = peer;
  std::strncpy(block.mine.what, what_, BlockHeader::kLabel - 1);
  block.mine.number = (sends ? ranks_.sent_ : ranks_.received_)[static_cast<std::size_t>(peer)]++;
  block.mine.bytes = bytes;
  block.mine.type = static_cast<std::int64_t>(type);
  block.data = data;
  if (sends) block.mine.digest = digest_of(data, bytes);
  BlockHeader& header = sends ? block.mine : block.theirs;
  parts_.push_back({begin_part(sends, peer, &header, sizeof header), &block, true, false});
  for (std::int64_t at = 0; at < bytes; at += Transport::kMostBytes) {
    const std::int64_t part = std::min(bytes - at, Transport::kMostBytes);
    parts_.push_back({begin_part(sends, peer, static_cast<char*>(data) + at, part), &block, false, false});
  }
  const std::int64_t all = bytes + static_cast<std::int64_t>(sizeof header);
  (sends ? ranks_.traffic_.sent : ranks_.traffic_.received) += all;
}

/// True where something moved.
bool Exchange::poll() {
  bool moved = false;
  for (Part& part : parts_) {
    if (part.done) continue;
    const std::optional<std::int64_t> bytes = ranks_.transport_.done(part.request);
    if (!bytes) continue;
    part.done = moved = true;
    if (!part.is_header) part.block->moved += *bytes;
    if (part.is_header && !part.block->sends) compare_headers(*part.block);
  }
  return moved;
}

void Exchange::refuse(const Block& block, const std::string& difference) const {
  throw Error(
      fmt::format("rank {} and rank {} disagree at '{}': {}", ranks_.rank(), block.peer, what_, difference));
}

void Exchange::compare_headers(const Block& block) const {
  BlockHeader got = block.theirs;
  got.what[BlockHeader::kLabel - 1] = '\0';
  const BlockHeader& want = block.mine;
  if (std::strcmp(got.what, want.what) != 0)
    refuse(block, fmt::format("rank {} sent '{}'", block.peer, printable(got.what)));
  if (got.number != want.number)
    refuse(block,
           fmt::format("rank {} sent block {}, block {} is expected", block.peer, got.number, want.number));
  if (got.type != want.type)
    refuse(block,
           fmt::format("rank {} sent {}, {} is expected", block.peer, name_of(got.type), name_of(want.type)));
  if (got.bytes != want.bytes)
    refuse(block, fmt::format("rank {} sent {} B, {} B are expected", block.peer, got.bytes, want.bytes));
}

void Exchange::compare_content(const Block& block) const {
  if (block.moved != block.mine.bytes)
    refuse(block, fmt::format("{} of {} B came", block.moved, block.mine.bytes));
  if (!block.sends && digest_of(block.data, block.mine.bytes) != block.theirs.digest)
    refuse(block,
           fmt::format("the {} B that came are not those that rank {} sent", block.mine.bytes, block.peer));
}

void Exchange::wait() {
  const auto left = [&] {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return !part.done; });
  };
  Watch* const watch = ranks_.watch_;
  Pause pause;
  while (left()) {
    if (poll()) {
      pause = {};
      if (watch != nullptr) watch->moved();
      continue;
    }
    if (watch != nullptr) watch->waiting(what_);
    pause();
  }
  if (watch != nullptr) watch->working();
  parts_.clear();
  for (const Block& block : blocks_) compare_content(block);
  blocks_.clear();
}

Ranks::Ranks(Transport& transport, Watch* watch)
    : transport_(transport),
      watch_(watch),
      sent_(static_cast<std::size_t>(transport.size())),
      received_(static_cast<std::size_t>(transport.size())) {}

/// A binomial tree (broadcast_source): no rank sends more than log2(size) times.
void Ranks::broadcast_bytes(const char* what, Element type, void* data, std::int64_t bytes) {
  const auto block = [&](bool sends, int peer) {
    Exchange exchange(*this, what);
    exchange.begin(sends, peer, type, data, bytes);
    exchange.wait();
  };
  int bit = 1;
  for (; bit < size() && (rank() & bit) == 0; bit *= 2) {}
  if (rank() != 0) block(false, broadcast_source(rank()));
  Exchange down(*this, what);
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank() + bit < size()) down.begin(true, rank() + bit, type, data, bytes);
  }
  down.wait();
}

template <class T>
void Ranks::broadcast_value(const char* what, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast_bytes(what, element_of<T>(), &value, sizeof(T));
}

template <class T>
void Ranks::broadcast(const char* what, std::vector<T>& values) {
  auto count = static_cast<std::int64_t>(values.size());
  broadcast_value(what, count);
  if (!is_root()) values.resize(static_cast<std::size_t>(count));
  if (count > 0)
    broadcast_bytes(what, element_of<T>(), values.data(), count * static_cast<std::int64_t>(sizeof(T)));
}

void Ranks::broadcast(const char* what, std::string& text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  std::vector<std::byte> bytes(begin, begin + text.size());
  broadcast(what, bytes);
  text.clear();
  for (const std::byte b : bytes) text.push_back(std::to_integer<char>(b));
}

template <class T>
void Ranks::broadcast(const char* what, Csr<T>& matrix) {
  broadcast_value(what, matrix.rows);
  broadcast_value(what, matrix.cols);
  broadcast(what, matrix.row_ptr);
  broadcast(what, matrix.col);
  broadcast(what, matrix.val);
}

template <class T>
void Ranks::broadcast(const char* what, Dense<T>& matrix) {
  broadcast_value(what, matrix.rows);
  broadcast_value(what, matrix.cols);
  broadcast(what, matrix.data);
}

template <class T>
void Ranks::send(int to, const char* what, const std::vector<T>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  Exchange exchange(*this, what);
  exchange.send(to, &count, 1);
  exchange.send(to, values.data(), count);
  exchange.wait();
}

template <class T>
std::vector<T> Ranks::receive(int from, const char* what) {
  std::int64_t count = 0;
  Exchange length(*this, what);
  length.receive(from, &count, 1);
  length.wait();
  std::vector<T> values(static_cast<std::size_t>(count));
  Exchange exchange(*this, what);
  exchange.receive(from, values.data(), count);
  exchange.wait();
  return values;
}

template <class T>
void Ranks::send(int to, const char* what, const Csr<T>& matrix) {
  send(to, what, std::vector<std::int64_t>{matrix.rows, matrix.cols});
  send(to, what, matrix.row_ptr);
  send(to, what, matrix.col);
  send(to, what, matrix.val);
}

template <class T>
Csr<T> Ranks::receive_csr(int from, const char* what) {
  Csr<T> matrix;
  const auto shape = receive<std::int64_t>(from, what);
  matrix.rows = shape.at(0), matrix.cols = shape.at(1);
  matrix.row_ptr = receive<std::int32_t>(from, what);
  matrix.col = receive<std::int32_t>(from, what);
  matrix.val = receive<T>(from, what);
  return matrix;
}

template <class T>
std::vector<std::vector<T>> Ranks::gather(const char* what, const std::vector<T>& mine) {
  if (!is_root()) {
    send(0, what, mine);
    return {};
  }
  std::vector<std::vector<T>> all{mine};
  for (int r = 1; r < size(); ++r) all.push_back(receive<T>(r, what));
  return all;
}

template <class T>
std::vector<T> Ranks::all_gather(const char* what, T mine) {
  std::vector<T> all;
  for (const std::vector<T>& one : gather(what, std::vector<T>{mine})) all.push_back(one.at(0));
  broadcast(what, all);
  return all;
}

void Ranks::meet(const char* what) { static_cast<void>(all_gather(what, std::int32_t{0})); }

std::uint64_t digest_of(const void* data, std::int64_t bytes) {
  constexpr int kLanes = 4;  // independent chains, as one multiplication waits for the one before
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
  std::uint64_t lane[kLanes] = {1, 2, 3, 4};
  const auto mix = [](std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * kFactor;
    return h ^ (h >> 29);
  };
  const auto* at = static_cast<const unsigned char*>(data);
  constexpr std::int64_t kStep = kLanes * sizeof(std::uint64_t);
  std::int64_t left = bytes;
  for (; left >= kStep; left -= kStep, at += kStep) {
    std::uint64_t words[kLanes];
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < kLanes; ++i) lane[i] = mix(lane[i], words[i]);
  }
  std::uint64_t h = static_cast<std::uint64_t>(bytes);
  for (; left > 0; --left) h = mix(h, *at++);
  for (const std::uint64_t l : lane) h = mix(h, l);
  return h;
}

Cuts cut_evenly(std::int64_t rows, int ranks) {
  Cuts cuts{0};
  for (int r = 1; r <= ranks; ++r) cuts.push_back(rows / ranks * r + std::min<std::int64_t>(rows % ranks, r));
  return cuts;
}

Cuts cut_by_entries(const std::vector<std::int32_t>& row_ptr, int ranks) {
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  Cuts cuts{0};
  for (int r = 1; r < ranks; ++r) {
    // a row counts as one entry more: rows without entries are work, too
    const double share = static_cast<double>(row_ptr.back() + rows) * r / ranks;
    std::int64_t low = cuts.back(), high = rows;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const double before = row_ptr[static_cast<std::size_t>(middle)] + static_cast<double>(middle);
      before < share ? low = middle + 1 : high = middle;
    }
    cuts.push_back(low);
  }
  cuts.push_back(rows);
  return cuts;
}

int owner_of(const Cuts& cuts, std::int64_t row) {
  return static_cast<int>(std::upper_bound(cuts.begin(), cuts.end(), row) - cuts.begin()) - 1;
}

#define PLUMB_RANKS_FOR(T)                                                                   \
  template void Ranks::broadcast<T>(const char*, std::vector<T>&);                           \
  template void Ranks::broadcast_value<T>(const char*, T&);                                  \
  template std::vector<std::vector<T>> Ranks::gather<T>(const char*, const std::vector<T>&); \
  template void Ranks::send<T>(int, const char*, const std::vector<T>&);                     \
  template std::vector<T> Ranks::receive<T>(int, const char*);                               \
  template std::vector<T> Ranks::all_gather<T>(const char*, T);
PLUMB_RANKS_FOR(std::byte)
PLUMB_RANKS_FOR(std::int32_t)
PLUMB_RANKS_FOR(std::int64_t)
PLUMB_RANKS_FOR(float)
PLUMB_RANKS_FOR(double)
#define PLUMB_RANKS_OF(T)                                        \
  template void Ranks::broadcast<T>(const char*, Csr<T>&);       \
  template void Ranks::broadcast<T>(const char*, Dense<T>&);     \
  template void Ranks::send<T>(int, const char*, const Csr<T>&); \
  template Csr<T> Ranks::receive_csr<T>(int, const char*);
PLUMB_RANKS_OF(float)
PLUMB_RANKS_OF(double)

}  // namespace plumb
