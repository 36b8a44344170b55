#include "datasets/edge_list.hpp"

#include <algorithm>

#include "datasets/text.hpp"
#include "datasets/triplets.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

template <class T>
struct Part {
  Triplets<T> edges;
  std::int32_t largest = -1;
  std::int32_t first_line = -1;  // of the first edge, within the piece
};

template <class T>
void parse_edges(std::string_view piece, std::int64_t largest_id, Part<T>& to) {
  text::Cursor in{piece.data(), piece.data() + piece.size()};
  const auto most = static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n')) + 1;
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
    const auto from = static_cast<std::int32_t>(text::take_index(in, "source vertex", 0, largest_id));
    const auto onto = static_cast<std::int32_t>(text::take_index(in, "target vertex", 0, largest_id));
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
}

}  // namespace

template <class T>
Csr<T> read_edge_list(ByteSource& source, std::int64_t largest_id) {
  const auto parts = text::parse_lines<Part<T>>(
      source, [&](std::string_view piece, Part<T>& to) { parse_edges(piece, largest_id, to); });
  std::vector<const Triplets<T>*> pieces;
  std::int64_t largest = -1;
  for (const auto& p : parts) {
    const Triplets<T>& edges = p.part.edges;
    if (edges.row.empty()) continue;
    if (!pieces.empty() && edges.val.empty() != pieces.front()->val.empty()) {
      throw input_error(source.name(), p.first_line + p.part.first_line, "weights on some lines only");
    }
    pieces.push_back(&edges);
    largest = std::max<std::int64_t>(largest, p.part.largest);
  }
  if (pieces.empty()) throw input_error(source.name(), 0, "edge list without an edge");
  return csr_of<T>(source.name(), largest + 1, largest + 1, pieces);
}

template <class T>
Csr<T> read_edge_list(const std::string& path) {
  const auto source = open_source(path);
  return read_edge_list<T>(*source);
}

template Csr<float> read_edge_list(ByteSource&, std::int64_t);
template Csr<double> read_edge_list(ByteSource&, std::int64_t);
template Csr<float> read_edge_list(const std::string&);
template Csr<double> read_edge_list(const std::string&);

}  // namespace plumb
