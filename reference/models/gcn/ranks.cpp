#include "reference/models/gcn/ranks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "reference/core/csr.hpp"
#include "reference/models/gcn/parts.hpp"
#include "reference/models/gcn/reorder.hpp"

namespace plumb {

namespace {

constexpr std::int32_t kEnd = -1;  // in place of an order

/// Vertices of other parts that rows [first, last) gather, ascending.
template <class T>
std::vector<std::int32_t> others_of(const Csr<T>& a, std::int64_t first, std::int64_t last) {
  std::vector<bool> gathered(static_cast<std::size_t>(a.cols));
  for (std::int32_t k = a.row_ptr[first]; k < a.row_ptr[last]; ++k) gathered[a.col[k]] = true;
  std::vector<std::int32_t> others;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    if (gathered[j] && (j < first || j >= last)) others.push_back(static_cast<std::int32_t>(j));
  }
  return others;
}

template <class T>
void append_row(const Csr<T>& from, std::int64_t row, Csr<T>& to) {
  to.col.insert(to.col.end(), from.col.begin() + from.row_ptr[row], from.col.begin() + from.row_ptr[row + 1]);
  to.val.insert(to.val.end(), from.val.begin() + from.row_ptr[row], from.val.begin() + from.row_ptr[row + 1]);
  to.row_ptr.push_back(static_cast<std::int32_t>(to.col.size()));
  ++to.rows;
}

template <class T>
void append_row(const Dense<T>& from, std::int64_t row, Dense<T>& to) {
  to.data.insert(to.data.end(), from.data.begin() + row * from.cols,
                 from.data.begin() + (row + 1) * from.cols);
  ++to.rows;
}

/// Rows [first, last), then those of `others`.
template <class Matrix>
Matrix rows_of(const Matrix& all, std::int64_t first, std::int64_t last,
               const std::vector<std::int32_t>& others) {
  Matrix rows;
  rows.cols = all.cols;
  for (std::int64_t i = first; i < last; ++i) append_row(all, i, rows);
  for (const std::int32_t i : others) append_row(all, i, rows);
  return rows;
}

template <class T>
void send_part(Ranks& ranks, int to, const GcnPart<T>& part) {
  constexpr const char* kWhat = "graph";
  const Dense<T>& x = part.net.x_dense;
  ranks.send(to, kWhat, part.net.a);
  ranks.send(to, kWhat, part.others);
  ranks.send(to, kWhat, part.net.scales);
  ranks.send(to, kWhat, std::vector<std::int64_t>{part.net.sparse_features ? 1 : 0, x.rows, x.cols});
  ranks.send(to, kWhat, part.net.x_sparse);
  ranks.send(to, kWhat, x.data);
}

template <class T>
GcnPart<T> receive_part(Ranks& ranks) {
  constexpr const char* kWhat = "graph";
  GcnPart<T> part;
  part.net.a = ranks.receive_csr<T>(0, kWhat);
  part.others = ranks.receive<std::int32_t>(0, kWhat);
  part.net.scales = ranks.receive<T>(0, kWhat);
  const auto x = ranks.receive<std::int64_t>(0, kWhat);
  part.net.sparse_features = x.at(0) != 0;
  part.net.x_sparse = ranks.receive_csr<T>(0, kWhat);
  part.net.x_dense = {x.at(1), x.at(2), ranks.receive<T>(0, kWhat)};
  return part;
}

template <class T>
void broadcast_weights(Ranks& ranks, Gcn<T>& part, const Gcn<T>& net) {
  auto layers = static_cast<std::int64_t>(net.weights.size());
  ranks.broadcast_value("weights", layers);
  part.weights = net.weights, part.biases = net.biases;
  part.weights.resize(static_cast<std::size_t>(layers)), part.biases.resize(static_cast<std::size_t>(layers));
  for (Dense<T>& w : part.weights) ranks.broadcast("weights", w);
  for (std::vector<T>& b : part.biases) ranks.broadcast("weights", b);
}

/// The others' rows, by messages.
template <class T>
class ExchangedRows final : public GcnBoundary<T> {
 public:
  ExchangedRows(Ranks& ranks, const Cuts& cuts, const GcnPart<T>& part)
      : ranks_(ranks), own_(part.net.a.rows), others_(static_cast<std::int64_t>(part.others.size())) {
    tell_owners(cuts, part.others);
    for (std::int64_t i = 0; i < own_; ++i) {
      const auto begin = part.net.a.col.begin() + part.net.a.row_ptr[i],
                 end = part.net.a.col.begin() + part.net.a.row_ptr[i + 1];
      const bool needs_others = std::any_of(begin, end, [&](std::int32_t j) { return j >= own_; });
      (needs_others ? outer_ : inner_).push_back(static_cast<std::int32_t>(i));
    }
  }

