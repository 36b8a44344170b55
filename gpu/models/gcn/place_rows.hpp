// Entries of a CSR matrix to where the fused kernel reads them (rows.hpp): the same on the host, whose pieces are copied later, as on a device.
#pragma once
#include "gpu/models/gcn/rows.hpp"

namespace plumb {
namespace gcn {

/// The matrix as it is. `val`: null where values are not stored; `scale_number`: of each column, above its number; null: none.
template <class T>
struct EntrySource {
  const std::int32_t *row_ptr, *col;
  const T* val;
  const std::uint32_t* scale_number;
  std::int32_t cols;
};
/// RowPlan's arrays.
struct PlannedRows {
  const Part* part;
  const std::int32_t* first;
  Index parts;
  const std::int32_t* row;
  Index slots;
  const std::int32_t* slice;
};
/// Where they go: (quads, 4).
template <class T>
struct EntryTarget {
  std::int32_t* col;
  T* val;  // null: values are not stored
};

/// Quad q of a row (-1: of none) to `place`; missing entries have value 0 and the column past the last.
template <class T>
PLUMB_HOST_DEVICE void place_quad(const EntrySource<T>& a, Index row, Index q, Index place,
                                  const EntryTarget<T>& to) {
  const Index begin = row < 0 ? 0 : a.row_ptr[row] + 4 * q, end = row < 0 ? 0 : a.row_ptr[row + 1];
  for (Index e = 0; e < 4; ++e) {
    const bool is_entry = begin + e < end;
    std::int32_t column = a.cols;
    if (is_entry) {
      column = a.col[begin + e];
      if (a.scale_number != nullptr) column |= static_cast<std::int32_t>(a.scale_number[column]);
    }
    to.col[4 * place + e] = column;
    if (to.val != nullptr) to.val[4 * place + e] = is_entry ? a.val[begin + e] : T(0);
  }
}
/// Quads from, from + step, ... of part p.
template <class T>
PLUMB_HOST_DEVICE void place_part(const EntrySource<T>& a, const PlannedRows& rows, Index p, int from,
                                  int step, const EntryTarget<T>& to) {
  const Part part = rows.part[p];
  for (Index q = part.begin + from; q < part.end; q += step)
    place_quad(a, part.row, q - rows.first[p], q, to);
}
/// The quads of a slot, up to the longest of its slice; slots behind the last row have padding only.
template <class T>
PLUMB_HOST_DEVICE void place_slot(const EntrySource<T>& a, const PlannedRows& rows, Index slot,
                                  const EntryTarget<T>& to) {
  const Index slice = slot / kSlice, row = slot < rows.slots ? rows.row[slot] : -1;
  const Index begin = rows.slice[slice], quads = (rows.slice[slice + 1] - begin) / kSlice;
  for (Index q = 0; q < quads; ++q) place_quad(a, row, q, begin + q * kSlice + slot % kSlice, to);
}

/// All of them, on a device.
template <class T>
void place_entries(const EntrySource<T>& a, const PlannedRows& rows, const EntryTarget<T>& to, void* stream);

}  // namespace gcn
}  // namespace plumb
