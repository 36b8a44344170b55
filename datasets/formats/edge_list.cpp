#include "datasets/formats/edge_list.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "datasets/formats/edge_columns.hpp"
#include "datasets/formats/shape_comment.hpp"
#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

template <class T>
struct EdgePart {
  Triplets<T> edges;
  std::int32_t smallest = std::numeric_limits<std::int32_t>::max(), largest_row = -1, largest_col = -1;
  std::int32_t first_line = -1;  // of the first edge, within the piece
};

// Indices as they stand in the file, and what is taken off them.
struct Bounds {
  std::int64_t first = 0, last_row = 0, last_col = 0, taken_off = 0;
};

std::int32_t take_vertex(text::Cursor& in, const char* what, const Bounds& bounds, std::int64_t last) {
  in.skip_blanks();
  const text::Cursor start = in;
  const std::int64_t id = text::take_integer(in, what);
  if (id < bounds.first || id > last) {
    const bool too_large = id > last && last + 1 >= kLargestIndex;
    start.fail(fmt::format("{} is outside {}..{}{}", what, bounds.first, last,
                           too_large ? "; number the vertices without gaps, as docs/data.md does" : ""));
  }
  return static_cast<std::int32_t>(id - bounds.taken_off);
}

template <class T>
void parse_edges(std::string_view piece, const Bounds& bounds, EdgePart<T>& to) {
  text::Cursor in{piece.data(), piece.data() + piece.size()};
  const std::size_t most = text::most_entries(piece, 4);  // "0 1\n"
  to.edges.row.reserve(most);
  to.edges.col.reserve(most);
  bool weighted = false;
  for (; !in.at_end(); in.at += in.at_end() ? 0 : 1) {
    if (in.line_done()) continue;
    if (*in.at == '#' || *in.at == '%' || (*in.at == '/' && in.at[1] == '/')) {
      while (!in.at_end() && *in.at != '\n') ++in.at;
      continue;
    }
    const bool first = to.edges.row.empty();
    if (first) to.first_line = static_cast<std::int32_t>(std::count(piece.data(), in.at, '\n'));
    const std::int32_t from = take_vertex(in, "source vertex", bounds, bounds.last_row);
    const std::int32_t onto = take_vertex(in, "target vertex", bounds, bounds.last_col);
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
    to.smallest = std::min({to.smallest, from, onto});
    to.largest_row = std::max(to.largest_row, from);
    to.largest_col = std::max(to.largest_col, onto);
  }
  text::trim(to.edges.row);
  text::trim(to.edges.col);
  text::trim(to.edges.val);
}

template <class T>
using EdgeParts = std::deque<text::Parsed<EdgePart<T>>>;

/// Of all pieces.
struct Extent {
  std::int64_t edges = 0, smallest = std::numeric_limits<std::int64_t>::max(), largest_row = -1,
               largest_col = -1;
  [[nodiscard]] std::int64_t largest() const { return std::max(largest_row, largest_col); }
};

/// The pieces that hold edges. Errors: weights in some only.
template <class T>
Extent collect(const std::string& name, EdgeParts<T>& parts, EdgeList<T>& out) {
  Extent extent;
  for (auto& p : parts) {
    Triplets<T>& edges = p.part.edges;
    if (edges.row.empty()) continue;
    if (!out.pieces.empty() && edges.val.empty() != out.pieces.front().val.empty())
      throw input_error(name, p.first_line + p.part.first_line, "weights on some lines only");
    extent.edges += static_cast<std::int64_t>(edges.size());
    extent.smallest = std::min<std::int64_t>(extent.smallest, p.part.smallest);
    extent.largest_row = std::max<std::int64_t>(extent.largest_row, p.part.largest_row);
    extent.largest_col = std::max<std::int64_t>(extent.largest_col, p.part.largest_col);
    out.pieces.push_back(std::move(edges));
  }
  return extent;
}

/// Without the first edge.
template <class T>
Extent extent_of_others(const EdgeList<T>& list) {
  Extent extent;
  std::size_t k = 1;
  for (const Triplets<T>& edges : list.pieces) {
    extent.edges += static_cast<std::int64_t>(edges.size() - k);
    for (; k < edges.size(); ++k) {
      extent.smallest = std::min<std::int64_t>({extent.smallest, edges.row[k], edges.col[k]});
      extent.largest_row = std::max<std::int64_t>(extent.largest_row, edges.row[k]);
      extent.largest_col = std::max<std::int64_t>(extent.largest_col, edges.col[k]);
    }
    k = 0;
  }
  return extent;
}

/// What a first line tells that is no edge.
struct Counts {
  std::int64_t rows = 0, cols = 0;
  const char *what, *columns;  // in words; what --columns says where it is an edge
};

/// The contest's `v e`, or `rows columns entries` before lines with weights, where as many edges follow and lie inside. It is an edge no more.
template <class T>
std::optional<Counts> take_counts(EdgeList<T>& list, Extent& extent) {
  Triplets<T>& first = list.pieces.front();
  const bool weighted = !first.val.empty();
  const double announced = weighted ? static_cast<double>(first.val[0]) : first.col[0];
  if (extent.edges < 2 || announced != static_cast<double>(extent.edges - 1)) return {};
  const Counts counts =
      weighted ? Counts{first.row[0], first.col[0], "rows, columns and entries", "from,to,weight"}
               : Counts{first.row[0], first.row[0], "vertices and edges", "from,to"};
  const Extent others = extent_of_others(list);
  const bool below = others.largest_row < counts.rows && others.largest_col < counts.cols;
  const bool up_to =
      others.largest_row <= counts.rows && others.largest_col <= counts.cols && others.smallest > 0;
  if (!below && !up_to) return {};
  extent = others;
  first.row.erase(first.row.begin());
  first.col.erase(first.col.begin());
  if (weighted) first.val.erase(first.val.begin());
  return counts;
}