  [[nodiscard]] std::int64_t rows() const override { return others_; }
  [[nodiscard]] const std::vector<std::int32_t>& inner() const override { return inner_; }
  [[nodiscard]] const std::vector<std::int32_t>& outer() const override { return outer_; }

  void begin(Dense<T>& operand) override {
    const std::int64_t width = operand.cols;
    exchange_.emplace(ranks_, "boundary rows");
    for (Peer& peer : peers_) {
      if (peer.receives > 0)
        exchange_->receive(peer.rank, operand.data.data() + (own_ + peer.first) * width,
                           peer.receives * width);
      if (peer.sends.empty()) continue;
      peer.packed.clear();
      for (const std::int32_t row : peer.sends)
        peer.packed.insert(peer.packed.end(), operand.data.begin() + row * width,
                           operand.data.begin() + (row + 1) * width);
      exchange_->send(peer.rank, peer.packed.data(), static_cast<std::int64_t>(peer.packed.size()));
    }
  }

  void advance() override { exchange_->advance(); }

  void end() override {
    exchange_->wait();
    exchange_.reset();
  }

 private:
  struct Peer {
    int rank = 0;
    std::int64_t first = 0, receives = 0;  // of `others`: owners' rows are consecutive there
    std::vector<std::int32_t> sends;       // rows of this rank
    std::vector<T> packed;                 // their values, while they are sent
  };

  /// Tells every rank which of its rows are gathered here.
  void tell_owners(const Cuts& cuts, const std::vector<std::int32_t>& others) {
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(ranks_.size()));
    Exchange counts(ranks_, "boundary");
    for (int r = 0; r < ranks_.size(); ++r) {
      if (r == ranks_.rank()) continue;
      Peer& peer = peers_.emplace_back();
      peer.rank = r;
      const auto at = [&](std::int64_t cut) {
        return std::lower_bound(others.begin(), others.end(), cut) - others.begin();
      };
      peer.first = at(cuts[static_cast<std::size_t>(r)]);
      peer.receives = at(cuts[static_cast<std::size_t>(r) + 1]) - peer.first;
    }
    for (Peer& peer : peers_) {
      counts.send(peer.rank, &peer.receives, 1);
      counts.receive(peer.rank, &wanted[static_cast<std::size_t>(peer.rank)], 1);
    }
    counts.wait();
    Exchange ids(ranks_, "boundary");
    for (Peer& peer : peers_) {
      peer.sends.resize(static_cast<std::size_t>(wanted[static_cast<std::size_t>(peer.rank)]));
      ids.send(peer.rank, others.data() + peer.first, peer.receives);
      ids.receive(peer.rank, peer.sends.data(), static_cast<std::int64_t>(peer.sends.size()));
    }
    ids.wait();
    for (Peer& peer : peers_) {
      for (std::int32_t& row : peer.sends)
        row -= static_cast<std::int32_t>(cuts[static_cast<std::size_t>(ranks_.rank())]);
    }
  }

  Ranks& ranks_;
  const std::int64_t own_, others_;
  std::vector<Peer> peers_;
  std::vector<std::int32_t> inner_, outer_;
  std::optional<Exchange> exchange_;
};

/// On rank 0 the rows of all ranks.
template <class T>
void gather_rows(Ranks& ranks, const char* what, Dense<T>& mine) {
  for (std::vector<T>& part : ranks.gather(what, std::exchange(mine.data, {})))
    mine.data.insert(mine.data.end(), part.begin(), part.end());
  mine.rows = mine.cols == 0 ? 0 : static_cast<std::int64_t>(mine.data.size()) / mine.cols;
}

template <class T>
std::int64_t bytes_of(const Dense<T>& m) {
  return static_cast<std::int64_t>(sizeof(T) * m.data.size());
}

