// What ranks will need, before any is started: the bytes that the calls of Ranks move, added up without moving them.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/parallel/ranks.hpp"

namespace plumb {

/// Of one rank. Memory: of the data that it holds; the program and what a pipeline works with come on top.
struct RankNeeds {
  std::int64_t first = 0, rows = 0;  // its part
  std::int64_t memory = 0;           // bytes
  Traffic once, each_run;            // to get its data; in every inference
};

/// The traffic of each rank, as if all had called the functions of Ranks with these names.
class TrafficModel {
 public:
  explicit TrafficModel(int ranks) : traffic_(static_cast<std::size_t>(ranks)) {}
  void broadcast_value(std::int64_t bytes);
  void broadcast_vector(std::int64_t bytes);
  void send_block(int from, int to, std::int64_t bytes);
  void send_vector(int from, int to, std::int64_t bytes);
  /// A CSR with so many rows and entries, and values of `value_bytes`.
  void send_csr(int from, int to, std::int64_t rows, std::int64_t entries, std::int64_t value_bytes);
  [[nodiscard]] const Traffic& of(int rank) const { return traffic_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<Traffic> traffic_;
};

}  // namespace plumb
