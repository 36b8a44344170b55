// A network on a graph of no particular structure, from a fixed seed.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "reference/core/random.hpp"
#include "reference/models/gcn/gcn.hpp"

namespace plumb::test {

/// Elements beyond their bounds: of every hidden layer, the logits and LogSoftmax.
template <class T>
std::int64_t misses_of(const GcnRun<T>& run, const GcnReference& want) {
  std::int64_t misses = judge_matrix(run.logits, want.logits, want.logits_bound).misses +
                        judge_matrix(run.log_softmax, want.log_softmax, want.log_softmax_bound).misses;
  for (std::size_t l = 0; l < want.hidden.size(); ++l)
    misses += judge_matrix(run.hidden.at(l), want.hidden[l], want.hidden_bound[l]).misses;
  return misses;
}

/// The same with X in CSR.
template <class T>
Gcn<T> with_sparse_features(Gcn<T> net) {
  net.sparse_features = true;
  net.x_sparse = {net.x_dense.rows, net.x_dense.cols, {0}, {}, {}};
  for (std::int64_t i = 0; i < net.x_dense.rows; ++i) {
    for (std::int64_t j = 0; j < net.x_dense.cols; ++j) {
      const T value = net.x_dense.data[static_cast<std::size_t>(i * net.x_dense.cols + j)];
      if (value == 0) continue;
      net.x_sparse.col.push_back(static_cast<std::int32_t>(j));
      net.x_sparse.val.push_back(value);
    }
    net.x_sparse.row_ptr.push_back(static_cast<std::int32_t>(net.x_sparse.col.size()));
  }
  net.x_dense = {};
  return net;
}

/// n vertices of 1 to 12 edges, some to themselves, widths 33-17-5-20-7 as far as there are layers, biases, a third of X
/// zero.
inline Gcn<double> random_network(std::int64_t n, std::size_t layers) {
  Gcn<double> net;
  auto value = [at = std::uint64_t{0}]() mutable { return 2 * random_unit(11, 1, at++) - 1; };
  net.a.rows = net.a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto degree = 1 + random_below(11, 2, static_cast<std::uint64_t>(i), 12);
    for (std::uint64_t k = 0; k < degree; ++k) {
      net.a.col.push_back(static_cast<std::int32_t>(
          random_below(11, 3, static_cast<std::uint64_t>(i) * 16 + k, static_cast<std::uint64_t>(n))));
      net.a.val.push_back(std::fabs(value()));
    }
    net.a.row_ptr.push_back(static_cast<std::int32_t>(net.a.col.size()));
  }
  net.x_dense = {n, 33, {}};
  for (std::int64_t i = 0; i < n * 33; ++i) net.x_dense.data.push_back(i % 3 == 0 ? 0 : value());
  const std::int64_t widths[] = {33, 17, 5, 20, 7};
  for (std::size_t l = 0; l < layers; ++l) {
    Dense<double> w{widths[l], widths[l + 1], {}};
    for (std::int64_t i = 0; i < w.rows * w.cols; ++i) w.data.push_back(value());
    std::vector<double> b;
    for (std::int64_t j = 0; j < w.cols; ++j) b.push_back(value());
    net.weights.push_back(std::move(w));
    net.biases.push_back(std::move(b));
  }
  return net;
}

/// The same with the values that A^ of an unweighted graph has, and its scales.
inline Gcn<double> of_degrees(Gcn<double> net) {
  const auto degree = [&](std::size_t i) {
    return static_cast<double>(net.a.row_ptr[i + 1] - net.a.row_ptr[i]);
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(net.a.rows); ++i) {
    for (auto k = static_cast<std::size_t>(net.a.row_ptr[i]);
         k < static_cast<std::size_t>(net.a.row_ptr[i + 1]); ++k)
      net.a.val[k] = 1 / (std::sqrt(degree(i)) * std::sqrt(degree(static_cast<std::size_t>(net.a.col[k]))));
  }
  net.scales = degree_scales(net.a);
  return net;
}

}  // namespace plumb::test
