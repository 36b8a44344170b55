#include "reference/models/gcn/partition.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "reference/models/gcn/metis.hpp"
#include "reference/models/gcn/parts.hpp"

namespace plumb {

namespace {

using gcn::at;

/// Calls entry(i, j) for every entry of `a`.
template <class T, class Entry>
void each_entry(const Csr<T>& a, const Entry& entry) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int32_t k = a.row_ptr[at(i)]; k < a.row_ptr[at(i) + 1]; ++k)
      entry(static_cast<std::int32_t>(i), a.col[at(k)]);
  }
}

struct Neighbours {
  std::vector<std::int32_t> begin, vertices;
};

/// The graph of `a` with every edge at both of its ends, once, and without loops. Errors: more than 2^31 ends.
template <class T>
Neighbours neighbours_of(const Csr<T>& a) {
  if (a.nnz() > 0x3fffffff)
    throw Error(fmt::format("METIS: A has {} entries, at most 2^30 - 1 are taken", a.nnz()));
  std::vector<std::int32_t> end(at(a.rows) + 1);
  each_entry(a, [&](std::int32_t i, std::int32_t j) {
    if (i != j) ++end[at(i) + 1], ++end[at(j) + 1];
  });
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<std::int32_t> ends(at(end.back())), next(end.begin(), end.end() - 1);
  each_entry(a, [&](std::int32_t i, std::int32_t j) {
    if (i != j) ends[at(next[at(i)]++)] = j, ends[at(next[at(j)]++)] = i;
  });
  Neighbours graph;
  graph.begin.push_back(0);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto first = ends.begin() + end[at(i)], last = ends.begin() + end[at(i) + 1];
    std::sort(first, last);
    graph.vertices.insert(graph.vertices.end(), first, std::unique(first, last));
    graph.begin.push_back(static_cast<std::int32_t>(graph.vertices.size()));
  }
  return graph;
}

/// The places of a stable sort by part.
GcnPartition by_part(const std::vector<std::int32_t>& part, int parts) {
  GcnPartition p;
  p.cuts.assign(at(parts) + 1, 0);
  for (const std::int32_t r : part) ++p.cuts[at(r) + 1];
  std::partial_sum(p.cuts.begin(), p.cuts.end(), p.cuts.begin());
  p.order.resize(part.size());
  Cuts next = p.cuts;
  for (std::size_t v = 0; v < part.size(); ++v)
    p.order[at(next[at(part[v])]++)] = static_cast<std::int32_t>(v);
  return p;
}

}  // namespace

const char* to_string(VertexPartition by) { return by == VertexPartition::metis ? "metis" : "rows"; }

VertexPartition parse_vertex_partition(std::string_view word) {
  const std::string text(word);
  if (text != "rows" && text != "metis")
    throw Error(fmt::format("--partition '{}' is none of rows, metis{}", printable(text),
                            did_you_mean(text, {"rows", "metis"})));
  if (text == "metis" && metis_version().empty())
    throw Error(
        "--partition metis: METIS is not built in (tools/plumb setup --with metis, then build again)");
  return text == "metis" ? VertexPartition::metis : VertexPartition::rows;
}

template <class T>
GcnPartition partition(const Csr<T>& a, VertexPartition by, int parts) {
  if (by == VertexPartition::rows || parts == 1) return {{}, cut_by_entries(a.row_ptr, parts)};
  std::vector<std::int32_t> weights(at(a.rows));  // as cut_by_entries() counts a row
  for (std::int64_t i = 0; i < a.rows; ++i) weights[at(i)] = a.row_ptr[at(i) + 1] - a.row_ptr[at(i)] + 1;
  Neighbours graph = neighbours_of(a);
  return by_part(metis_parts(std::move(graph.begin), std::move(graph.vertices), std::move(weights), parts),
                 parts);
}

template <class T>
PartitionCut cut_of(const Csr<T>& a, const GcnPartition& partition) {
  std::vector<std::int32_t> part(at(a.rows));
  for (std::size_t r = 0; r + 1 < partition.cuts.size(); ++r) {
    for (std::int64_t place = partition.cuts[r]; place < partition.cuts[r + 1]; ++place) {
      const std::int64_t vertex = partition.order.empty() ? place : partition.order[at(place)];
      part[at(vertex)] = static_cast<std::int32_t>(r);
    }
  }
  PartitionCut cut;
  std::vector<std::vector<bool>> sent(partition.cuts.size() - 1, std::vector<bool>(at(a.rows)));
  each_entry(a, [&](std::int32_t i, std::int32_t j) {
    const std::int32_t to = part[at(i)];
    if (to == part[at(j)]) return;
    ++cut.entries;
    if (!sent[at(to)][at(j)]) ++cut.rows, sent[at(to)][at(j)] = true;
  });
  return cut;
}

template GcnPartition partition(const Csr<float>&, VertexPartition, int);
template GcnPartition partition(const Csr<double>&, VertexPartition, int);
template PartitionCut cut_of(const Csr<float>&, const GcnPartition&);
template PartitionCut cut_of(const Csr<double>&, const GcnPartition&);

}  // namespace plumb
