#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/generators/banded.hpp"
#include "datasets/generators/edges.hpp"
#include "datasets/generators/gcn.hpp"
#include "datasets/generators/graphs.hpp"
#include "datasets/generators/lookalikes.hpp"
#include "datasets/generators/pattern_matrix.hpp"
#include "datasets/generators/rmat.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/core/error.hpp"

using plumb::Csr;
using Ints = std::vector<std::int32_t>;

namespace {

// Every promise a CSR matrix of a generator makes; the first broken one, or "".
template <class T>
std::string defect(const Csr<T>& a, bool distinct = true) {
  if (a.row_ptr.size() != static_cast<std::size_t>(a.rows + 1)) return "row_ptr has the wrong size";
  if (a.row_ptr[0] != 0 || a.row_ptr.back() != a.nnz()) return "row_ptr does not span the entries";
  if (a.val.size() != a.col.size()) return "as many values as columns expected";
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t from = a.row_ptr[static_cast<std::size_t>(i)],
                       to = a.row_ptr[static_cast<std::size_t>(i + 1)];
    if (from > to) return "row_ptr falls";
    for (std::int64_t e = from; e < to; ++e) {
      const std::int32_t j = a.col[static_cast<std::size_t>(e)];
      if (j < 0 || j >= a.cols) return "column out of range in row " + std::to_string(i);
      if (e > from) {
        const std::int32_t before = a.col[static_cast<std::size_t>(e - 1)];
        if (before > j || (distinct && before == j))
          return "columns do not ascend in row " + std::to_string(i);
      }
      if (!std::isfinite(a.val[static_cast<std::size_t>(e)])) return "value not finite";
    }
  }
  return "";
}

template <class T>
std::int64_t longest(const Csr<T>& a) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    most = std::max<std::int64_t>(
        most, a.row_ptr[static_cast<std::size_t>(i + 1)] - a.row_ptr[static_cast<std::size_t>(i)]);
  }
  return most;
}

template <class T>
double at(const Csr<T>& a, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t e = a.row_ptr[static_cast<std::size_t>(i)];
       e < a.row_ptr[static_cast<std::size_t>(i + 1)]; ++e) {
    if (a.col[static_cast<std::size_t>(e)] == j)
      sum += static_cast<double>(a.val[static_cast<std::size_t>(e)]);
  }
  return sum;
}

template <class T>
bool same(const Csr<T>& a, const Csr<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.row_ptr == b.row_ptr && a.col == b.col && a.val == b.val;
}

