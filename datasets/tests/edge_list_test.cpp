#include "datasets/formats/edge_list.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;

Csr<double> read(std::string_view text) { return read_edge_list<double>(*memory_source("e.txt", text)); }
EdgeListOptions columns(std::vector<std::string> words, std::optional<std::int64_t> base = {}) {
  EdgeListOptions options;
  options.columns = std::move(words);
  options.base = base;
  return options;
}
EdgeListOptions base(std::int64_t first) { return columns({}, first); }
std::string error(std::string_view text, const EdgeListOptions& options = {}) {
  return error_of([&] { return read_edge_list<double>(*memory_source("e.txt", text), options); });
}

// The edges as a dense matrix, and the notes behind it.
struct Guessed {
  std::int64_t rows, cols;
  std::vector<std::pair<Ints, double>> edges;  // (row, column), weight
  std::string notes;
};
Guessed guessed(std::string_view text, const EdgeListOptions& options = {}) {
  const auto source = memory_source("e.txt", text);
  const Csr<double> a = read_edge_list<double>(*source, options);
  Guessed out{a.rows, a.cols, {}, ""};
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (auto k = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(i) + 1]); ++k)
      out.edges.emplace_back(Ints{i, a.col[k]}, a.val[k]);
  }
  for (const std::string& note : source->findings().notes) out.notes += note + "\n";
  return out;
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
  CHECK(error("0 2147483647\n") ==
        "e.txt:1: target vertex is outside 0..2147483646; number the vertices without gaps, as docs/data.md "
        "does: 2147483647");
  CHECK(error("0\n") == "e.txt:1: target vertex is missing");
  CHECK(error("a b\n").find(
            "e.txt:1: source vertex is not an integer; to number vertices with names: awk '") == 0);
  CHECK(error("0 1\n0 b\n") == "e.txt:2: target vertex is not an integer: b");
  CHECK(error("0 x1\n").rfind("e.txt:1: target vertex is not an integer; to number vertices with names: awk",
                              0) == 0);
  CHECK(error("0 1 2 3\n") ==
        "e.txt:1: text after the third column: name the 4 columns, as in --columns from,to,weight,-: 3");
  CHECK(error("0 1 x\n") == "e.txt:1: weight is not a number (--columns from,to,- leaves column 3 out): x");
  CHECK(error("0 1 2\n0 1 x\n") == "e.txt:2: weight is not a number: x");
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

TEST_CASE("one list in every dress: delimiters, headers, line ends, comments, byte order mark") {
  const Guessed want = guessed("0 1 0.5\n1 2 1.5\n3 0 2\n");
  CHECK(want.notes.empty());
  for (const char* text : {
           "0,1,0.5\n1,2,1.5\n3,0,2\n",                  // commas
           "0, 1, 0.5\r\n\r\n1, 2, 1.5\r\n3, 0, 2\r\n",  // and blanks, CR LF, a blank line
           "0;1;0.5\n1;2;1,5\n3;0;2\n",                  // semicolons, a decimal comma
           "0|1|0.5\n1|2|1.5\n3|0|2\n",                  // bars
           "\xef\xbb\xbf"
           "0\t1\t0.5\n1\t2\t1.5\n3\t0\t2\n",                           // tabs, UTF-8's mark
           "Source,Target,Weight\n0,1,0.5\n1,2,1.5\n3,0,2",             // a header
           "\"src\"\t\"dst\"\t\"w\"\n0\t1\t0.5\n1\t2\t1.5\n3\t0\t2\n",  // in quotes
           "weight;to;from\n0.5;1;0\n1.5;2;1\n2;0;3\n",                 // in another order
           "Id,Source,Target,Type,Label,Weight\n7,0,1,Directed,\"a, b\",0.5\n"
           "8,1,2,Directed,,1.5\n9,3,0,Directed,,2\n",                                           // Gephi
           "// by hand\n0 1 {'weight': 0.5}\n1 2 {'a': 1, 'weight': 1.5}\n3 0 {'weight': 2}\n",  // networkx
           "0 1 0.5 1082040961\n1 2 1.5 1082155839\n3 0 2 1082414391\n",  // KONECT's times
       }) {
    CAPTURE(text);
    const Guessed got = guessed(text);
    CHECK(got.rows == 4);
    CHECK(got.edges == want.edges);
  }
}

