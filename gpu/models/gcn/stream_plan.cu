#include "gpu/models/gcn/stream_plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "gpu/models/gcn/aggregate.hpp"
#include "gpu/models/piece_window.hpp"
#include "reference/core/error.hpp"
#include "reference/core/memory.hpp"
#include "reference/models/gcn/fused.hpp"

namespace plumb {
namespace gcn {

namespace {

constexpr Index kTwo = 2;  // buffers: one is copied while the other is computed

/// What rows of a sparse matrix take as QuadRows, at most.
struct QuadSizes {
  Index bytes = 0, joins = 0, places = 0;
};

/// Of any rows of one matrix.
template <class T>
class SparseSizes {
 public:
  SparseSizes(const Csr<T>& m, bool values) : row_ptr_(m.row_ptr), values_(values), quads_{0} {
    for (std::size_t i = 0; i + 1 < row_ptr_.size(); ++i) {
      const Index entries = row_ptr_[i + 1] - row_ptr_[i];
      quads_.push_back(quads_.back() + ceil_div(entries, 4));
      if (entries > kLongRow) long_.push_back(static_cast<Index>(i));
    }
  }
  [[nodiscard]] QuadSizes of(Index first, Index last, Index part_length) const {
    const Index quads = quads_[static_cast<std::size_t>(last)] - quads_[static_cast<std::size_t>(first)] +
                        kSlice * kLongRow / 4;  // what fills up slices of rows sorted by length
    Index parts = 0;
    for (auto i = std::lower_bound(long_.begin(), long_.end(), first); i != long_.end() && *i < last; ++i) {
      const auto at = static_cast<std::size_t>(*i);
      parts += ceil_div(row_ptr_[at + 1] - row_ptr_[at], part_length);
    }
    const Index rows = last - first, of_value = values_ ? static_cast<Index>(sizeof(T)) : 0;
    const Index bytes = in_piece(16 * quads) + in_piece(4 * quads * of_value) +
                        in_piece(parts * static_cast<Index>(sizeof(Part))) +
                        in_piece(parts * static_cast<Index>(sizeof(Join))) + in_piece(4 * rows) +
                        in_piece(4 * (ceil_div(rows, kSlice) + 1));
    return {bytes, parts, 2 * parts};  // joins have fewer members than parts, on all levels together
  }

 private:
  const std::vector<std::int32_t>& row_ptr_;
  bool values_;
  std::vector<Index> quads_, long_;  // quads before each row; rows of more than kLongRow entries
};

template <class T>
class Planner {
 public:
  Planner(const Gcn<T>& net, const ColumnScales<T>& columns, GcnOrder order)
      : net_(net), orders_(orders_of(net, order)), a_(net.a, !columns.fit()), x_(net.x_sparse, true) {
    for (std::size_t l = 0; l < net.weights.size(); ++l) {
      fixed_ += (net.weights[l].rows + 1) * width_after(l) * kSize;
      if (!net.biases[l].empty()) fixed_ += width_after(l) * kSize;
    }
    if (columns.fit()) fixed_ += (n() + static_cast<Index>(columns.values.size())) * kSize;
  }

  /// The plan of the least traffic within `memory`; nothing where none fits.
  [[nodiscard]] std::optional<StreamPlan> best(Index memory) const {
    std::optional<StreamPlan> best;
    for (const Index pieces : numbers_of_pieces()) {
      const Cuts cuts = cut_by_entries(net_.a.row_ptr, static_cast<int>(pieces));
      for (const Index cap : caps()) {
        for (const bool holds_a : {true, false}) {
          const StreamPlan plan = candidate(cuts, cap, holds_a, memory);
          if (plan.bytes() <= memory && (!best || plan.traffic < best->traffic)) best = plan;
        }
      }
    }
    return best;
  }
  /// The least that any plan takes.
  [[nodiscard]] Index least() const {
    Index least = 0;
    for (const Index pieces : numbers_of_pieces()) {
      const Cuts cuts = cut_by_entries(net_.a.row_ptr, static_cast<int>(pieces));
      for (const bool holds_a : {true, false}) {
        const Index bytes = candidate(cuts, padded<T>(1), holds_a, 0).bytes();
        least = least == 0 ? bytes : std::min(least, bytes);
      }
    }
    return least;
  }

