// The conversion of A: rows sorted, cut, padded to quads, and copied to the device.
#include "gpu/models/gcn/rows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/core/error.hpp"

namespace plumb {
namespace gcn {

namespace {

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

}  // namespace

template <class T>
DeviceRows<T>::DeviceRows(const Csr<T>& a, Index widest, void* stream) {
  const auto begin = [&](Index i) { return Index{a.row_ptr[static_cast<std::size_t>(i)]}; };
  const auto entries = [&](Index i) { return begin(i + 1) - begin(i); };
  const auto quads_of = [&](Index i) { return ceil_div(entries(i), 4); };
  // Stable, so that rows of one length keep their order and what locality the numbering has.
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t x, std::int32_t y) { return quads_of(x) > quads_of(y); });
  const auto first_short = static_cast<std::size_t>(
      std::partition_point(order.begin(), order.end(),
                           [&](std::int32_t i) { return quads_of(i) > kLongRow / 4; }) -
      order.begin());
  const std::vector<std::int32_t> rows(order.begin() + static_cast<std::ptrdiff_t>(first_short), order.end());

  // Places first, then the entries into them, in parallel.
  std::vector<Index> at(static_cast<std::size_t>(a.rows));              // of each row's first quad
  std::vector<std::int32_t> step(static_cast<std::size_t>(a.rows), 1);  // to its next
  std::vector<Part> parts;
  std::vector<std::int32_t> slices;
  Index total = 0;
  std::int32_t cuts = 0, places = 0;
  for (std::size_t o = 0; o < first_short; ++o) {
    const std::int32_t i = order[o];
    const Index pieces = ceil_div(entries(i), kPartLength), count = quads_of(i);
    at[static_cast<std::size_t>(i)] = total;
    for (Index p = 0; p < pieces; ++p) {
      Part part_of{i,
                   static_cast<std::int32_t>(total + count * p / pieces),
                   static_cast<std::int32_t>(total + count * (p + 1) / pieces),
                   0,
                   -1,
                   0,
                   static_cast<std::int32_t>(pieces),
                   0};
      if (pieces > 1) {
        part_of.cut = cuts;
        part_of.first = places;
        part_of.place = places + static_cast<std::int32_t>(p);
      }
      parts.push_back(part_of);
    }
    if (pieces > 1) ++cuts, places += static_cast<std::int32_t>(pieces);
    total += count;
  }
  for (std::size_t s = 0; s < rows.size(); s += kSlice) {
    slices.push_back(static_cast<std::int32_t>(total));
    for (std::size_t r = s; r < std::min(s + kSlice, rows.size()); ++r) {
      at[static_cast<std::size_t>(rows[r])] = total + static_cast<Index>(r - s);
      step[static_cast<std::size_t>(rows[r])] = kSlice;
    }
    total += kSlice * quads_of(rows[s]);  // the longest of the slice
  }
  if (total > 0x7fffffff) throw Error("gcn: A has too many entries for 32-bit places of quads");
  slices.push_back(static_cast<std::int32_t>(total));

  std::vector<std::int32_t> columns(static_cast<std::size_t>(4 * total), static_cast<std::int32_t>(a.cols));
  std::vector<T> values(static_cast<std::size_t>(4 * total));
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index i = 0; i < a.rows; ++i) {
    for (Index e = 0; e < entries(i); ++e) {
      const auto to = static_cast<std::size_t>(
          4 * (at[static_cast<std::size_t>(i)] + e / 4 * step[static_cast<std::size_t>(i)]) + e % 4);
      columns[to] = a.col[static_cast<std::size_t>(begin(i) + e)];
      values[to] = a.val[static_cast<std::size_t>(begin(i) + e)];
    }
  }
  col = DeviceArray<std::int32_t>(columns, "A's columns in quads", stream);
  val = DeviceArray<T>(values, "A's values in quads", stream);
  part = DeviceArray<Part>(parts, "parts of long rows", stream);
  row = DeviceArray<std::int32_t>(rows, "short rows", stream);
  slice = DeviceArray<std::int32_t>(slices, "slices of short rows", stream);
  arrived = DeviceArray<unsigned>(cuts, "arrivals at long rows");
  device_fill(arrived.data(), 0, static_cast<std::size_t>(arrived.bytes()), stream);
  partial_ld = widest;
  partial = DeviceArray<T>(places * widest, "partial sums of long rows");
}

template struct DeviceRows<float>;
template struct DeviceRows<double>;

}  // namespace gcn
}  // namespace plumb
