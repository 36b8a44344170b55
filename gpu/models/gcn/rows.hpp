// A of a GCN in the order in which the fused kernel reads it: entries in fours, rows sorted by length, short
// rows in slices, long rows cut into parts. spmm's ladder takes CSR as it is; a graph is multiplied many
// times, so a conversion pays here.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/device/resources.hpp"
#include "gpu/models/gcn/column_scales.hpp"
#include "reference/core/matrix.hpp"

namespace plumb {
namespace gcn {

using Index = std::int64_t;

/// Quads [begin, end) of a long row, for a whole warp. Of a row of several parts the sums are stored in row `place` of the partial sums,
/// and counted in join `join`; of a row of one part, join is -1.
struct alignas(16) Part {
  std::int32_t row, begin, end, place, join;
};
/// Where partial sums [first, first + count) of a long row meet: the last to arrive adds them. The sum is the row's (`above` is -1), or is
/// stored in `place` and counted in join `above`.
struct alignas(16) Join {
  std::int32_t first, count, place, above;
};

constexpr Index kLongRow = 64;  // entries, the most for a group of lanes; longer rows take whole warps
constexpr int kSlice = 32;      // short rows stored together
constexpr Index kJoined = 16;   // sums that meet at once, the most: they are added one after the other

/// Where the kernel finds the value of an entry: in memory; among the scales, by the bits above the column; nowhere: it is 1.
enum class EntryValues { stored, by_column, ones };

/// The operand of the kernel. A quad is four entries of a row. Missing entries at a row's end have value 0 (if there are values)
/// and the column past the last, where the multiplied matrix has a row of zeros: the loop needs no
/// comparison, and 0 times NaN does not occur. The quads of a long row are contiguous. Short rows are sorted
/// by length and stored kSlice together: all first quads, then all second quads, up to the longest row of the
/// slice. Groups of a warp work on neighbouring rows, so they read neighbouring quads.
template <class T>
struct RowsView {
  const std::int32_t*
      col;           // (quads, 4): columns, and with ColumnScales above them the numbers of their scales
  const T* val;      // (quads, 4), or null: not stored
  const T* scale;    // (scales), or null: not by column
  unsigned shift;    // of the scales' numbers
  const Part* part;  // (parts), longest rows first
  const Join* join;  // (joins)
  const std::int32_t* row;    // (slots): short rows, longest first
  const std::int32_t* slice;  // (slices + 1): quads
  Index parts, slots;
  unsigned* arrived;  // (joins), zero before and after every launch
  T* partial;         // (places, partial_ld)
  Index partial_ld;
};

/// How the rows of a matrix are shared out: where their quads go. RowsView says what the arrays are.
struct RowPlan {
  /// `part_length`: entries of a long row for a warp.
  RowPlan(const std::vector<std::int32_t>& row_ptr, Index part_length);

  std::vector<Part> part;
  std::vector<std::int32_t> first;  // (parts): the first quad of the part's row
  std::vector<Join> join;
  std::vector<std::int32_t> row, slice;
  Index quads = 0;
  Index partial = 0;  // places of partial sums
};

/// The converted matrix on the host.
template <class T>
struct QuadRows {
  /// With its values where `values`, and with the numbers of its columns' scales where they fit.
  QuadRows(const Csr<T>& a, bool values, const ColumnScales<T>& scales, Index part_length);

  RowPlan plan;
  std::vector<std::int32_t> col;
  std::vector<T> val;
};

/// The same in device memory, where the entries are moved if A fits there once more. `widest`: columns that the partial sums must hold.
template <class T>
struct DeviceRows {
  DeviceRows(const Csr<T>& a, bool values, const ColumnScales<T>& scales, Index widest, Index part_length,
             void* stream);
  [[nodiscard]] RowsView<T> view(EntryValues from) const {
    return {col.data(),
            from == EntryValues::stored ? val.data() : nullptr,
            from == EntryValues::by_column ? scale.data() : nullptr,
            shift,
            part.data(),
            join.data(),
            row.data(),
            slice.data(),
            part.size(),
            row.size(),
            arrived.data(),
            partial.data(),
            partial_ld};
  }

  DeviceArray<std::int32_t> col, row, slice;
  DeviceArray<T> val, scale;
  unsigned shift;
  DeviceArray<Part> part;
  DeviceArray<Join> join;
  DeviceArray<unsigned> arrived;
  DeviceArray<T> partial;
  Index partial_ld = 0;

 private:
  void move_entries(const Csr<T>& a, const RowPlan& plan, bool values, const ColumnScales<T>& scales,
                    void* stream);
};

}  // namespace gcn
}  // namespace plumb
