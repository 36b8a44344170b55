#include "reference/models/predicted_time.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "reference/models/gcn_fused.hpp"
#include "reference/models/gcn_ranks.hpp"

namespace plumb {

namespace {

constexpr double kGatherRequest = 64;  // bytes: a shorter row is gathered no faster

/// About the mean of the largest of `count` numbers that are normally distributed with mean 0 and deviation 1 (Blom's quantile).
double largest_of_normals(int count) {
  const double wanted = (count - 0.375) / (count + 0.25);
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double x = 0.5 * (low + high);
    (0.5 * std::erfc(-x / std::sqrt(2.0)) < wanted ? low : high) = x;
  }
  return count > 1 ? low : 0;
}

// ---- GCN -----------------------------------------------------------------------------------------------------------

/// What one GPU gathers and sends.
struct GraphPart {
  std::int64_t rows = 0, entries = 0, features_entries = 0, sent_rows = 0;
  std::vector<std::int32_t> wanted;  // descending: how many of its entries are in each column that has any
};

/// Adds to the senders' `sent_rows`, and returns the rest of part r.
template <class T>
GraphPart part_of_graph(const Gcn<T>& net, const Cuts& cuts, std::size_t r, std::vector<std::int64_t>& sent) {
  const std::int64_t first = cuts[r], last = cuts[r + 1];
  const auto begin = net.a.row_ptr[static_cast<std::size_t>(first)],
             end = net.a.row_ptr[static_cast<std::size_t>(last)];
  GraphPart part;
  part.rows = last - first, part.entries = end - begin;
  if (net.sparse_features)
    part.features_entries = net.x_sparse.row_ptr[static_cast<std::size_t>(last)] -
                            net.x_sparse.row_ptr[static_cast<std::size_t>(first)];
  std::vector<std::int32_t> wanted(static_cast<std::size_t>(net.a.cols));
  for (auto k = begin; k < end; ++k)
    ++wanted[static_cast<std::size_t>(net.a.col[static_cast<std::size_t>(k)])];
  for (std::size_t owner = 0; owner + 1 < cuts.size(); ++owner) {
    if (owner == r) continue;
    sent[owner] += std::count_if(wanted.begin() + cuts[owner], wanted.begin() + cuts[owner + 1],
                                 [](std::int32_t n) { return n > 0; });
  }
  std::sort(wanted.begin(), wanted.end(), std::greater<>());
  wanted.erase(std::find(wanted.begin(), wanted.end(), 0), wanted.end());
  part.wanted = std::move(wanted);
  return part;
}

template <class T>
std::vector<GraphPart> parts_of_graph(const Gcn<T>& net, const Cuts& cuts) {
  std::vector<std::int64_t> sent(cuts.size());  // by part
  std::vector<GraphPart> parts;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) parts.push_back(part_of_graph(net, cuts, r, sent));
  for (std::size_t r = 0; r < parts.size(); ++r) parts[r].sent_rows = sent[r];
  return parts;
}

/// The time of one GPU's products, but for launches. T: the type of the network.
template <class T>
class GraphTimes {
 public:
  GraphTimes(const Chip& chip, const Gcn<T>& net) : chip_(chip), net_(net) {}

  [[nodiscard]] double of(const GraphPart& part) const {
    double seconds = 0;
    const GcnOrders orders = orders_of(net_, GcnOrder::by_cost);
    for (std::size_t l = 0; l < orders.size(); ++l) {
      const Dense<T>& w = net_.weights[l];
      const bool transform_first = orders[l] == GcnOrder::transform_first;
      seconds += product(part, l, transform_first);
      seconds += aggregation(part, transform_first ? w.cols : w.rows);
      seconds += copied(part.rows * w.cols);  // what the layer writes
    }
    return seconds;
  }

 private:
  [[nodiscard]] double copied(std::int64_t elements) const {
    return static_cast<double>(sizeof(T)) * static_cast<double>(elements) / chip_.copy.value;
  }

  /// X W or H W; of rows that are on the chip already, what is read is W.
  [[nodiscard]] double product(const GraphPart& part, std::size_t l, bool transform_first) const {
    const Dense<T>& w = net_.weights[l];
    const bool sparse = l == 0 && transform_first && net_.sparse_features;
    const std::int64_t terms = sparse ? part.features_entries : part.rows * w.rows;
    const double rate = sizeof(T) == 4 ? chip_.products_f32.value : chip_.products_f64.value;
    const double computed = 2 * static_cast<double>(terms) * static_cast<double>(w.cols) / rate;
    if (l > 0 || !transform_first) return computed;
    const double columns = sparse ? 4 * static_cast<double>(terms) / chip_.copy.value : 0;
    return std::max(computed, columns + copied(terms) + copied(part.rows * w.cols));
  }

