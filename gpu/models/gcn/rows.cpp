// The conversion of A: rows sorted, cut, padded to quads, and copied to the device.
#include "gpu/models/gcn/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "gpu/models/gcn/place_rows.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace gcn {

namespace {

constexpr Index kQuadsOfShort = kLongRow / 4;

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// Of each row of a CSR matrix.
class RowLengths {
 public:
  explicit RowLengths(const std::vector<std::int32_t>& row_ptr) : row_ptr_(row_ptr) {}
  [[nodiscard]] Index rows() const { return static_cast<Index>(row_ptr_.size()) - 1; }
  [[nodiscard]] Index entries(Index i) const {
    return row_ptr_[static_cast<std::size_t>(i) + 1] - row_ptr_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Index quads(Index i) const { return ceil_div(entries(i), 4); }

 private:
  const std::vector<std::int32_t>& row_ptr_;
};

/// Long rows, and short ones, by descending number of quads. Stable, so that rows of one length keep their order and the locality of the
/// numbering.
std::vector<std::int32_t> long_rows(const RowLengths& a) {
  std::vector<std::int32_t> rows;
  for (Index i = 0; i < a.rows(); ++i) {
    if (a.quads(i) > kQuadsOfShort) rows.push_back(static_cast<std::int32_t>(i));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::int32_t x, std::int32_t y) { return a.quads(x) > a.quads(y); });
  return rows;
}
std::vector<std::int32_t> short_rows(const RowLengths& a) {
  std::array<Index, kQuadsOfShort + 2> begin{};  // [kQuadsOfShort - q]: of rows with q quads
  for (Index i = 0; i < a.rows(); ++i) {
    if (const Index q = a.quads(i); q <= kQuadsOfShort)
      ++begin.at(static_cast<std::size_t>(kQuadsOfShort - q + 1));
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::int32_t> rows(static_cast<std::size_t>(begin.back()));
  for (Index i = 0; i < a.rows(); ++i) {
    if (const Index q = a.quads(i); q <= kQuadsOfShort)
      rows[static_cast<std::size_t>(begin.at(static_cast<std::size_t>(kQuadsOfShort - q))++)] =
          static_cast<std::int32_t>(i);
  }
  return rows;
}

/// Joins the partial sums [first, first + count) of a row, at most kJoined at once, in as many levels as that takes. Returns the join of
/// the first of these sums; that of sum p is p / kJoined further.
std::int32_t join_sums(std::int32_t first, std::int32_t count, RowPlan& to) {
  const auto lowest = static_cast<std::int32_t>(to.join.size());
  auto partial = static_cast<std::int32_t>(to.partial);
  while (count > 1) {
    const auto joins = static_cast<std::int32_t>(ceil_div(count, kJoined));
    const auto above = static_cast<std::int32_t>(to.join.size()) + joins;
    for (std::int32_t j = 0; j < joins; ++j) {
      const auto begin = static_cast<std::int32_t>(j * kJoined),
                 end = std::min(begin + static_cast<std::int32_t>(kJoined), count);
      to.join.push_back({first + begin, end - begin, joins > 1 ? partial + j : -1,
                         joins > 1 ? above + static_cast<std::int32_t>(j / kJoined) : -1});
    }
    first = partial, count = joins;
    if (joins > 1) partial += joins;
  }
  to.partial = partial;
  return lowest;
}

/// Places a long row: its quads are contiguous, and cut into parts of `part_length` entries.
void place_long(const RowLengths& a, std::int32_t i, Index part_length, RowPlan& to) {
  const Index pieces = ceil_div(a.entries(i), part_length), count = a.quads(i);
  const auto first = static_cast<std::int32_t>(to.partial);
  if (pieces > 1) to.partial += pieces;
  const std::int32_t lowest = pieces > 1 ? join_sums(first, static_cast<std::int32_t>(pieces), to) : -1;
  for (Index p = 0; p < pieces; ++p) {
    to.part.push_back({i, static_cast<std::int32_t>(to.quads + count * p / pieces),
                       static_cast<std::int32_t>(to.quads + count * (p + 1) / pieces),
                       first + static_cast<std::int32_t>(p),
                       pieces > 1 ? lowest + static_cast<std::int32_t>(p / kJoined) : -1});
    to.first.push_back(static_cast<std::int32_t>(to.quads));
  }
  to.quads += count;
}

/// Places the short rows, which are sorted by length, in slices of kSlice.
void place_short(const RowLengths& a, RowPlan& to) {
  for (std::size_t s = 0; s < to.row.size(); s += kSlice) {
    to.slice.push_back(static_cast<std::int32_t>(to.quads));
    to.quads += kSlice * a.quads(to.row[s]);  // the longest of the slice
  }
  if (to.quads > 0x7fffffff) throw Error("gcn: A has too many entries for 32-bit places of quads");
  to.slice.push_back(static_cast<std::int32_t>(to.quads));
}

/// That the numbers up to `most` take.
int bits_of(std::size_t most) {
  int bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
}

/// The different ones of many values, numbered in the order in which they come.
template <class T>
class DistinctValues {
 public:
  /// Room for `most`.
  explicit DistinctValues(std::size_t most) : most_(most) {
    std::size_t size = 2;
    while (size < 2 * (most + 1)) size *= 2;
    table_.assign(size, -1);
  }
  /// The number of a value; -1 where it would be one too many.
  std::int32_t number(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    const std::size_t mask = table_.size() - 1;
    std::size_t at = static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15U) >> 32) & mask;
    while (table_[at] >= 0 && values_[static_cast<std::size_t>(table_[at])] != value) at = (at + 1) & mask;
    if (table_[at] < 0) {
      if (values_.size() == most_) return -1;
      table_[at] = static_cast<std::int32_t>(values_.size());
      values_.push_back(value);
    }
    return table_[at];
  }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }

 private:
  std::size_t most_;
  std::vector<std::int32_t> table_;  // open addressing: numbers, or -1
  std::vector<T> values_;
};

