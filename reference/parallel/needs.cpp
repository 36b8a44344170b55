#include "reference/parallel/needs.hpp"

namespace plumb {

void TrafficModel::send_block(int from, int to, std::int64_t bytes) {
  const std::int64_t all = bytes + static_cast<std::int64_t>(sizeof(BlockHeader));
  traffic_[static_cast<std::size_t>(from)].sent += all;
  traffic_[static_cast<std::size_t>(to)].received += all;
}

void TrafficModel::broadcast_value(std::int64_t bytes) {
  for (int r = 1; r < static_cast<int>(traffic_.size()); ++r) send_block(broadcast_source(r), r, bytes);
}

void TrafficModel::broadcast_vector(std::int64_t bytes) {
  broadcast_value(sizeof(std::int64_t));
  if (bytes > 0) broadcast_value(bytes);
}

void TrafficModel::send_vector(int from, int to, std::int64_t bytes) {
  send_block(from, to, sizeof(std::int64_t));
  send_block(from, to, bytes);
}

void TrafficModel::send_csr(int from, int to, std::int64_t rows, std::int64_t entries,
                            std::int64_t value_bytes) {
  send_vector(from, to, 2 * sizeof(std::int64_t));
  send_vector(from, to, 4 * (rows + 1));
  send_vector(from, to, 4 * entries);
  send_vector(from, to, value_bytes * entries);
}

}  // namespace plumb
