// Small networks and inputs of the sparse DNN, for the tests of its pipelines on the host and on devices.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "reference/core/random.hpp"
#include "reference/models/sparse_dnn/sparse_dnn.hpp"

namespace plumb::test {

/// CSR from rows of (column, value).
inline Csr<float> csr(std::int64_t cols, const std::vector<std::vector<std::pair<int, float>>>& rows) {
  Csr<float> m;
  m.rows = static_cast<std::int64_t>(rows.size());
  m.cols = cols;
  for (const auto& row : rows) {
    for (const auto& [j, v] : row) {
      m.col.push_back(j);
      m.val.push_back(v);
    }
    m.row_ptr.push_back(static_cast<std::int32_t>(m.col.size()));
  }
  return m;
}

inline Csr<float> identity(std::int64_t n) {
  std::vector<std::vector<std::pair<int, float>>> rows;
  for (int i = 0; i < static_cast<int>(n); ++i) rows.push_back({{i, 1.0F}});
  return csr(n, rows);
}

/// Degrees 0..`most`, weights in [-1, 1), repeated columns; W transposed.
inline Csr<float> random_weights(std::int64_t n, std::uint64_t most, std::uint64_t seed) {
  std::vector<std::vector<std::pair<int, float>>> rows;
  std::uint64_t at = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    auto& row = rows.emplace_back();
    const auto degree = random_below(seed, 1, static_cast<std::uint64_t>(j), most + 1);
    for (std::uint64_t k = 0; k < degree; ++k, ++at) {
      row.emplace_back(static_cast<int>(random_below(seed, 2, at, static_cast<std::uint64_t>(n))),
                       static_cast<float>(2 * random_unit(seed, 3, at) - 1));
    }
  }
  return csr(n, rows);
}

/// Values in [-0.5, 2.5), four of ten present; every seventh row is empty.
inline Csr<float> random_inputs(std::int64_t rows, std::int64_t n, std::uint64_t seed) {
  std::vector<std::vector<std::pair<int, float>>> all;
  for (std::int64_t i = 0; i < rows; ++i) {
    auto& row = all.emplace_back();
    for (std::int64_t j = 0; j < n; ++j) {
      const auto index = static_cast<std::uint64_t>(i * n + j);
      if (i % 7 == 3 || random_unit(seed, 4, index) < 0.6) continue;
      row.emplace_back(static_cast<int>(j), static_cast<float>(3 * random_unit(seed, 5, index) - 0.5));
    }
  }
  return csr(n, all);
}

}  // namespace plumb::test