 private:
  static constexpr Index kSize = sizeof(T);
  [[nodiscard]] Index n() const { return net_.vertices(); }
  [[nodiscard]] Index width_before(std::size_t l) const { return padded<T>(net_.weights[l].rows); }
  [[nodiscard]] Index width_after(std::size_t l) const { return padded<T>(net_.weights[l].cols); }
  [[nodiscard]] bool sparse_input(std::size_t l) const { return l == 0 && net_.sparse_features; }

  /// More pieces, with less of a layer's time before its first or behind its last is copied, as far as copies stay long; then more yet, which
  /// take less memory.
  [[nodiscard]] std::vector<Index> numbers_of_pieces() const {
    constexpr Index kLong = Index{16} << 20, kFewest = 8, kUsual = 512, kMost = 4096;
    const Index x = net_.sparse_features ? net_.x_sparse.nnz() * (kSize + 4) : n() * width_before(0) * kSize;
    std::vector<Index> numbers;
    for (Index p = std::clamp(x / kLong, kFewest, kUsual); p <= kMost; p *= 2) {
      numbers.push_back(std::clamp<Index>(n(), 1, p));
      if (p >= n()) break;
    }
    return numbers;
  }
  /// The most columns of a block, the widest first.
  [[nodiscard]] std::vector<Index> caps() const {
    Index widest = padded<T>(1);
    for (std::size_t l = 0; l < orders_.size(); ++l)
      widest = std::max({widest, width_before(l), width_after(l)});
    std::vector<Index> caps;
    for (Index blocks = 1; caps.empty() || caps.back() > padded<T>(1); ++blocks) {
      const Index cap = std::min(kWidest<T>, padded<T>(ceil_div(widest, blocks)));
      if (caps.empty() || cap < caps.back()) caps.push_back(cap);
    }
    return caps;
  }

  [[nodiscard]] GcnStreamedLayer layer(std::size_t l, Index cap) const {
    const bool fits = width_before(l) <= cap && width_after(l) <= kWidest<T> &&
                      net_.weights[l].rows * width_after(l) <= kMostWeights<T>;
    if (orders_[l] == GcnOrder::aggregate_first && fits && !sparse_input(l))
      return {GcnOrder::aggregate_first, width_before(l), 1, false};
    const Index blocks = ceil_div(width_after(l), cap);
    const Index columns = padded<T>(ceil_div(width_after(l), blocks));
    return {GcnOrder::transform_first, columns, ceil_div(width_after(l), columns), false};
  }
  /// Columns of rows that layer l computes at a time.
  [[nodiscard]] Index columns_out(std::size_t l, const GcnStreamedLayer& layer) const {
    return layer.order == GcnOrder::aggregate_first ? width_after(l) : layer.columns;
  }
  [[nodiscard]] Index operand_bytes(const GcnStreamedLayer& l) const { return (n() + 1) * l.columns * kSize; }

  [[nodiscard]] StreamPlan candidate(const Cuts& cuts, Index cap, bool holds_a, Index memory) const {
    StreamPlan plan;
    plan.cuts = cuts, plan.holds_a = holds_a, plan.fixed = fixed_;
    for (std::size_t l = 0; l < orders_.size(); ++l) plan.layers.push_back(layer(l, cap));
    for (const GcnStreamedLayer& l : plan.layers) plan.widest = std::max(plan.widest, l.columns);
    plan.part_length = part_length<T>(plan.widest);
    place_operands(plan);
    add_pieces(plan);
    for (std::size_t l = 1; l < plan.layers.size(); ++l) {
      if (plan.layers[l].blocks > 1 || plan.layers[l - 1].blocks > 1) continue;
      StreamPlan direct = plan;
      direct.layers[l].direct = true;
      place_operands(direct);
      if (direct.bytes() <= memory) plan = direct;
    }
    plan.traffic = traffic_of(plan);
    return plan;
  }