PlannedRows view_of(const RowPlan& plan) {
  return {plan.part.data(),
          plan.first.data(),
          static_cast<Index>(plan.part.size()),
          plan.row.data(),
          static_cast<Index>(plan.row.size()),
          plan.slice.data()};
}

}  // namespace

template <class T>
ColumnScales<T>::ColumnScales(const std::vector<T>& scales) {
  if (scales.empty()) return;
  const int bits = bits_of(scales.size());  // also of the column past the last
  if (bits > 31) return;
  DistinctValues<T> distinct(std::min(scales.size(), std::size_t{1} << (32 - bits)));
  std::vector<std::uint32_t> of_column;
  of_column.reserve(scales.size());
  for (const T scale : scales) {
    const std::int32_t number = distinct.number(scale);
    if (number < 0) return;
    of_column.push_back(static_cast<std::uint32_t>(number));
  }
  values = distinct.values();
  std::sort(values.begin(), values.end());
  std::vector<std::uint32_t> shifted;  // by number: the rank, shifted
  shift = static_cast<unsigned>(bits);
  for (const T value : distinct.values()) {
    const auto rank = std::lower_bound(values.begin(), values.end(), value) - values.begin();
    shifted.push_back(static_cast<std::uint32_t>(rank) << shift);
  }
  for (std::uint32_t& number : of_column) number = shifted[number];
  word = std::move(of_column);
}

RowPlan::RowPlan(const std::vector<std::int32_t>& row_ptr, Index part_length) {
  const RowLengths a(row_ptr);
  for (const std::int32_t i : long_rows(a)) place_long(a, i, part_length, *this);
  row = short_rows(a);
  place_short(a, *this);
}