template <class T>
bool is_symmetric(const Csr<T>& a) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t e = a.row_ptr[static_cast<std::size_t>(i)];
         e < a.row_ptr[static_cast<std::size_t>(i + 1)]; ++e) {
      if (at(a, a.col[static_cast<std::size_t>(e)], i) !=
          static_cast<double>(a.val[static_cast<std::size_t>(e)]))
        return false;
    }
  }
  return true;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const plumb::Error& e) { return e.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("edges become rows with ascending columns, repeats once") {
  const Csr<double> a =
      plumb::graph_from_edges<double>(3, {{2, 1}, {0, 2}, {0, 1}, {0, 2}, {1, 1}}, {.ones = true});
  CHECK(a.row_ptr == Ints{0, 2, 3, 4});
  CHECK(a.col == Ints{1, 2, 1, 1});
  CHECK(a.val == std::vector<double>(4, 1.0));
}

TEST_CASE("options of a graph: both directions, loops, repeats") {
  const std::vector<plumb::Edge> edges{{0, 1}, {0, 1}, {2, 2}};
  CHECK(plumb::graph_from_edges<float>(3, edges, {.keep_repeats = true}).col == Ints{1, 1, 2});
  CHECK(plumb::graph_from_edges<float>(3, edges, {.loops = plumb::Loops::none}).col == Ints{1});
  CHECK(plumb::graph_from_edges<float>(3, edges, {.loops = plumb::Loops::one_each}).col == Ints{0, 1, 1, 2});
  const Csr<float> both = plumb::graph_from_edges<float>(3, edges, {.symmetric = true});
  CHECK(both.row_ptr == Ints{0, 1, 2, 3});
  CHECK(both.col == Ints{1, 0, 2});
  CHECK(both.val[0] == both.val[1]);  // a value belongs to the pair
}

TEST_CASE("an edge outside the graph is refused by name") {
  CHECK(error_of([] {
          (void)plumb::graph_from_edges<float>(3, {{0, 3}}, {});
        }) == "graph: edge outside the vertices: 0 -> 3");
  CHECK(error_of([] {
          (void)plumb::graph_from_edges<float>(3, {{-1, 0}}, {});
        }) == "graph: edge outside the vertices: -1 -> 0");
}

TEST_CASE("an R-MAT graph follows from its seed and is skewed") {
  plumb::Rmat what;
  what.scale = 12;
  const Csr<float> a = plumb::rmat<float>(what);
  CHECK(defect(a) == "");
  CHECK(a.rows == 4096);
  CHECK(a.nnz() > 40000);  // of 65536 draws, repeats and loops gone
  CHECK(a.nnz() < 65536);
  CHECK(longest(a) > 300);  // the mean is about 14
  CHECK(same(a, plumb::rmat<float>(what)));
  what.seed = 2;
  CHECK(!same(a, plumb::rmat<float>(what)));
}

TEST_CASE("all of R-MAT's probability in one quadrant makes one edge") {
  plumb::Rmat what;
  what.scale = 3;
  what.a = what.c = 0;
  what.b = 1;  // always the upper right: row 0, column 7
  what.shuffle = false;
  what.ones = true;
  const Csr<double> a = plumb::rmat<double>(what);
  CHECK(a.nnz() == 1);
  CHECK(at(a, 0, 7) == 1.0);
  what.keep_repeats = true;
  CHECK(plumb::rmat<double>(what).nnz() == 128);  // 8 vertices, 16 edges each
}

TEST_CASE("R-MAT's renumbering loses no vertex") {
  plumb::Rmat what;
  what.scale = 5;
  what.edge_factor = 200;
  what.a = what.b = what.c = 0.25;
  const Csr<float> a = plumb::rmat<float>(what);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    CHECK(a.row_ptr[static_cast<std::size_t>(i + 1)] > a.row_ptr[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("a symmetric R-MAT graph with loops is symmetric and has one loop per vertex") {
  plumb::Rmat what;
  what.scale = 7;
  what.symmetric = what.self_loops = true;
  const Csr<double> a = plumb::rmat<double>(what);
  CHECK(defect(a) == "");
  CHECK(is_symmetric(a));
  for (std::int64_t v = 0; v < a.rows; ++v) CHECK(at(a, v, v) != 0);
}

TEST_CASE("R-MAT refuses what cannot be a graph") {
  CHECK(error_of([] { (void)plumb::rmat<float>({.scale = 31}); }) == "rmat: scale must be 0..30: 31");
  CHECK(error_of([] { (void)plumb::rmat<float>({.a = 0.9}); }).find("must be probabilities") !=
        std::string::npos);
  CHECK(error_of([] { (void)plumb::rmat<float>({.scale = 28}); }).find("edge factor") != std::string::npos);
  CHECK(plumb::rmat<float>({.scale = 0}).nnz() == 0);  // one vertex: loops only, and they are dropped
}

TEST_CASE("a power law with exponent 1 halves the second row") {
  plumb::PowerLaw what;
  what.rows = 3;
  what.cols = 100;
  what.nnz = 33;  // 1 : 1/2 : 1/3 of 33 is 18 : 9 : 6
  what.exponent = 1;
  what.shuffle = false;
  const Csr<float> a = plumb::power_law<float>(what);
  CHECK(defect(a) == "");
  CHECK(a.row_ptr == Ints{0, 18, 27, 33});
}

TEST_CASE("a power law fills a row at most whole, and gives the entries that do not fit to other rows") {
  plumb::PowerLaw what;
  what.rows = 4;
  what.cols = 4;
  what.nnz = 16;
  what.exponent = 3;
  const Csr<float> a = plumb::power_law<float>(what);
  CHECK(defect(a) == "");
  CHECK(a.row_ptr == Ints{0, 4, 8, 12, 16});
  what.nnz = 17;
  CHECK_THROWS_AS((void)plumb::power_law<float>(what), plumb::Error);
}

TEST_CASE("a hub graph has exactly the edges asked for, both ways, no loops, and its hubs") {
  plumb::HubGraph what;
  what.vertices = 500, what.edges = 3000;
  const Csr<float> a = plumb::hub_graph<float>(what);
  CHECK(defect(a) == "");
  CHECK(a.nnz() == 6000);
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t from = a.row_ptr[static_cast<std::size_t>(i)],
                       to = a.row_ptr[static_cast<std::size_t>(i + 1)];
    longest = std::max(longest, to - from);
    for (std::int64_t e = from; e < to; ++e) {
      const std::int32_t j = a.col[static_cast<std::size_t>(e)];
      CHECK(j != i);
      const auto begin = a.col.begin() + a.row_ptr[static_cast<std::size_t>(j)],
                 end = a.col.begin() + a.row_ptr[static_cast<std::size_t>(j) + 1];
      CHECK(std::binary_search(begin, end, static_cast<std::int32_t>(i)));
    }
  }
  CHECK(longest > 100);  // 12 on average
  CHECK(plumb::hub_graph<float>(what).col == a.col);
  what.edges = 500 * 499;
  CHECK_THROWS_AS((void)plumb::hub_graph<float>(what), plumb::Error);
}

TEST_CASE(
    "the look-alike of web-Stanford has its vertices, its entries with loops, and a row as long as its "
    "longest") {
  const Csr<double> a =
      plumb::normalised_adjacency(plumb::hub_graph<double>(plumb::web_stanford_lookalike()));
  CHECK(a.rows == 281903);
  CHECK(a.nnz() == 4267175);
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < 281903; ++i) longest = std::max(longest, a.row_ptr[i + 1] - a.row_ptr[i]);
  CHECK(longest > 37000);
  CHECK(longest < 40000);
}

TEST_CASE("normalising a path of three vertices gives 1/sqrt(d_i d_j)") {
  // 0 - 1 - 2: with loops the degrees are 2 3 2.
  const Csr<double> path =
      plumb::graph_from_edges<double>(3, {{0, 1}, {1, 2}}, {.symmetric = true, .ones = true});
  const Csr<double> n = plumb::normalised_adjacency(path);
  CHECK(n.col == Ints{0, 1, 0, 1, 2, 1, 2});
  CHECK(at(n, 0, 0) == doctest::Approx(0.5));
  CHECK(at(n, 0, 1) == doctest::Approx(1 / std::sqrt(6.0)));
  CHECK(at(n, 1, 1) == doctest::Approx(1.0 / 3));
  CHECK(at(n, 2, 0) == 0.0);
}

TEST_CASE("a vertex with a loop gets no second one, repeats add up, an empty graph is the identity") {
  Csr<float> a;
  a.rows = a.cols = 2;
  a.row_ptr = {0, 3, 3};
  a.col = {1, 0, 1};
  a.val = {1, 1, 2};  // row 0: loop 1, edge 1 + 2; sum 4; row 1: loop only
  const Csr<float> n = plumb::normalised_adjacency(a);
  CHECK(n.col == Ints{0, 1, 1});
  CHECK(n.val == std::vector<float>{0.25F, 1.5F, 1.0F});
}

TEST_CASE("an adjacency that cannot be normalised is refused") {
  Csr<float> a;
  a.rows = a.cols = 1;
  a.row_ptr = {0, 1};
  a.col = {0};
  a.val = {-1};
  CHECK(error_of([&] { (void)plumb::normalised_adjacency(a); }) ==
        "adjacency: the row sum of A + I must be positive and finite, row: 0");
  a.cols = 2;
  CHECK(error_of([&] { (void)plumb::normalised_adjacency(a); }) == "adjacency: must be square, is: 1 x 2");
}

TEST_CASE("a generated GCN has matching shapes, and features whose rows sum to 1") {
  plumb::GcnShape shape;
  shape.scale = 6;
  shape.widths = {20, 16, 12, 8};
  const plumb::GcnSet<double> set = plumb::generated_gcn<double>(shape);
  CHECK(defect(set.a) == "");
  CHECK(set.a.rows == 64);
  CHECK(is_symmetric(set.a));
  CHECK(set.x.rows == 64);
  REQUIRE(set.weights.size() == 3);
  CHECK(set.weights[0].rows == 20);
  CHECK(set.weights[2].rows == 12);
  CHECK(set.weights[2].cols == 8);
  CHECK(set.biases[1].size() == 12);
  CHECK(set.weights[1].data[0] != set.weights[2].data[0]);
  for (std::int64_t i = 0; i < 64; ++i) {
    double sum = 0;
    for (std::int64_t f = 0; f < 20; ++f) sum += set.x.data[static_cast<std::size_t>(i * 20 + f)];
    CHECK(sum == doctest::Approx(1));
  }
  // fp32 holds the same numbers, rounded.
  const plumb::GcnSet<float> f32 = plumb::generated_gcn<float>(shape);
  CHECK(f32.weights[0].data[5] == static_cast<float>(set.weights[0].data[5]));
  CHECK(f32.a.val[7] == static_cast<float>(set.a.val[7]));
}

TEST_CASE("a network on a given graph takes the graph with loops, and embeddings of either sign") {
  plumb::HubGraph graph;
  graph.vertices = 50, graph.edges = 100;
  plumb::GcnShape shape;
  shape.widths = {6, 4, 3};
  const plumb::GcnSet<float> set = plumb::generated_gcn<float>(plumb::hub_graph<double>(graph), shape);
  CHECK(set.a.nnz() == 250);
  CHECK(set.x.rows == 50);
  CHECK(set.x.cols == 6);
  CHECK(*std::min_element(set.x.data.begin(), set.x.data.end()) < -0.5F);
  CHECK(*std::max_element(set.x.data.begin(), set.x.data.end()) > 0.5F);
  CHECK(set.weights[1].rows == 4);
  CHECK(set.biases[0].size() == 4);
}

TEST_CASE("a tridiagonal band has 2 3 3 2 entries in its rows") {
  const Csr<float> a = plumb::banded<float>({.rows = 4, .cols = 4, .lower = 1, .upper = 1});
  CHECK(a.row_ptr == Ints{0, 2, 5, 8, 10});
  CHECK(a.col == Ints{0, 1, 0, 1, 2, 1, 2, 3, 2, 3});
}

TEST_CASE("a band of a tall matrix ends where its columns end") {
  const Csr<float> a = plumb::banded<float>({.rows = 5, .cols = 2, .lower = 1, .upper = 0});
  CHECK(a.row_ptr == Ints{0, 1, 3, 4, 4, 4});
  CHECK(defect(a) == "");
}

TEST_CASE("a thinned band keeps its diagonal and about its density") {
  const Csr<double> a =
      plumb::banded<double>({.rows = 1000, .cols = 1000, .lower = 50, .upper = 50, .density = 0.3});
  CHECK(defect(a) == "");
  const double kept = static_cast<double>(a.nnz()) / (1000.0 * 101 - 50 * 51);
  CHECK(kept > 0.28);
  CHECK(kept < 0.33);
  for (std::int64_t i = 0; i < 1000; ++i) CHECK(at(a, i, i) != 0);
}

TEST_CASE("the stencil of a 3 x 2 grid is the Laplacian") {
  const Csr<double> a = plumb::stencil<double>(3, 2);
  CHECK(defect(a) == "");
  CHECK(a.rows == 6);
  CHECK(a.nnz() == 6 + 2 * 7);  // 7 grid lines
  CHECK(at(a, 1, 1) == 4);
  CHECK(at(a, 1, 0) == -1);
  CHECK(at(a, 1, 4) == -1);
  CHECK(at(a, 2, 3) == 0);  // end of one grid line, start of the next
  CHECK(plumb::stencil<float>(3, 3, 3).nnz() == 27 + 2 * 54);
}

TEST_CASE("the middle node of 3 x 3 x 3 nodes is joined to all 27, a corner to 8") {
  const Csr<double> a = plumb::fem<double>(3, 3, 3, 2, 1);
  CHECK(defect(a) == "");
  CHECK(a.rows == 54);
  CHECK(a.row_ptr[27] - a.row_ptr[26] == 54);  // node 13, the middle
  CHECK(a.row_ptr[1] == 16);
  CHECK(is_symmetric(a));
}

TEST_CASE("a grid whose rows overflow is refused") {
  CHECK_THROWS_AS((void)plumb::stencil<float>(1 << 20, 1 << 20, 1 << 20), plumb::Error);
  CHECK_THROWS_AS((void)plumb::stencil<float>(0, 5), plumb::Error);
  CHECK_THROWS_AS((void)plumb::fem<float>(2, 2, 2, 0, 1), plumb::Error);
}

TEST_CASE("uniform rows all have their number of entries") {
  const Csr<float> a = plumb::uniform<float>(100, 37, 5, 1);
  CHECK(defect(a) == "");
  CHECK(a.nnz() == 500);
  CHECK(plumb::uniform<float>(3, 4, 4, 1).col == Ints{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK_THROWS_AS((void)plumb::uniform<float>(3, 4, 5, 1), plumb::Error);
}

TEST_CASE("an arrow of width 1 has a full first row, a full first column and a diagonal") {
  const Csr<float> a = plumb::arrow<float>(4, 1, 1);
  CHECK(defect(a) == "");
  CHECK(a.col == Ints{0, 1, 2, 3, 0, 1, 0, 2, 0, 3});
}

TEST_CASE("every look-alike at a small scale has its entries, its longest row and a full diagonal") {
  for (const plumb::LookalikeProfile& of : plumb::lookalike_profiles()) {
    CAPTURE(of.name);
    plumb::LookalikeOptions options;
    options.scale =
        of.max_row > 10000
            ? 1.0
            : std::max(0.002, 1.2 * static_cast<double>(of.max_row) / static_cast<double>(of.cols));
    const Csr<float> a = plumb::lookalike<float>(of, options);
    CHECK(defect(a) == "");
    CHECK(a.rows == std::llround(static_cast<double>(of.rows) * options.scale));
    CHECK(a.nnz() == std::llround(static_cast<double>(of.nnz) * options.scale));
    CHECK(longest(a) == of.max_row);
    if (of.rows == of.cols) {
      std::int64_t missing = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) {
        missing += std::binary_search(a.col.begin() + a.row_ptr[static_cast<std::size_t>(i)],
                                      a.col.begin() + a.row_ptr[static_cast<std::size_t>(i + 1)], i)
                       ? 0
                       : 1;
      }
      CHECK(missing == 0);
    }
  }
}

TEST_CASE("the look-alike of a stored triangle stays below the diagonal") {
  const plumb::LookalikeProfile& of = plumb::lookalike_profile("boneS10");
  plumb::LookalikeOptions options;
  options.scale = 0.01;
  options.lower = true;
  const Csr<double> a = plumb::lookalike<double>(of, options);
  CHECK(defect(a) == "");
  CHECK(a.rows == 9149);
  CHECK(a.nnz() == (554684 + 9149) / 2);
  CHECK(longest(a) == 41);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    REQUIRE(a.col[static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(i + 1)] - 1)] == i);
  }
}

