#include "reference/models/gcn/reorder.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "reference/models/gcn/parts.hpp"

namespace plumb {

namespace {

using Order = std::vector<std::int32_t>;

using gcn::at;

template <class T>
std::vector<std::int32_t> column_counts(const Csr<T>& a) {
  std::vector<std::int32_t> counts(at(a.cols));
  for (const std::int32_t j : a.col) ++counts[at(j)];
  return counts;
}

Order sorted_by(const std::vector<std::int32_t>& key, bool most_first) {
  Order order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
    return most_first ? key[at(i)] > key[at(j)] : key[at(i)] < key[at(j)];
  });
  return order;
}

/// Breadth first from a vertex of the fewest neighbours in each component, neighbours of few first; then back to front.
template <class T>
Order cuthill_mckee(const Csr<T>& a) {
  std::vector<std::int32_t> degree(at(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) degree[at(i)] = a.row_ptr[at(i) + 1] - a.row_ptr[at(i)];
  std::vector<bool> seen(at(a.rows));
  Order order;
  order.reserve(at(a.rows));
  const auto take = [&](std::int32_t i) {
    if (!seen[at(i)]) seen[at(i)] = true, order.push_back(i);
  };
  std::size_t next = 0;
  for (const std::int32_t start : sorted_by(degree, false)) {
    take(start);
    for (; next < order.size(); ++next) {
      const std::size_t row = at(order[next]), before = order.size();
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) take(a.col[at(k)]);
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(before), order.end(),
                       [&](std::int32_t i, std::int32_t j) { return degree[at(i)] < degree[at(j)]; });
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// Row i of the result is row order[i]; `place` renumbers columns, where it is not empty.
template <class T>
Csr<T> rows_in_order(const Csr<T>& m, const Order& order, const Order& place) {
  Csr<T> moved{m.rows, m.cols, {0}, {}, {}};
  moved.row_ptr.reserve(m.row_ptr.size()), moved.col.reserve(m.col.size()), moved.val.reserve(m.val.size());
  for (const std::int32_t from : order) {
    for (std::int32_t k = m.row_ptr[at(from)]; k < m.row_ptr[at(from) + 1]; ++k) {
      const std::int32_t column = m.col[at(k)];
      moved.col.push_back(place.empty() ? column : place[at(column)]);
      moved.val.push_back(m.val[at(k)]);
    }
    moved.row_ptr.push_back(static_cast<std::int32_t>(moved.col.size()));
  }
  return moved;
}

template <class T>
Dense<T> rows_in_order(const Dense<T>& m, const Order& order) {
  Dense<T> moved{m.rows, m.cols, {}};
  moved.data.reserve(m.data.size());
  for (const std::int32_t from : order)
    moved.data.insert(moved.data.end(), m.data.begin() + from * m.cols, m.data.begin() + (from + 1) * m.cols);
  return moved;
}

/// place[order[i]] = i.
Order inverse(const Order& order) {
  Order place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<std::int32_t>(i);
  return place;
}

}  // namespace

const char* to_string(VertexOrder order) {
  return order == VertexOrder::degree ? "degree" : order == VertexOrder::rcm ? "rcm" : "given";
}

VertexOrder parse_vertex_order(std::string_view word) {
  for (const VertexOrder order : {VertexOrder::given, VertexOrder::degree, VertexOrder::rcm}) {
    if (word == to_string(order)) return order;
  }
  const std::string text(word);
  throw Error(fmt::format("--reorder '{}' is none of given, degree, rcm{}", printable(text),
                          did_you_mean(text, {"given", "degree", "rcm"})));
}

template <class T>
std::vector<std::int32_t> vertex_order(const Csr<T>& a, VertexOrder by) {
  if (by == VertexOrder::degree) return sorted_by(column_counts(a), true);
  if (by == VertexOrder::rcm) return cuthill_mckee(a);
  Order order(at(a.rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

template <class T>
Gcn<T> reordered(const Gcn<T>& net, const std::vector<std::int32_t>& order) {
  Gcn<T> moved;
  moved.a = rows_in_order(net.a, order, inverse(order));
  moved.sparse_features = net.sparse_features;
  if (net.sparse_features) {
    moved.x_sparse = rows_in_order(net.x_sparse, order, {});
  } else {
    moved.x_dense = rows_in_order(net.x_dense, order);
  }
  if (!net.scales.empty()) {
    for (const std::int32_t from : order) moved.scales.push_back(net.scales[at(from)]);
  }
  moved.weights = net.weights, moved.biases = net.biases;
  return moved;
}

template <class T>
void restore_rows(const std::vector<std::int32_t>& order, GcnRun<T>& run) {
  const Order place = inverse(order);
  for (Dense<T>& h : run.hidden) h = rows_in_order(h, place);
  run.logits = rows_in_order(run.logits, place);
  run.log_softmax = rows_in_order(run.log_softmax, place);
}

template std::vector<std::int32_t> vertex_order(const Csr<float>&, VertexOrder);
template std::vector<std::int32_t> vertex_order(const Csr<double>&, VertexOrder);
template Gcn<float> reordered(const Gcn<float>&, const std::vector<std::int32_t>&);
template Gcn<double> reordered(const Gcn<double>&, const std::vector<std::int32_t>&);
template void restore_rows(const std::vector<std::int32_t>&, GcnRun<float>&);
template void restore_rows(const std::vector<std::int32_t>&, GcnRun<double>&);

}  // namespace plumb
