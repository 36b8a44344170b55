#include "datasets/formats/edge_list.hpp"

#include <algorithm>
#include <optional>

#include "datasets/formats/shape_comment.hpp"
#include "datasets/formats/triplets.hpp"
#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

template <class T>
struct EdgePart {
  Triplets<T> edges;
  std::int32_t largest = -1;
  std::int32_t first_line = -1;  // of the first edge, within the piece
};

// Indices as they stand in the file.
struct Bounds {
  std::int64_t base = 0, last_row = 0, last_col = 0;
};

template <class T>
void parse_edges(std::string_view piece, const Bounds& bounds, EdgePart<T>& to) {
  text::Cursor in{piece.data(), piece.data() + piece.size()};
  const std::size_t most = text::most_entries(piece, 4);  // "0 1\n"
  to.edges.row.reserve(most);
  to.edges.col.reserve(most);
  bool weighted = false;
  for (; !in.at_end(); in.at += in.at_end() ? 0 : 1) {
    if (in.line_done()) continue;
    if (*in.at == '#' || *in.at == '%') {
      while (!in.at_end() && *in.at != '\n') ++in.at;
      continue;
    }
    const bool first = to.edges.row.empty();
    if (first) to.first_line = static_cast<std::int32_t>(std::count(piece.data(), in.at, '\n'));
    const auto from = static_cast<std::int32_t>(
        text::take_index(in, "source vertex", bounds.base, bounds.last_row) - bounds.base);
    const auto onto = static_cast<std::int32_t>(
        text::take_index(in, "target vertex", bounds.base, bounds.last_col) - bounds.base);
    const bool has_weight = !in.line_done();
    if (first) {
      weighted = has_weight;
      if (weighted) to.edges.val.reserve(most);
    }
    if (has_weight && !weighted) in.fail("weight on this line, but not on the lines before");
    if (!has_weight && weighted) in.fail("no weight on this line, but on the lines before");
    if (has_weight) to.edges.val.push_back(text::take_real<T>(in, "weight", false));
    if (!in.line_done()) in.fail("text after the third column");
    to.edges.row.push_back(from);
    to.edges.col.push_back(onto);
    to.largest = std::max({to.largest, from, onto});
  }
  text::trim(to.edges.row);
  text::trim(to.edges.col);
  text::trim(to.edges.val);
}

}  // namespace

template <class T>
Csr<T> read_edge_list(ByteSource& source, std::int64_t largest_id, std::int64_t base) {
  const std::optional<ShapeComment> shape = take_shape_comment(source);
  if (shape && std::max(shape->rows, shape->cols) > largest_id + 1) {
    throw input_error(source.name(), 1, "more rows or columns than " + std::to_string(largest_id + 1),
                      std::to_string(std::max(shape->rows, shape->cols)));
  }
  const Bounds bounds =
      shape ? Bounds{shape->base, shape->rows - 1 + shape->base, shape->cols - 1 + shape->base}
            : Bounds{base, largest_id + base, largest_id + base};
  const auto parts = text::parse_lines<EdgePart<T>>(
      source, [&](std::string_view piece, EdgePart<T>& to) { parse_edges(piece, bounds, to); },
      shape ? 2 : 1);
  std::vector<const Triplets<T>*> pieces;
  std::int64_t largest = -1, found = 0;
  for (const auto& p : parts) {
    const Triplets<T>& edges = p.part.edges;
    if (edges.row.empty()) continue;
    if (!pieces.empty() && edges.val.empty() != pieces.front()->val.empty()) {
      throw input_error(source.name(), p.first_line + p.part.first_line, "weights on some lines only");
    }
    pieces.push_back(&edges);
    largest = std::max<std::int64_t>(largest, p.part.largest);
    found += static_cast<std::int64_t>(edges.size());
  }
  if (!shape) {
    if (pieces.empty()) throw input_error(source.name(), 0, "edge list without an edge");
    return csr_of<T>(source.name(), largest + 1, largest + 1, pieces);
  }
  if (found != shape->entries) {
    throw input_error(source.name(), 0, "entries found, entries announced in line 1",
                      std::to_string(found) + ", " + std::to_string(shape->entries));
  }
  return csr_of<T>(source.name(), shape->rows, shape->cols, pieces);
}

template <class T>
Csr<T> read_edge_list(const std::string& path) {
  const auto source = open_source(path);
  return read_edge_list<T>(*source);
}

template Csr<float> read_edge_list(ByteSource&, std::int64_t, std::int64_t);
template Csr<double> read_edge_list(ByteSource&, std::int64_t, std::int64_t);
template Csr<float> read_edge_list(const std::string&);
template Csr<double> read_edge_list(const std::string&);

}  // namespace plumb
