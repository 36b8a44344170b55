// GCN over ranks: rows of A with about as many entries each, consecutive or in METIS's parts. Before a product with A each rank sends the rows of
// the operand that other ranks gather, and computes the rows that need none of theirs meanwhile.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "reference/models/gcn/fused.hpp"
#include "reference/models/gcn/gcn.hpp"
#include "reference/models/gcn/partition.hpp"
#include "reference/parallel/needs.hpp"
#include "reference/parallel/ranks.hpp"

namespace plumb {

/// What one rank, or one of several devices, holds of a network.
template <class T>
struct GcnPart {
  Gcn<T> net;  // a: (rows, rows + others), renumbered; x and scales: of both; all weights
  std::vector<std::int32_t> others;  // ascending: the vertices of other ranks that its rows gather
};
/// The part of rank r, but for the weights; its X may also leave out the rows of `others`.
template <class T>
[[nodiscard]] GcnPart<T> part_of(const Gcn<T>& net, const Cuts& cuts, int r, bool features_of_others = true);

/// A device's rows are computed and sent in so many pieces: what is exposed of the exchange is the last one's.
constexpr int kExchangePieces = 4;
/// Columns of the operands whose rows move in one inference, each layer in its cheaper order. X does not: each rank has the rows
/// that it gathers.
template <class T>
[[nodiscard]] std::vector<std::int64_t> exchanged_widths(const Gcn<T>& net);

/// What each rank needs for this network, whose rows [cuts[r], cuts[r + 1]) are rank r's, with each layer in its cheaper order.
template <class T>
[[nodiscard]] std::vector<RankNeeds> needs_over_ranks(const Gcn<T>& net, const Cuts& cuts);

/// One network on all ranks. Rank 0 has all of it, calls run() as often as it likes and then end(); the others call serve().
template <class T>
class GcnOnRanks {
 public:
  /// `net` and `partition` are rank 0's; elsewhere they may be empty. Without a partition: by rows.
  GcnOnRanks(Ranks& ranks, const Gcn<T>& net, const GcnPartition& partition = {});
  ~GcnOnRanks();
  GcnOnRanks(const GcnOnRanks&) = delete;
  GcnOnRanks& operator=(const GcnOnRanks&) = delete;

  /// Rank r has the vertices at places [cuts[r], cuts[r + 1]) of the partition; on every rank.
  [[nodiscard]] const Cuts& cuts() const { return cuts_; }
  /// All rows, as they are given. `seconds`: from a common start until rank 0 has LogSoftmax of all rows; `steps`: rank 0's.
  [[nodiscard]] GcnRun<T> run(GcnOrder order);
  void end();
  /// Does what rank 0 says until it calls end().
  void serve();

 private:
  GcnRun<T> run_part(const GcnOrders& orders);

  Ranks& ranks_;
  const Gcn<T>& net_;
  std::vector<std::int32_t> order_;  // on rank 0; empty: as given
  Cuts cuts_;
  GcnPart<T> part_;
  std::unique_ptr<GcnBoundary<T>> boundary_;
};

}  // namespace plumb