TEST_CASE("look-alikes refuse what they cannot be") {
  CHECK(error_of([] { (void)plumb::lookalike_profile("boneS01"); }) ==
        "lookalike: no matrix of this name has a look-alike; did you mean 'boneS10'?: boneS01");
  CHECK(error_of([] {
          (void)plumb::lookalike<float>(plumb::lookalike_profile("mip1"), {.scale = 0.5});
        }).find("the scale is too small") != std::string::npos);
  CHECK_THROWS_AS((void)plumb::lookalike<float>(plumb::lookalike_profile("RM07R"), {.lower = true}),
                  plumb::Error);
  CHECK_THROWS_AS((void)plumb::lookalike<float>(plumb::lookalike_profile("RM07R"), {.scale = 2}),
                  plumb::Error);
}

TEST_CASE("generate pattern gives the matrix that a case has") {
  for (const std::string& name : plumb::pattern_names()) {
    CAPTURE(name);
    plumb::Pattern pattern;
    pattern.name = name;
    pattern.rows = 60;
    pattern.cols = 50;
    pattern.density = 0.1;
    pattern.seed = 7;
    const plumb::Case c =
        plumb::parse_case("spmv.f64(rows=60,cols=50,density=0.1,pattern=" + name + ",fill=real,seed=7)");
    const Csr<double> want = plumb::make_sparse<double>(c, plumb::kMatrixStream);
    const Csr<double> got = plumb::pattern_matrix<double>(pattern, plumb::Fill::real);
    CHECK(got.row_ptr == want.row_ptr);
    CHECK(got.col == want.col);
    CHECK(got.val == want.val);
  }
}
