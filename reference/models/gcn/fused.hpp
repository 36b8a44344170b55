// The fused pipeline on some of a graph's rows: what the GCN over ranks (gcn/ranks.hpp) is made of.
#pragma once
#include <cstdint>
#include <vector>

#include "reference/models/gcn/gcn.hpp"

namespace plumb {

/// Rows that other ranks compute. Operands of A hold this rank's rows, then these.
template <class T>
class GcnBoundary {
 public:
  GcnBoundary() = default;
  GcnBoundary(const GcnBoundary&) = delete;
  GcnBoundary& operator=(const GcnBoundary&) = delete;
  virtual ~GcnBoundary() = default;

  [[nodiscard]] virtual std::int64_t rows() const = 0;
  /// This rank's rows of A: those with all columns here, and the others. Each row is in one of the two.
  [[nodiscard]] virtual const std::vector<std::int32_t>& inner() const = 0;
  [[nodiscard]] virtual const std::vector<std::int32_t>& outer() const = 0;
  /// Begins to send this rank's rows of `operand` to those that gather them, and to receive the others' rows behind them.
  virtual void begin(Dense<T>& operand) = 0;
  /// Lets messages move: MPI moves large ones only while it is called.
  virtual void advance() = 0;
  /// Returns when they are there.
  virtual void end() = 0;
};

/// The order of each layer, none of them by_cost.
using GcnOrders = std::vector<GcnOrder>;
template <class T>
[[nodiscard]] GcnOrders orders_of(const Gcn<T>& net, GcnOrder order);

/// The rows of one rank: `part.a` is (rows, rows + boundary.rows()), X has all those rows, `part.scales` too. Every row is summed in the order
/// in which one rank alone sums it: the values are the same to the last bit.
template <class T>
[[nodiscard]] GcnRun<T> run_fused_part(const Gcn<T>& part, const GcnOrders& orders, GcnBoundary<T>& boundary);

}  // namespace plumb