template <class T>
QuadRows<T>::QuadRows(const Csr<T>& a, bool values, const ColumnScales<T>& scales, Index part_length)
    : plan(a.row_ptr, part_length),
      col(static_cast<std::size_t>(4 * plan.quads)),
      val(values ? col.size() : 0) {
  const EntrySource<T> from{a.row_ptr.data(), a.col.data(), a.val.data(),
                            scales.fit() ? scales.word.data() : nullptr, static_cast<std::int32_t>(a.cols)};
  const EntryTarget<T> to{col.data(), values ? val.data() : nullptr};
  const PlannedRows rows = view_of(plan);
  const Index slots = ceil_div(rows.slots, kSlice) * kSlice;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 16) nowait
    for (Index p = 0; p < rows.parts; ++p) place_part(from, rows, p, 0, 1, to);
#pragma omp for schedule(dynamic, 1024)
    for (Index slot = 0; slot < slots; ++slot) place_slot(from, rows, slot, to);
  }
}

/// A copied as it is, and its entries moved.
template <class T>
void DeviceRows<T>::move_entries(const Csr<T>& a, const RowPlan& plan, bool values,
                                 const ColumnScales<T>& scales, void* stream) {
  col = DeviceArray<std::int32_t>(4 * plan.quads, "A's columns in quads");
  val = DeviceArray<T>(values ? 4 * plan.quads : 0, "A's values in quads");
  const DeviceArray<std::int32_t> row_ptr(a.row_ptr, "row pointers", stream),
      columns(a.col, "columns", stream), first(plan.first, "first quads of long rows", stream);
  DeviceArray<T> of_csr;
  if (values) of_csr = DeviceArray<T>(a.val, "values", stream);
  const DeviceArray<std::uint32_t> words(scales.word, "numbers of scales", stream);
  place_entries<T>({row_ptr.data(), columns.data(), of_csr.data(), scales.fit() ? words.data() : nullptr,
                    static_cast<std::int32_t>(a.cols)},
                   {part.data(), first.data(), part.size(), row.data(), row.size(), slice.data()},
                   {col.data(), values ? val.data() : nullptr}, stream);
  static_cast<void>(slice.read(1, stream));  // waits: what the kernel reads is released now
}

template <class T>
DeviceRows<T>::DeviceRows(const Csr<T>& a, bool values, const ColumnScales<T>& scales, Index widest,
                          Index part_length, void* stream)
    : scale(scales.values, "scales of columns", stream), shift(scales.shift), partial_ld(widest) {
  const RowPlan plan(a.row_ptr, part_length);
  part = DeviceArray<Part>(plan.part, "parts of long rows", stream);
  join = DeviceArray<Join>(plan.join, "joins of long rows", stream);
  row = DeviceArray<std::int32_t>(plan.row, "short rows", stream);
  slice = DeviceArray<std::int32_t>(plan.slice, "slices of short rows", stream);
  arrived = DeviceArray<unsigned>(join.size(), "arrivals at long rows");
  device_fill(arrived.data(), 0, static_cast<std::size_t>(arrived.bytes()), stream);
  partial = DeviceArray<T>(plan.partial * widest, "partial sums of long rows");
  const Index of_entry = 4 + (values ? static_cast<Index>(sizeof(T)) : 0);
  const Index twice = of_entry * (4 * plan.quads + a.nnz()) + 4 * (a.rows + a.cols);
  if (twice < device_memory_free() / 2) {
    move_entries(a, plan, values, scales, stream);
  } else {
    const QuadRows<T> rows(a, values, scales, part_length);
    col = DeviceArray<std::int32_t>(rows.col, "A's columns in quads", stream);
    val = DeviceArray<T>(rows.val, "A's values in quads", stream);
  }
}

template struct ColumnScales<float>;
template struct ColumnScales<double>;
template struct QuadRows<float>;
template struct QuadRows<double>;
template struct DeviceRows<float>;
template struct DeviceRows<double>;

}  // namespace gcn
}  // namespace plumb