/// As send_part() sends it.
template <class T>
void count_part(const GcnPart<T>& part, int to, TrafficModel& model) {
  const Gcn<T>& net = part.net;
  model.send_csr(0, to, net.a.rows, net.a.nnz(), sizeof(T));
  model.send_vector(0, to, static_cast<std::int64_t>(4 * part.others.size()));
  model.send_vector(0, to, static_cast<std::int64_t>(sizeof(T) * net.scales.size()));
  model.send_vector(0, to, 3 * sizeof(std::int64_t));
  model.send_csr(0, to, net.x_sparse.rows, net.x_sparse.nnz(), sizeof(T));
  model.send_vector(0, to, bytes_of(net.x_dense));
}

/// As run_part() gathers it.
template <class T>
void count_answer(const Gcn<T>& net, std::int64_t rows, int from, TrafficModel& model) {
  const auto gathered = [&](std::int64_t width) {
    model.send_vector(from, 0, rows * width * static_cast<std::int64_t>(sizeof(T)));
  };
  gathered(net.classes());
  for (const Dense<T>& w : net.weights) gathered(w.cols);
}

}  // namespace

template <class T>
GcnPart<T> part_of(const Gcn<T>& net, const Cuts& cuts, int r, bool features_of_others) {
  const std::int64_t first = cuts[static_cast<std::size_t>(r)], last = cuts[static_cast<std::size_t>(r) + 1];
  GcnPart<T> part;
  part.others = others_of(net.a, first, last);
  std::vector<std::int32_t> place(static_cast<std::size_t>(net.a.cols));  // of each column that is gathered
  for (std::int64_t j = first; j < last; ++j) place[j] = static_cast<std::int32_t>(j - first);
  auto at = static_cast<std::int32_t>(last - first);
  for (const std::int32_t j : part.others) place[j] = at++;
  part.net.a = slice_rows(net.a, first, last);
  part.net.a.cols = at;
  for (std::int32_t& j : part.net.a.col) j = place[j];
  if (!net.scales.empty()) {
    part.net.scales.assign(net.scales.begin() + first, net.scales.begin() + last);
    for (const std::int32_t j : part.others)
      part.net.scales.push_back(net.scales[static_cast<std::size_t>(j)]);
  }
  part.net.sparse_features = net.sparse_features;
  const std::vector<std::int32_t> with = features_of_others ? part.others : std::vector<std::int32_t>{};
  if (net.sparse_features) {
    part.net.x_sparse = rows_of(net.x_sparse, first, last, with);
  } else {
    part.net.x_dense = rows_of(net.x_dense, first, last, with);
  }
  return part;
}

template <class T>
std::vector<std::int64_t> exchanged_widths(const Gcn<T>& net) {
  const GcnOrders orders = orders_of(net, GcnOrder::by_cost);
  std::vector<std::int64_t> widths;
  for (std::size_t l = 0; l < orders.size(); ++l) {
    if (orders[l] == GcnOrder::transform_first) {
      widths.push_back(net.weights[l].cols);
    } else if (l > 0) {
      widths.push_back(net.weights[l].rows);
    }
  }
  return widths;
}

template <class T>
std::vector<RankNeeds> needs_over_ranks(const Gcn<T>& net, const Cuts& cuts) {
  const auto ranks = static_cast<int>(cuts.size()) - 1;
  TrafficModel once(ranks), each_run(ranks);
  std::vector<RankNeeds> needs(static_cast<std::size_t>(ranks));
  std::vector<std::int64_t> exchanged = exchanged_widths(net);
  for (int r = 0; r < ranks; ++r) {
    const GcnPart<T> part = part_of(net, cuts, r);
    RankNeeds& rank = needs[static_cast<std::size_t>(r)];
    rank.first = cuts[static_cast<std::size_t>(r)], rank.rows = part.net.a.rows;
    rank.memory = bytes_of(part.net.a) + bytes_of(part.net.x_sparse) + bytes_of(part.net.x_dense) +
                  (r == 0 ? bytes_of(net.a) + bytes_of(net.x_sparse) + bytes_of(net.x_dense) : 0);
    if (r > 0) count_part(part, r, once);
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(ranks));
    for (const std::int32_t vertex : part.others) ++wanted[static_cast<std::size_t>(owner_of(cuts, vertex))];
    for (int owner = 0; owner < ranks; ++owner) {
      const std::int64_t count = wanted[static_cast<std::size_t>(owner)];
      if (owner != r) once.send_block(r, owner, 8), once.send_block(r, owner, 4 * count);
      for (const std::int64_t width : exchanged) {
        if (count > 0) each_run.send_block(owner, r, count * width * static_cast<std::int64_t>(sizeof(T)));
      }
    }
    if (r > 0) count_answer(net, rank.rows, r, each_run);
  }
  for (const Dense<T>& w : net.weights) once.broadcast_vector(bytes_of(w));
  for (const std::vector<T>& b : net.biases)
    once.broadcast_vector(static_cast<std::int64_t>(sizeof(T) * b.size()));
  for (int r = 0; r < ranks; ++r)
    needs[static_cast<std::size_t>(r)].once = once.of(r),
    needs[static_cast<std::size_t>(r)].each_run = each_run.of(r);
  return needs;
}

