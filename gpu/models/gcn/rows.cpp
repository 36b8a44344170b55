// The conversion of A: rows sorted, cut, padded to quads, and copied to the device.
#include "gpu/models/gcn/rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "reference/core/error.hpp"

namespace plumb {
namespace gcn {

namespace {

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

template <class T>
Index begin_of(const Csr<T>& a, Index i) {
  return a.row_ptr[static_cast<std::size_t>(i)];
}
template <class T>
Index entries_of(const Csr<T>& a, Index i) {
  return begin_of(a, i + 1) - begin_of(a, i);
}
template <class T>
Index quads_of(const Csr<T>& a, Index i) {
  return ceil_div(entries_of(a, i), 4);
}

/// Where the quads of each row go, and how the rows are shared out. Made before the entries are moved, so that
/// these are moved in parallel.
struct Places {
  explicit Places(Index count)
      : at(static_cast<std::size_t>(count)), step(static_cast<std::size_t>(count), 1) {}
  std::vector<Index> at;           // of each row's first quad
  std::vector<std::int32_t> step;  // from a quad to the row's next
  std::vector<Part> parts;         // of long rows
  std::vector<Join> joins;         // of their sums
  std::vector<std::int32_t> rows;  // short ones
  std::vector<std::int32_t> slices;
  Index total = 0;  // quads
  std::int32_t partial = 0;
};

/// Rows by descending number of quads. Stable, so that rows of one length keep their order and the locality of
/// the numbering.
template <class T>
std::vector<std::int32_t> by_length(const Csr<T>& a) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t x, std::int32_t y) { return quads_of(a, x) > quads_of(a, y); });
  return order;
}

/// Joins the partial sums [first, first + count) of a row, at most kJoined at once, in as many levels as that takes. Returns the join of
/// the first of these sums; that of sum p is p / kJoined further.
std::int32_t join_sums(std::int32_t first, std::int32_t count, Places& to) {
  const auto lowest = static_cast<std::int32_t>(to.joins.size());
  while (count > 1) {
    const auto joins = static_cast<std::int32_t>(ceil_div(count, kJoined));
    const auto above = static_cast<std::int32_t>(to.joins.size()) + joins;
    for (std::int32_t j = 0; j < joins; ++j) {
      const auto begin = static_cast<std::int32_t>(j * kJoined),
                 end = std::min(begin + static_cast<std::int32_t>(kJoined), count);
      to.joins.push_back({first + begin, end - begin, joins > 1 ? to.partial + j : -1,
                          joins > 1 ? above + static_cast<std::int32_t>(j / kJoined) : -1});
    }
    first = to.partial, count = joins;
    if (joins > 1) to.partial += joins;
  }
  return lowest;
}

/// Places a long row: its quads are contiguous, and cut into parts of `part_length` entries.
template <class T>
void place_long(const Csr<T>& a, std::int32_t i, Index part_length, Places& to) {
  const Index pieces = ceil_div(entries_of(a, i), part_length), count = quads_of(a, i);
  to.at[static_cast<std::size_t>(i)] = to.total;
  const std::int32_t first = to.partial;
  if (pieces > 1) to.partial += static_cast<std::int32_t>(pieces);
  const std::int32_t lowest = pieces > 1 ? join_sums(first, static_cast<std::int32_t>(pieces), to) : -1;
  for (Index p = 0; p < pieces; ++p) {
    to.parts.push_back({i, static_cast<std::int32_t>(to.total + count * p / pieces),
                        static_cast<std::int32_t>(to.total + count * (p + 1) / pieces),
                        first + static_cast<std::int32_t>(p),
                        pieces > 1 ? lowest + static_cast<std::int32_t>(p / kJoined) : -1});
  }
  to.total += count;
}

/// Places the short rows, which are sorted by length, in slices of kSlice.
template <class T>
void place_short(const Csr<T>& a, Places& to) {
  for (std::size_t s = 0; s < to.rows.size(); s += kSlice) {
    to.slices.push_back(static_cast<std::int32_t>(to.total));
    for (std::size_t r = s; r < std::min(s + kSlice, to.rows.size()); ++r) {
      to.at[static_cast<std::size_t>(to.rows[r])] = to.total + static_cast<Index>(r - s);
      to.step[static_cast<std::size_t>(to.rows[r])] = kSlice;
    }
    to.total += kSlice * quads_of(a, to.rows[s]);  // the longest of the slice
  }
  if (to.total > 0x7fffffff) throw Error("gcn: A has too many entries for 32-bit places of quads");
  to.slices.push_back(static_cast<std::int32_t>(to.total));
}

