// A of a GCN without its values: columns that say by which scale an entry is multiplied. Apart from rows.hpp, which needs a device.
#pragma once
#include <cstdint>
#include <vector>

namespace plumb {
namespace gcn {

/// Where A's values follow from the degrees: the different scales of the columns, so that a column and the number of its scale share 32 bits.
template <class T>
struct ColumnScales {
  /// `scales` (columns); empty: values do not follow from the degrees.
  explicit ColumnScales(const std::vector<T>& scales);
  /// Whether there are such scales, and 32 bits are enough.
  [[nodiscard]] bool fit() const { return !values.empty(); }
  std::vector<T> values;            // ascending
  std::vector<std::uint32_t> word;  // (columns): the number of its scale, shifted
  unsigned shift = 31;              // bits of a column's number
};

}  // namespace gcn
}  // namespace plumb
