// GCN: its vertices in another order, so that rows that are gathered together, or often, lie together in memory. The entries of a row of
// A keep their order, so each row is summed as before: the answer is the same to the last bit.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/models/gcn/gcn.hpp"

namespace plumb {

enum class VertexOrder : std::uint8_t {
  given,
  degree,  // by the number of entries in a vertex's column, most first: the rows gathered most lie together
  rcm,     // reverse Cuthill-McKee: neighbours lie near each other
};
/// Errors: none of "given", "degree", "rcm".
[[nodiscard]] VertexOrder parse_vertex_order(std::string_view word);
[[nodiscard]] const char* to_string(VertexOrder order);

/// order[new] = old, a permutation of [0, a.rows). A vertex's neighbours are the columns of its row.
///
/// Source    E. Cuthill, J. McKee, Reducing the bandwidth of sparse symmetric matrices, ACM National Conference 1969; A. George, 1971.
template <class T>
[[nodiscard]] std::vector<std::int32_t> vertex_order(const Csr<T>& a, VertexOrder by);

/// The network with vertex order[i] as vertex i.
template <class T>
[[nodiscard]] Gcn<T> reordered(const Gcn<T>& net, const std::vector<std::int32_t>& order);

/// The rows of all matrices of a run of reordered() back to where they were.
template <class T>
void restore_rows(const std::vector<std::int32_t>& order, GcnRun<T>& run);

}  // namespace plumb