template <class T>
Places places_of(const Csr<T>& a, Index part_length) {
  const std::vector<std::int32_t> order = by_length(a);
  const auto first_short = std::partition_point(
      order.begin(), order.end(), [&](std::int32_t i) { return quads_of(a, i) > kLongRow / 4; });
  Places to(a.rows);
  for (auto i = order.begin(); i != first_short; ++i) place_long(a, *i, part_length, to);
  to.rows.assign(first_short, order.end());
  place_short(a, to);
  return to;
}

/// That the numbers up to `most` take.
int bits_of(std::size_t most) {
  int bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
}

}  // namespace

template <class T>
ColumnScales<T>::ColumnScales(const std::vector<T>& scales) {
  if (scales.empty()) return;
  std::vector<T> distinct = scales;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const int bits = bits_of(scales.size());  // also of the column past the last
  if (bits > 31 || bits + bits_of(distinct.size() - 1) > 32) return;
  shift = static_cast<unsigned>(bits);
  for (const T scale : scales) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), scale) - distinct.begin();
    word.push_back(static_cast<std::uint32_t>(at) << shift);
  }
  values = std::move(distinct);
}

template <class T>
QuadRows<T>::QuadRows(const Csr<T>& a, bool values, const ColumnScales<T>& scales, Index part_length) {
  Places places = places_of(a, part_length);
  col.assign(static_cast<std::size_t>(4 * places.total), static_cast<std::int32_t>(a.cols));
  val.resize(values ? col.size() : 0);
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index i = 0; i < a.rows; ++i) {
    const Index begin = begin_of(a, i), entries = entries_of(a, i);
    const Index at = places.at[static_cast<std::size_t>(i)], step = places.step[static_cast<std::size_t>(i)];
    for (Index e = 0; e < entries; ++e) {
      const auto to = static_cast<std::size_t>(4 * (at + e / 4 * step) + e % 4);
      const std::int32_t column = a.col[static_cast<std::size_t>(begin + e)];
      col[to] = column;
      if (scales.fit()) col[to] |= static_cast<std::int32_t>(scales.word[static_cast<std::size_t>(column)]);
      if (values) val[to] = a.val[static_cast<std::size_t>(begin + e)];
    }
  }
  part = std::move(places.parts), join = std::move(places.joins);
  row = std::move(places.rows), slice = std::move(places.slices);
  partial = places.partial;
}

template <class T>
DeviceRows<T>::DeviceRows(const Csr<T>& a, bool values, const ColumnScales<T>& scales, Index widest,
                          Index part_length, void* stream)
    : scale(scales.values, "scales of columns", stream), shift(scales.shift), partial_ld(widest) {
  const QuadRows<T> rows(a, values, scales, part_length);
  col = DeviceArray<std::int32_t>(rows.col, "A's columns in quads", stream);
  val = DeviceArray<T>(rows.val, "A's values in quads", stream);
  part = DeviceArray<Part>(rows.part, "parts of long rows", stream);
  join = DeviceArray<Join>(rows.join, "joins of long rows", stream);
  row = DeviceArray<std::int32_t>(rows.row, "short rows", stream);
  slice = DeviceArray<std::int32_t>(rows.slice, "slices of short rows", stream);
  arrived = DeviceArray<unsigned>(join.size(), "arrivals at long rows");
  device_fill(arrived.data(), 0, static_cast<std::size_t>(arrived.bytes()), stream);
  partial = DeviceArray<T>(rows.partial * widest, "partial sums of long rows");
}

template struct ColumnScales<float>;
template struct ColumnScales<double>;
template struct QuadRows<float>;
template struct QuadRows<double>;
template struct DeviceRows<float>;
template struct DeviceRows<double>;

}  // namespace gcn
}  // namespace plumb