  [[nodiscard]] double row_bytes(std::int64_t width) const {
    constexpr double kPack = 16;
    const double bytes =
        std::ceil(static_cast<double>(sizeof(T)) * static_cast<double>(width) / kPack) * kPack;
    return std::max(kGatherRequest, bytes);
  }

  /// `cached`: the share that comes from the cache.
  [[nodiscard]] double gathered(double rows, double bytes, double cached) const {
    return rows * bytes * (cached / chip_.gather_cached.value + (1 - cached) / chip_.gather_memory.value);
  }

  /// A times an operand of `width` columns.
  [[nodiscard]] double aggregation(const GraphPart& part, std::int64_t width) const {
    const auto entries = static_cast<double>(part.entries);
    const auto held = static_cast<std::ptrdiff_t>(chip_.cache.value / row_bytes(width));
    const auto end = part.wanted.begin() + std::min(held, static_cast<std::ptrdiff_t>(part.wanted.size()));
    const auto cached = static_cast<double>(std::accumulate(part.wanted.begin(), end, std::int64_t{0}));
    return entries * (4 + sizeof(T)) / chip_.copy.value +  // also where they follow from the degrees
           (entries > 0 ? gathered(entries, row_bytes(width), cached / entries) : 0);
  }

  const Chip& chip_;
  const Gcn<T>& net_;
};

}  // namespace

SdnnWork work_of(const SparseDnn& net, const SdnnRun& sample, std::int64_t inputs) {
  SdnnWork work;
  work.inputs = inputs;
  const auto rows = static_cast<double>(sample.active.at(0));
  double squares =
      0;  // the mean of the squared costs: an input that enters layer l has cost work.most before it
  for (std::int64_t l = 0; l < net.layers() && rows > 0; ++l) {
    const auto at = static_cast<std::size_t>(l);
    const std::int64_t left = sample.absorbed.empty() ? 0 : sample.absorbed[at];
    const double share = static_cast<double>(sample.active[at] - left) / rows;
    const auto edges = static_cast<double>(net.edges(l, l + 1));
    if (share > 0) work.layers = l + 1;
    work.mean += share * edges;
    squares += share * edges * (2 * work.most + edges);
    work.most += edges;
  }
  work.deviation = std::sqrt(std::max(0.0, squares - work.mean * work.mean));
  return work;
}

PredictedTime predict(const Chip& chip, const SdnnWork& work, int gpus) {
  PredictedTime time;
  time.gpus = gpus;
  time.launches = static_cast<double>(work.layers) * chip.launch.value;
  const auto inputs = static_cast<double>(work.inputs);
  const double each = std::ceil(inputs / gpus);
  const double even = inputs / gpus * work.mean;
  const double slowest = each * work.mean + std::sqrt(each) * work.deviation * largest_of_normals(gpus);
  const double edges = std::min({slowest, inputs * work.mean, each * work.most});
  time.compute = edges / chip.edges.value;
  time.balance = edges > 0 ? std::min(1.0, even / edges) : 1;
  return time;
}

template <class T>
PredictedTime predict(const Chip& chip, const Gcn<T>& net, const Cuts& cuts) {
  const auto gpus = static_cast<int>(cuts.size()) - 1;
  PredictedTime time;
  time.gpus = gpus;
  const GraphTimes<T> times(chip, net);
  double sum = 0;
  std::int64_t sent = 0;
  for (const GraphPart& part : parts_of_graph(net, cuts)) {
    const double seconds = times.of(part);
    sum += seconds, time.compute = std::max(time.compute, seconds), sent = std::max(sent, part.sent_rows);
  }
  if (time.compute > 0) time.balance = sum / gpus / time.compute;
  time.launches = static_cast<double>(net.weights.size() + 1) * chip.launch.value;
  if (gpus == 1) return time;
  const double launches =
      2.0 * kExchangePieces * (gpus - 1);  // packing and copying each piece for each other
  for (const std::int64_t width : exchanged_widths(net)) {
    time.exchange += chip.exchange_waiting.value + launches * chip.launch.value +
                     static_cast<double>(sent) * static_cast<double>(width) * sizeof(T) / chip.link.value;
  }
  return time;
}

template PredictedTime predict(const Chip&, const Gcn<float>&, const Cuts&);
template PredictedTime predict(const Chip&, const Gcn<double>&, const Cuts&);

}  // namespace plumb
