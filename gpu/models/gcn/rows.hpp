// A of a GCN as the fused kernel walks it: entries in fours, rows sorted by length, short ones in slices,
// long ones cut into parts. Apart from spmm's ladder, which takes CSR as it is: a graph is multiplied with
// again and again, so that a conversion pays.
#pragma once
#include <cstdint>

#include "gpu/device/resources.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {
namespace gcn {

using Index = std::int64_t;

/// Quads [begin, end) of a long row, by a whole warp. A row of several parts: the sums go to row `place` of
/// the partial ones, whose rows [first, first + count) are this row's, and to count `cut` of arrivals; else
/// cut is -1.
struct alignas(16) Part {
  std::int32_t row, begin, end, place, cut, first, count, unused;
};

constexpr Index kLongRow = 64;  // entries that a group of lanes takes; longer rows are a warp's or several
constexpr Index kPartLength = 512;  // entries per warp of a long row
constexpr int kSlice = 32;          // short rows stored together

/// What the kernel is handed. A quad is four entries of a row. What is missing at a row's end has value 0 and
/// the column past the last, where the multiplied matrix has a row of zeros: no comparison in the loop, and
/// no NaN that 0 times NaN would bring. The quads of a long row stand one after another. Short rows, sorted
/// by length, stand kSlice together: first quads, second quads, and so on to the longest of the slice, so
/// that groups of a warp, at work on neighbouring rows, read neighbours.
template <class T>
struct RowsView {
  const std::int32_t* col;    // (quads, 4)
  const T* val;               // (quads, 4)
  const Part* part;           // (parts), longest rows first
  const std::int32_t* row;    // (slots): short rows, longest first
  const std::int32_t* slice;  // (slices + 1): quads
  Index parts, slots;
  unsigned* arrived;  // (cuts), zero before and after every launch
  T* partial;         // (places, partial_ld)
  Index partial_ld;
};

/// The converted matrix in device memory. `widest`: columns that partial sums must hold.
template <class T>
struct DeviceRows {
  DeviceRows(const Csr<T>& a, Index widest, void* stream);
  [[nodiscard]] RowsView<T> view() const {
    return {col.data(),  val.data(), part.data(),    row.data(),     slice.data(),
            part.size(), row.size(), arrived.data(), partial.data(), partial_ld};
  }

  DeviceArray<std::int32_t> col, row, slice;
  DeviceArray<T> val;
  DeviceArray<Part> part;
  DeviceArray<unsigned> arrived;
  DeviceArray<T> partial;
  Index partial_ld = 0;
};

}  // namespace gcn
}  // namespace plumb