template <class T>
void count_from_zero(EdgeList<T>& list, std::int64_t base) {
  if (base == 0) return;
  for (Triplets<T>& edges : list.pieces) {
    for (std::int32_t& row : edges.row) --row;
    for (std::int32_t& col : edges.col) --col;
  }
}

/// The base and the size of a list that does not tell them, as its ids and comments have it.
template <class T>
void guess_size(ByteSource& source, const EdgeListOptions& options, const TellTaleSize& told, Extent extent,
                EdgeList<T>& list) {
  Findings& findings = source.findings();
  std::optional<Counts> counted;
  if (options.columns.empty()) counted = take_counts(list, extent);
  // where a first line tells the size, ids are below it, as the contest's, unless one is not
  const bool without_zero = counted
                                ? extent.largest_row == counted->rows || extent.largest_col == counted->cols
                                : extent.smallest > 0;
  findings.base = options.base.value_or(without_zero ? 1 : 0);
  const std::int64_t largest = extent.largest() - findings.base + 1;
  list.rows = list.cols = largest;
  if (counted) {
    list.rows = counted->rows, list.cols = counted->cols;
    findings.notes.push_back(fmt::format(
        "the first line is taken for the numbers of {}, {} x {} with {}; --columns {} reads it as an edge",
        counted->what, list.rows, list.cols, extent.edges, counted->columns));
  } else if (told.bipartite && std::max(told.rows, told.cols) <= options.largest_id + 1 &&
             told.rows > extent.largest_row - findings.base &&
             told.cols > extent.largest_col - findings.base) {
    list.rows = told.rows, list.cols = told.cols;
  } else if (!told.bipartite && std::max(told.rows, told.cols) >= largest &&
             std::max(told.rows, told.cols) <= options.largest_id + 1) {
    list.rows = list.cols = std::max(told.rows, told.cols);
  } else {
    findings.sized = false;
  }
  if (!options.base && findings.base == 1)
    findings.notes.push_back(
        fmt::format("no id is 0: ids are taken to count from 1, {} vertices; --base 0 counts from 0",
                    std::max(list.rows, list.cols)));
  count_from_zero(list, findings.base);
}

template <class T>
EdgeList<T> read_sized_edges(ByteSource& source, const ShapeComment& shape, std::int64_t largest_id) {
  if (std::max(shape.rows, shape.cols) > largest_id + 1) {
    throw input_error(source.name(), 1, "more rows or columns than " + std::to_string(largest_id + 1),
                      std::to_string(std::max(shape.rows, shape.cols)));
  }
  const Bounds bounds{shape.base, shape.rows - 1 + shape.base, shape.cols - 1 + shape.base, shape.base};
  auto parts = text::parse_lines<EdgePart<T>>(
      source, [&](std::string_view piece, EdgePart<T>& to) { parse_edges(piece, bounds, to); }, 2);
  EdgeList<T> out{shape.rows, shape.cols, {}};
  const Extent extent = collect(source.name(), parts, out);
  if (extent.edges != shape.entries) {
    throw input_error(source.name(), 0, "entries found, entries announced in line 1",
                      std::to_string(extent.edges) + ", " + std::to_string(shape.entries));
  }
  source.findings().base = shape.base;
  return out;
}

}  // namespace

template <class T>
EdgeList<T> read_edges(ByteSource& source, const EdgeListOptions& options) {
  text::begin_text(source);
  if (const std::optional<ShapeComment> shape = take_shape_comment(source))
    return read_sized_edges<T>(source, *shape, options.largest_id);
  const TellTaleSize told = size_in_comments(source);
  const EdgeColumns columns = guess_columns(source, options.columns);
  std::unique_ptr<ByteSource> selected;
  if (!columns.plain()) selected = select_columns(source, columns);
  const std::int64_t base = options.base.value_or(0);
  const Bounds bounds{base, options.largest_id + base, options.largest_id + base, 0};
  auto parts = text::parse_lines<EdgePart<T>>(
      selected ? *selected : source,
      [&](std::string_view piece, EdgePart<T>& to) { parse_edges(piece, bounds, to); });
  EdgeList<T> out;
  const Extent extent = collect(source.name(), parts, out);
  if (out.pieces.empty()) throw input_error(source.name(), 0, "edge list without an edge");
  guess_size(source, options, told, extent, out);
  return out;
}

template <class T>
Csr<T> read_edge_list(ByteSource& source, const EdgeListOptions& options) {
  const EdgeList<T> list = read_edges<T>(source, options);
  std::vector<const Triplets<T>*> pieces;
  for (const Triplets<T>& piece : list.pieces) pieces.push_back(&piece);
  return csr_of<T>(source.name(), list.rows, list.cols, pieces);
}

template <class T>
Csr<T> read_edge_list(const std::string& path) {
  const auto source = open_source(path);
  return read_edge_list<T>(*source);
}

template EdgeList<float> read_edges(ByteSource&, const EdgeListOptions&);
template EdgeList<double> read_edges(ByteSource&, const EdgeListOptions&);
template Csr<float> read_edge_list(ByteSource&, const EdgeListOptions&);
template Csr<double> read_edge_list(ByteSource&, const EdgeListOptions&);
template Csr<float> read_edge_list(const std::string&);
template Csr<double> read_edge_list(const std::string&);

}  // namespace plumb
