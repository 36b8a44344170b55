#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/inspect.hpp"

#include <doctest/doctest.h>

#include "datasets/formats/binary_cache.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/tests/scratch.hpp"

using namespace plumb;
using namespace plumb::test;

TEST_CASE("every format that can hold a matrix gives the same matrix") {
  const Scratch dir;
  const std::string mtx = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n3 1 7\n";
  write_npy<double>(dir.file("a.npy"), {3, 3}, {0, 5, 0, 0, 0, 0, 7, 0, 0});
  const Csr<float> same{3, 3, {0, 1, 1, 2}, {1, 0}, {5, 7}};
  write_cache(dir.file("a.plumb"), CacheKind::matrices, {same});
  for (const std::string& path :
       {dir.write("a.mtx", mtx), dir.write("a.mtx.gz", gzip(mtx)), dir.write("content_wins.txt", mtx),
        dir.write("a.el", "0 1 5\n2 0 7\n"), dir.write("a.txt.gz", gzip("0 1 5\n2 0 7\n")),
        dir.write("a.tsv", "0\t1\t5\n2\t0\t7\n"), dir.write("n3-l1.tsv", "1\t2\t5\n3\t1\t7\n"),
        dir.write("sparse-images-3.tsv", "1\t2\t5\n3\t1\t7\n"), dir.file("a.npy"), dir.file("a.plumb")}) {
    CAPTURE(path);
    const Csr<double> a = load_matrix<double>(path);
    CHECK(a.rows == 3);
    CHECK(a.cols == 3);
    CHECK(a.row_ptr == same.row_ptr);
    CHECK(a.col == same.col);
    CHECK(a.val == std::vector<double>{5, 7});
    CHECK(load_matrix<float>(path).val == same.val);
    const Inspection found = inspect(path);
    CHECK(found.rows == 3);
    CHECK_FALSE(to_text(found).empty());
  }
}

TEST_CASE("an unknown kind of file lists what is known") {
  const Scratch dir;
  const std::string path = dir.write("a.xyz", "1 2 3\n");
  const std::string error = error_of([&] { return load_matrix<double>(path); });
  CHECK(error.find(path + ": unknown kind of file; name it: dataset convert --from FORMAT FILE OUT.mtx, "
                          "FORMAT of plumb mtx npz ") == 0);
  CHECK(error_of([&] { return inspect(path); }) == error);
  CHECK(error_of([&] { return load_matrix<double>(dir.file("")); }).find("a folder is not a matrix") !=
        std::string::npos);
  CHECK(error_of([&] {
          return load_matrix<double>(dir.write("t.tar", tar_member("a", "b") + tar_end()));
        }).find("a tar archive is not a matrix") != std::string::npos);
}

TEST_CASE("an inspection counts rows, repeats and order") {
  const Scratch dir;
  const Inspection found = inspect(dir.write(
      "a.mtx",
      "%%MatrixMarket matrix coordinate integer general\n4 5 6\n1 2 1\n1 1 1\n1 2 1\n3 1 1\n3 4 1\n4 5 9\n"));
  CHECK(found.kind == "Matrix Market matrix coordinate");
  CHECK(found.field == "integer");
  CHECK(found.symmetry == "general");
  CHECK(found.nnz == 6);
  CHECK(found.min_row == 0);
  CHECK(found.max_row == 3);
  CHECK(found.mean_row == 1.5);
  CHECK(found.empty_rows == 1);
  CHECK(found.duplicates == 1);
  CHECK(found.unsorted_rows == 1);
  CHECK(to_text(found).find("longest row: 3\n") != std::string::npos);
}

TEST_CASE("an inspection of a symmetric matrix counts both what is stored and what is meant") {
  const Scratch dir;
  const Inspection found = inspect(
      dir.write("a.mtx", "%%MatrixMarket matrix coordinate complex symmetric\n2 2 2\n1 1 1 0\n2 1 1 1\n"));
  CHECK(found.stored == 2);
  CHECK(found.nnz == 3);
  CHECK(found.field == "complex");
}

TEST_CASE("networks and caches say how many layers they have") {
  const Scratch dir;
  const std::string path = dir.write(
      "neuron2.tar.gz",
      gzip(tar_member("n2-l1.tsv", "1\t1\t1\n") + tar_member("n2-l2.tsv", "1\t2\t1\n2\t2\t1\n") + tar_end()));
  const Inspection found = inspect(path);
  CHECK(found.kind == "sparse-DNN weights");
  CHECK(found.notes.at(0) == "layers: 2");
  CHECK(found.notes.at(1) == "edges in all layers: 3");
}

TEST_CASE(
    "rows that a header announces and no entry proves cost an inspection nothing, and are refused to a "
    "reader") {
  const Scratch dir;
  const std::string mtx =
      "%%MatrixMarket matrix coordinate real general\n2000000000 4 2\n1999999999 2 1\n1999999999 1 1\n";
  for (const std::string& path :
       {dir.write("a.mtx", mtx),
        dir.write("a.el", "# plumbline rows=2000000000 cols=4 entries=2 base=0\n7 1\n7 0\n")}) {
    CAPTURE(path);
    const Inspection found = inspect(path);
    CHECK(found.rows == 2'000'000'000);
    CHECK(found.nnz == 2);
    CHECK(found.empty_rows == 1'999'999'999);
    CHECK(found.max_row == 2);
    CHECK(found.min_row == 0);
    CHECK(error_of([&] { return load_matrix<double>(path); }) ==
          path +
              ": row_ptr of all rows would take 7629 MiB, and its limit for 2 entries is 256 MiB; number the "
              "rows without "
              "gaps (`dataset info` counts the empty ones); rows: 2000000000");
  }
  CHECK(inspect(dir.file("a.mtx")).unsorted_rows == 1);
  const std::string symmetric =
      "%%MatrixMarket matrix coordinate pattern symmetric\n2000000000 2000000000 1\n2 1\n";
  CHECK(inspect(dir.write("s.mtx", symmetric)).empty_rows == 1'999'999'998);
}

TEST_CASE("an option names the format of what has no name, and is refused where it says nothing") {
  const Scratch dir;
  ReadOptions options;
  options.format = "el";
  const ReadMatrix<double> read = read_matrix<double>(dir.write("a.xyz", "1,2\n2,1\n"), options);
  CHECK(read.a.rows == 2);
  CHECK(read.found.base == 1);
  CHECK(read.found.notes.size() == 1);
  CHECK_FALSE(read.found.sized);
  ReadOptions based;
  based.edges.base = 1;
  const std::string mtx =
      dir.write("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n");
  CHECK(read_matrix<double>(mtx).found.base == 1);
  CHECK(read_matrix<double>(dir.write("b.mtx", "\xef\xbb\xbf" + slurp(mtx))).a.rows == 1);
  CHECK(error_of([&] { return read_matrix<double>(mtx, based); }) ==
        mtx + ": --base and --columns are for edge lists; the format is: mtx");
}