  void place_operands(StreamPlan& plan) const {
    plan.place.assign(plan.layers.size(), 0);
    plan.operands = {};
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
      if (l > 0) plan.place[l] = plan.layers[l].direct ? 1 - plan.place[l - 1] : plan.place[l - 1];
      Index& bytes = plan.operands.at(static_cast<std::size_t>(plan.place[l]));
      bytes = std::max(bytes, operand_bytes(plan.layers[l]));
    }
  }

  /// What pieces take: of the host's rows, of A, of what is computed.
  void add_pieces(StreamPlan& plan) const {
    Index rows = 0, of_x = 0, joins = 0, places = 0;
    for (Index p = 0; p < plan.pieces(); ++p) {
      const Index first = plan.cuts[static_cast<std::size_t>(p)], last = first + plan.rows(p);
      rows = std::max(rows, plan.rows(p));
      const QuadSizes of_a = a_.of(first, last, plan.part_length);
      plan.a = plan.holds_a ? plan.a + of_a.bytes : std::max(plan.a, of_a.bytes);
      const QuadSizes x = sparse_input(0) ? x_.of(first, last, plan.part_length) : QuadSizes{};
      of_x = std::max(of_x, x.bytes);
      joins = std::max({joins, of_a.joins, x.joins}), places = std::max({places, of_a.places, x.places});
    }
    if (!plan.holds_a) plan.a *= kTwo;
    plan.arrived = joins * static_cast<Index>(sizeof(unsigned)), plan.partial = places * plan.widest * kSize;
    plan.answer = kTwo * rows * width_after(plan.layers.size() - 1) * kSize;
    Index widest_in = 0,
          widest_out = 0;  // the last layer's rows come back where LogSoftmax needs several blocks
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
      if (!sparse_input(l)) widest_in = std::max(widest_in, width_before(l));
      widest_out = std::max(widest_out, columns_out(l, plan.layers[l]));
    }
    if (plan.layers.back().blocks > 1) widest_in = std::max(widest_in, width_after(plan.layers.size() - 1));
    plan.inputs = kTwo * std::max(of_x, in_piece(rows * widest_in * kSize));
    plan.out = kTwo * rows * widest_out * kSize;
  }

  [[nodiscard]] Index traffic_of(const StreamPlan& plan) const {
    const Index all_rows = n() * kSize, answer = all_rows * width_after(plan.layers.size() - 1);
    Index traffic = plan.layers.back().blocks > 1 ? 3 * answer : answer;
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
      const GcnStreamedLayer& layer = plan.layers[l];
      const Index in = sparse_input(l) ? x_.of(0, n(), plan.part_length).bytes : all_rows * width_before(l);
      if (!layer.direct) traffic += in * layer.blocks + (l > 0 ? all_rows * width_before(l) : 0);
      if (!plan.holds_a) traffic += a_.of(0, n(), plan.part_length).bytes * layer.blocks;
    }
    return traffic;
  }

  const Gcn<T>& net_;
  const GcnOrders orders_;
  SparseSizes<T> a_, x_;
  Index fixed_ = 4096;  // counts, and what fills up arrays
};

}  // namespace

template <class T>
StreamPlan plan_stream(const Gcn<T>& net, const ColumnScales<T>& columns, GcnOrder order, Index memory) {
  const Planner<T> planner(net, columns, order);
  if (std::optional<StreamPlan> plan = planner.best(memory)) return *std::move(plan);
  throw Error(
      "gcn: " + show_amount(memory) + " of memory are too little: a block of " +
      std::to_string(padded<T>(1)) +
      " columns for each vertex, weights, and two pieces each of A, of rows in and of rows out need " +
      show_amount(planner.least()));
}

template StreamPlan plan_stream(const Gcn<float>&, const ColumnScales<float>&, GcnOrder, Index);
template StreamPlan plan_stream(const Gcn<double>&, const ColumnScales<double>&, GcnOrder, Index);

}  // namespace gcn
}  // namespace plumb
