// How the rows of a graph are divided among ranks: as they follow each other, or in parts that METIS finds, whose vertices then follow each
// other.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/core/matrix.hpp"
#include "reference/parallel/ranks.hpp"

namespace plumb {

enum class VertexPartition : std::uint8_t { rows, metis };
[[nodiscard]] const char* to_string(VertexPartition by);
/// Errors: no such word; METIS, where it is not built in.
[[nodiscard]] VertexPartition parse_vertex_partition(std::string_view word);

/// Part r has the vertices at places [cuts[r], cuts[r + 1]) of the order.
struct GcnPartition {
  std::vector<std::int32_t> order;  // (n): the vertex at each place; empty: as they are given
  Cuts cuts;                        // (parts + 1)
};
/// Parts with about as many entries and rows together. Vertices of a part stay in the order in which they are given. By metis: few edges
/// between parts. Errors: METIS fails.
template <class T>
[[nodiscard]] GcnPartition partition(const Csr<T>& a, VertexPartition by, int parts);

/// What lies between the parts.
struct PartitionCut {
  std::int64_t entries = 0;  // of A, whose row is in one part and whose column in another
  std::int64_t rows =
      0;  // of the operand that are sent before a product with A: once to each part that gathers them
};
template <class T>
[[nodiscard]] PartitionCut cut_of(const Csr<T>& a, const GcnPartition& partition);

}  // namespace plumb
