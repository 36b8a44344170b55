#include "reference/models/sparse_dnn/parts.hpp"

#include <algorithm>
#include <cstddef>
#include <future>
#include <limits>

#include "reference/core/error.hpp"

namespace plumb::sdnn {

namespace {

/// Sets both arrays of `y` to so many entries, side by side where a thread can be started: the first touch of their memory takes as
/// long as filling it.
void make_entries(Csr<float>& y, std::size_t count) {
  std::future<void> columns =
      std::async(std::launch::async | std::launch::deferred, [&] { y.col.resize(count); });
  y.val.resize(count);
  columns.get();  // throws what it threw
}

}  // namespace

Csr<float> build(const std::vector<FinishedRows>& parts, std::int64_t rows, std::int64_t cols) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(rows) + 1, 0);
  for (const FinishedRows& part : parts) {
    for (const auto& row : part.rows)
      count[static_cast<std::size_t>(row.id) + 1] = static_cast<std::int64_t>(row.count);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) count[i + 1] += count[i];
  if (count.back() > std::numeric_limits<std::int32_t>::max()) {
    throw Error("sparse DNN: the answer has more than 2^31 - 1 non-zeros: run fewer inputs at a time");
  }
  Csr<float> y;
  y.rows = rows;
  y.cols = cols;
  y.row_ptr.assign(count.begin(), count.end());
  make_entries(y, static_cast<std::size_t>(count.back()));
  for (const FinishedRows& part : parts) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      const FinishedRows::Row& row = part.rows[i];
      const auto to = static_cast<std::ptrdiff_t>(count[static_cast<std::size_t>(row.id)]);
      const auto from = static_cast<std::ptrdiff_t>(row.first), n = static_cast<std::ptrdiff_t>(row.count);
      std::copy_n(part.col.begin() + from, n, y.col.begin() + to);
      std::copy_n(part.val.begin() + from, n, y.val.begin() + to);
    }
  }
  return y;
}

}  // namespace plumb::sdnn
