#include "datasets/formats/contest.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

ContestGraph read(std::string_view text) { return read_contest_graph(*memory_source("graph.txt", text)); }
std::string error(std::string_view text) {
  return error_of([&] { return read(text); });
}

}  // namespace

TEST_CASE("a graph is its counts and its edges, in the order of the file") {
  const ContestGraph g = read("2 3\n1 0\n\n0 0\r\n0 1");
  CHECK(g.vertices == 2);
  CHECK(g.src == std::vector<std::int32_t>{1, 0, 0});
  CHECK(g.dst == std::vector<std::int32_t>{0, 0, 1});
}

TEST_CASE("an edge has the weight 1/sqrt(deg src)/sqrt(deg dst), self loops counted") {
  const Csr<double> a = normalised_adjacency<double>(read("2 3\n0 1\n0 0\n1 0\n"));  // degrees 2 and 1
  CHECK(a.row_ptr == std::vector<std::int32_t>{0, 2, 3});
  CHECK(a.col == std::vector<std::int32_t>{0, 1, 0});
  CHECK(a.val[0] == 1 / std::sqrt(2.0) / std::sqrt(2.0));
  CHECK(a.val[1] == 1 / std::sqrt(2.0));
  CHECK(a.val[2] == 1 / std::sqrt(2.0));
  CHECK(normalised_adjacency<float>(read("2 3\n0 1\n0 0\n1 0\n")).val[1] ==
        static_cast<float>(1 / std::sqrt(2.0)));
  CHECK(error_of([] {
          return normalised_adjacency<float>(read("2 1\n0 1\n"));
        }).find("0 -> 1 leads to a vertex") != std::string::npos);
}

TEST_CASE("malformed graphs are named by line") {
  CHECK(error("") == "graph.txt:1: first line is missing: number of vertices, number of edges");
  CHECK(error("2 2\n0 1\n") == "graph.txt: file ends early: edges found, edges announced: 1, 2");
  CHECK(error("2 1\n0 1\n1 0\n") == "graph.txt:3: more edges than line 1 announces: 1");
  CHECK(error("2 1\n0 2\n") == "graph.txt:2: vertex is outside 0..1: 2");
  CHECK(error("2 1\n0 -1\n") == "graph.txt:2: second number is outside 0..2147483647: -1");
  CHECK(error("2 1\n0 1 5\n") == "graph.txt:2: text after the second number: 5");
  CHECK(error("-2 1\n") == "graph.txt:1: first number is outside 0..2147483647: -2");
}

TEST_CASE("a raw matrix is fp32 or fp64 by its size") {
  const Scratch dir;
  const float f[] = {1, 2, 3, 0.5F};
  const double d[] = {1, 2, 3, 0.1};
  const std::string single =
      dir.write("f.bin", std::string_view(reinterpret_cast<const char*>(f), sizeof(f)));
  const std::string wide = dir.write("d.bin", std::string_view(reinterpret_cast<const char*>(d), sizeof(d)));
  const RawMatrix a = read_raw_matrix(single, 2, 2), b = read_raw_matrix(wide, 2, 2);
  CHECK_FALSE(a.is_f64);
  CHECK(a.f32.data == std::vector<float>{1, 2, 3, 0.5F});
  CHECK(a.as<double>().data[3] == 0.5);
  CHECK(b.is_f64);
  CHECK(b.as<double>().data[3] == 0.1);
  CHECK(b.as<float>().data[3] == 0.1F);
  CHECK(error_of([&] { return read_raw_matrix(single, 2, 3); }) ==
        single +
            ": size fits neither fp32 (24 bytes) nor fp64 (48 bytes) of 2 x 3 elements, bytes found: 16");
  CHECK(read_raw_matrix(wide, 4, 2).f32.data.size() == 8);  // 32 bytes are also 8 fp32: the shape decides
}