TEST_CASE("what was guessed is told with the option that says otherwise, which then holds") {
  const std::string times = "0 1 1082040961\n1 0 1082155839\n";
  CHECK(guessed(times).edges == guessed("0 1\n1 0\n").edges);
  CHECK(guessed(times).notes.find("--columns from,to,weight") != std::string::npos);
  const Guessed weights = guessed(times, columns({"from", "to", "weight"}));
  CHECK(weights.edges[0].second == 1082040961);
  CHECK(weights.notes.empty());
  CHECK(guessed("5 0 1 9\n6 1 0 9\n", columns({"-", "from", "to", "-"})).edges ==
        guessed("0 1\n1 0\n").edges);
  CHECK(guessed("Source,Target,Timestamp\n0,1,12\n1,0,13\n").notes.find("not read: Timestamp") !=
        std::string::npos);
  CHECK(guessed("Source,Target,Timestamp\n0,1,12\n1,0,13\n").edges[0].second == 1);
  CHECK(error("0 1\n", columns({"from", "weight"})).find("--columns needs from and to") == 0);
  CHECK(error("0 1\n", columns({"from", "onto"})).find("--columns takes from, to, weight and -") == 0);
}

TEST_CASE("ids without a 0 count from 1, unless the option says that they do not") {
  const Guessed one = guessed("1 2 0.5\n2 3 1.5\n4 1 2\n");
  CHECK(one.rows == 4);
  CHECK(one.edges == guessed("0 1 0.5\n1 2 1.5\n3 0 2\n").edges);
  CHECK(one.notes == "no id is 0: ids are taken to count from 1, 4 vertices; --base 0 counts from 0\n");
  const Guessed zero = guessed("1 2\n2 3\n4 1\n", base(0));
  CHECK(zero.rows == 5);
  CHECK(zero.notes.empty());
  CHECK(guessed("1 2\n", base(1)).notes.empty());
  CHECK(error("1 0\n", base(1)) == "e.txt:1: target vertex is outside 1..2147483647: 0");
}

TEST_CASE("comments of KONECT and SNAP tell the size, and the contest's first line does") {
  CHECK(guessed("% sym unweighted\n% 3 6 6\n1 2\n2 3\n4 1\n").rows == 6);
  const Guessed bipartite = guessed("% bip weighted\n% 3 2 5\n1 2\n2 3\n1 4\n");
  CHECK(bipartite.rows == 2);
  CHECK(bipartite.cols == 5);
  CHECK(guessed("# Nodes: 9 Edges: 2\n0 1\n1 2\n").rows == 9);
  CHECK(guessed("# Nodes: 2 Edges: 2\n0 100\n100 0\n").rows == 101);  // SNAP's ids have gaps
  const Guessed contest = guessed("5 3\n1 2\n2 2\n2 1\n");
  CHECK(contest.rows == 5);
  CHECK(contest.edges == std::vector<std::pair<Ints, double>>{{{1, 2}, 1}, {{2, 1}, 1}, {{2, 2}, 1}});
  CHECK(contest.notes.find("numbers of vertices and edges, 5 x 5 with 3") != std::string::npos);
  CHECK(guessed("5 3\n1 2\n2 2\n2 1\n", columns({"from", "to"}, 0)).rows == 6);
  const Guessed triples = guessed("3 4 2\n1 2 0.5\n3 1 1.5\n");
  CHECK(triples.rows == 3);
  CHECK(triples.cols == 4);
  CHECK(triples.edges == std::vector<std::pair<Ints, double>>{{{0, 1}, 0.5}, {{2, 0}, 1.5}});
  CHECK(guessed("5 2\n1 2\n2 2\n2 1\n").rows == 5);  // no number of edges: an edge, ids from 1
}

TEST_CASE("lines that fit no column are named") {
  CHECK(error("0,1,2\n0,1,2,3\n") == "e.txt:2: 4 columns, expected 3: 0,1,2,3");
  CHECK(error("0,1\n0,\n") == "e.txt:2: target vertex is missing (column 2)");
  CHECK(error("src,dst\n0,1\nx,1\n") == "e.txt:3: source vertex is not an integer: x");
  CHECK(error("src,dst,w\n0,1,1\n0,1\n").find("e.txt:3: no weight on this line") == 0);
  CHECK(error("src,dst\n").find("e.txt:1: source vertex is not an integer") == 0);
}

TEST_CASE("text in UTF-16 and UTF-32 is called by its name") {
  using namespace std::string_literals;
  CHECK(error("\xff\xfe"
              "0\0 \0"
              "1\0\n\0"s) ==
        "e.txt:1: text in UTF-16; convert it with: iconv -f UTF-16 -t UTF-8 FILE > OUT; byte order mark: FF "
        "FE");
  CHECK(error("\xfe\xff\0"
              "0\0 \0"
              "1\0\n"s)
            .find("e.txt:1: text in UTF-16") == 0);
  CHECK(error("\xff\xfe\0\0"
              "0\0\0\0"s)
            .find("e.txt:1: text in UTF-32") == 0);
}

TEST_CASE("one large id asks for no memory") {
  CHECK(error("0 2000000000\n")
            .find("e.txt: row_ptr of all rows would take 7629 MiB, and its limit for 1 entry is 256 MiB") ==
        0);
}