template <class T>
GcnOnRanks<T>::GcnOnRanks(Ranks& ranks, const Gcn<T>& net, const GcnPartition& partition)
    : ranks_(ranks), net_(net), order_(partition.order), cuts_(partition.cuts) {
  if (ranks.is_root()) {
    if (cuts_.empty()) cuts_ = cut_by_entries(net.a.row_ptr, ranks.size());
    const Gcn<T> moved = order_.empty() ? Gcn<T>{} : reordered(net, order_);
    const Gcn<T>& in_order = order_.empty() ? net : moved;
    part_ = part_of(in_order, cuts_, 0);
    for (int r = 1; r < ranks.size(); ++r) send_part(ranks, r, part_of(in_order, cuts_, r));
  } else {
    part_ = receive_part<T>(ranks);
  }
  ranks.broadcast("cuts", cuts_);
  broadcast_weights(ranks, part_.net, net);
  boundary_ = std::make_unique<ExchangedRows<T>>(ranks, cuts_, part_);
}

template <class T>
GcnOnRanks<T>::~GcnOnRanks() = default;

template <class T>
GcnRun<T> GcnOnRanks<T>::run_part(const GcnOrders& orders) {
  ranks_.meet("start");
  const double start = gcn::now();
  GcnRun<T> run = run_fused_part(part_.net, orders, *boundary_);
  const double computed = gcn::now();
  gather_rows(ranks_, "log-softmax", run.log_softmax);
  run.seconds = gcn::now() - start;
  run.steps.push_back({"LogSoftmax of all ranks", gcn::now() - computed});
  gather_rows(ranks_, "logits", run.logits);
  for (Dense<T>& h : run.hidden) gather_rows(ranks_, "hidden", h);
  return run;
}

template <class T>
GcnRun<T> GcnOnRanks<T>::run(GcnOrder order) {
  std::vector<std::int32_t> words;
  const GcnOrders orders = orders_of(net_, order);
  for (const GcnOrder o : orders) words.push_back(static_cast<std::int32_t>(o));
  ranks_.broadcast("order", words);
  GcnRun<T> run = run_part(orders);
  if (!order_.empty()) restore_rows(order_, run);
  return run;
}

template <class T>
void GcnOnRanks<T>::end() {
  std::vector<std::int32_t> words{kEnd};
  ranks_.broadcast("order", words);
}

template <class T>
void GcnOnRanks<T>::serve() {
  for (;;) {
    std::vector<std::int32_t> words;
    ranks_.broadcast("order", words);
    if (words.front() == kEnd) return;
    GcnOrders orders;
    for (const std::int32_t word : words) orders.push_back(static_cast<GcnOrder>(word));
    static_cast<void>(run_part(orders));
  }
}

template struct GcnPart<float>;
template struct GcnPart<double>;
template GcnPart<float> part_of(const Gcn<float>&, const Cuts&, int, bool);
template GcnPart<double> part_of(const Gcn<double>&, const Cuts&, int, bool);
template std::vector<std::int64_t> exchanged_widths(const Gcn<float>&);
template std::vector<std::int64_t> exchanged_widths(const Gcn<double>&);
template std::vector<RankNeeds> needs_over_ranks(const Gcn<float>&, const Cuts&);
template std::vector<RankNeeds> needs_over_ranks(const Gcn<double>&, const Cuts&);
template class GcnOnRanks<float>;
template class GcnOnRanks<double>;

}  // namespace plumb
