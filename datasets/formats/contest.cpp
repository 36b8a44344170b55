#include "datasets/formats/contest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "datasets/formats/triplets.hpp"
#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they stand");

struct TuplePart {
  std::vector<std::int32_t> src, dst, line;  // line: within the piece
};

}  // namespace

ContestGraph read_contest_graph(ByteSource& source) {
  // All numbers are read as pairs; the first pair is the counts. What they limit is checked afterwards.
  const auto parts = text::parse_lines<TuplePart>(source, [](std::string_view piece, TuplePart& to) {
    text::Cursor in{piece.data(), piece.data() + piece.size()};
    text::LineCounter lines(piece.data());
    const auto most = static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n')) + 1;
    to.src.reserve(most);
    to.dst.reserve(most);
    to.line.reserve(most);
    for (; !in.at_end(); in.at += in.at_end() ? 0 : 1) {
      if (in.line_done()) continue;
      const char* const start = in.at;
      to.src.push_back(static_cast<std::int32_t>(text::take_index(in, "first number", 0, kLargestIndex)));
      to.dst.push_back(static_cast<std::int32_t>(text::take_index(in, "second number", 0, kLargestIndex)));
      if (!in.line_done()) in.fail("text after the second number");
      to.line.push_back(lines.line_of(start));
    }
  });
  ContestGraph out;
  std::int64_t edges = -1;
  for (const auto& p : parts) {
    for (std::size_t k = 0; k < p.part.src.size(); ++k) {
      const std::int32_t src = p.part.src[k], dst = p.part.dst[k];
      const std::int64_t line = p.first_line + p.part.line[k];
      if (edges < 0) {
        out.vertices = src;
        edges = dst;
        continue;
      }
      const auto bad = src >= out.vertices ? src : dst;
      if (bad >= out.vertices) {
        throw input_error(source.name(), line, "vertex is outside 0.." + std::to_string(out.vertices - 1),
                          std::to_string(bad));
      }
      if (static_cast<std::int64_t>(out.src.size()) == edges) {
        throw input_error(source.name(), line, "more edges than line 1 announces", std::to_string(edges));
      }
      out.src.push_back(src);
      out.dst.push_back(dst);
    }
  }
  if (edges < 0)
    throw input_error(source.name(), 1, "first line is missing: number of vertices, number of edges");
  if (static_cast<std::int64_t>(out.src.size()) != edges) {
    throw input_error(source.name(), 0, "file ends early: edges found, edges announced",
                      std::to_string(out.src.size()) + ", " + std::to_string(edges));
  }
  require_rows(source.name(), out.vertices, static_cast<std::int64_t>(out.src.size()));
  return out;
}

ContestGraph read_contest_graph(const std::string& path) {
  const auto source = open_source(path);
  return read_contest_graph(*source);
}

template <class T>
Csr<T> normalised_adjacency(const ContestGraph& graph) {
  std::vector<std::int32_t> degree(static_cast<std::size_t>(graph.vertices), 0);
  for (const std::int32_t v : graph.src) ++degree[static_cast<std::size_t>(v)];
  Triplets<T> all;
  all.row = graph.src;
  all.col = graph.dst;
  all.val.resize(graph.src.size());
  for (std::size_t k = 0; k < graph.src.size(); ++k) {
    const std::int32_t from = degree[static_cast<std::size_t>(graph.src[k])];
    const std::int32_t onto = degree[static_cast<std::size_t>(graph.dst[k])];
    if (onto == 0) {
      throw Error("contest graph: edge " + std::to_string(graph.src[k]) + " -> " +
                  std::to_string(graph.dst[k]) + " leads to a vertex that no edge leaves (degree 0)");
    }
    all.val[k] =
        static_cast<T>(1.0 / std::sqrt(static_cast<double>(from)) / std::sqrt(static_cast<double>(onto)));
  }
  return csr_of<T>("contest graph", graph.vertices, graph.vertices, {&all});
}

template <class T>
Dense<T> RawMatrix::as() const {
  if constexpr (std::is_same_v<T, float>) {
    if (!is_f64) return f32;
    return {f64.rows, f64.cols, std::vector<float>(f64.data.begin(), f64.data.end())};
  } else {
    if (is_f64) return f64;
    return {f32.rows, f32.cols, std::vector<double>(f32.data.begin(), f32.data.end())};
  }
}

RawMatrix read_raw_matrix(const std::string& path, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0 || (cols > 0 && rows > (std::int64_t{1} << 40) / cols)) {
    throw input_error(path, 0, "impossible shape for a raw matrix",
                      std::to_string(rows) + " x " + std::to_string(cols));
  }
  const std::int64_t n = rows * cols;
  const auto source = open_source(path);
  const std::string bytes = read_all(*source);
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size != n * 4 && size != n * 8) {
    throw input_error(path, 0,
                      "size fits neither fp32 (" + std::to_string(n * 4) + " bytes) nor fp64 (" +
                          std::to_string(n * 8) + " bytes) of " + std::to_string(rows) + " x " +
                          std::to_string(cols) + " elements, bytes found",
                      std::to_string(size));
  }
  RawMatrix out;
  out.is_f64 = size == n * 8 && n > 0;
  const auto fill = [&](auto& dense) {
    dense.rows = rows;
    dense.cols = cols;
    dense.data.resize(static_cast<std::size_t>(n));
    if (n > 0) std::memcpy(dense.data.data(), bytes.data(), bytes.size());
  };
  if (out.is_f64) {
    fill(out.f64);
  } else {
    fill(out.f32);
  }
  return out;
}

template Csr<float> normalised_adjacency(const ContestGraph&);
template Csr<double> normalised_adjacency(const ContestGraph&);
template Dense<float> RawMatrix::as() const;
template Dense<double> RawMatrix::as() const;

}  // namespace plumb
