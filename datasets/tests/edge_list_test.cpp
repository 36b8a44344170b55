#include "datasets/formats/edge_list.hpp"

#include <doctest/doctest.h>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;

Csr<double> read(std::string_view text) { return read_edge_list<double>(*memory_source("e.txt", text)); }
std::string error(std::string_view text) {
  return error_of([&] { return read(text); });
}

}  // namespace

TEST_CASE("pairs are 0-based, the size is the largest id + 1, comments are read over") {
  const Csr<double> a = read("# FromNodeId ToNodeId\n0\t3\n% c\n\n2 1\r\n0 1\n");
  CHECK(a.rows == 4);
  CHECK(a.cols == 4);
  CHECK(a.row_ptr == Ints{0, 2, 2, 3, 3});
  CHECK(a.col == Ints{1, 3, 1});
  CHECK(a.val == Reals{1, 1, 1});
}

TEST_CASE("a third column is the weight, and repeated edges stay repeated") {
  const Csr<double> a = read("0 1 2.5\n0 1 -1e3\n");
  CHECK(a.col == Ints{1, 1});
  CHECK(a.val == Reals{2.5, -1000});
}

TEST_CASE("malformed lines are named") {
  CHECK(error("0 1\n-1 0\n") == "e.txt:2: source vertex is outside 0..2147483646: -1");
  CHECK(error("0 2147483647\n") == "e.txt:1: target vertex is outside 0..2147483646: 2147483647");
  CHECK(error("0\n") == "e.txt:1: target vertex is missing");
  CHECK(error("a b\n") == "e.txt:1: source vertex is not an integer: a");
  CHECK(error("0 1 2 3\n") == "e.txt:1: text after the third column: 3");
  CHECK(error("0 1 x\n") == "e.txt:1: weight is not a number: x");
  CHECK(error("0 1\n0 1 2\n").find("e.txt:2: weight on this line, but not on the lines before") == 0);
  CHECK(error("0 1 2\n0 1\n").find("e.txt:2: no weight on this line, but on the lines before") == 0);
  CHECK(error("# nothing\n") == "e.txt: edge list without an edge");
}

TEST_CASE("weights that begin after megabytes of edges without weights are found") {
  std::string text;
  for (int k = 0; k < 200'000; ++k) text += "1000000 1\n";
  const std::string blank = "#" + std::string(500'000, ' ') + "\n";
  std::string weighted;
  for (int k = 0; k < 200'000; ++k) weighted += "1 1 1\n";
  CHECK(error(text + blank + blank + blank + weighted).find("e.txt:200004: weight") == 0);
  CHECK(read(text).nnz() == 200'000);
}
