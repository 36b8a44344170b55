// Every pair of formats: what is written in one, read, written in the other and read again is the same matrix. And what SciPy
// reads of what is written here, where SciPy is present.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "datasets/formats/load_matrix.hpp"
#include "datasets/formats/npy.hpp"
#include "datasets/formats/save_matrix.hpp"
#include "datasets/tests/scratch.hpp"
#include "reference/core/csr.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

// Names and matrices; each name is one TEST message.
template <class T>
std::vector<std::pair<std::string, Csr<T>>> matrices() {
  using Limits = std::numeric_limits<T>;
  const T third = T{1} / T{3};
  return {
      {"no rows, no columns", {0, 0, {0}, {}, {}}},
      {"no entries", {3, 5, {0, 0, 0, 0}, {}, {}}},
      {"no rows", {0, 7, {0}, {}, {}}},
      {"no columns", {4, 0, {0, 0, 0, 0, 0}, {}, {}}},
      {"1 x 1", {1, 1, {0, 1}, {0}, {third}}},
      {"1 x 1, empty", {1, 1, {0, 0}, {}, {}}},
      {"wide, last rows and columns empty", {4, 9, {0, 2, 2, 3, 3}, {1, 6, 0}, {T{0.5}, T{-2}, third}}},
      {"tall", {9, 2, {0, 0, 1, 1, 2, 2, 2, 2, 2, 4}, {1, 0, 0, 1}, {T{3}, third, T{-1}, T{7}}}},
      {"repeated entries", {2, 3, {0, 3, 4}, {1, 1, 2, 0}, {T{1}, T{2}, T{4}, T{8}}}},
      {"explicit zeros", {2, 2, {0, 2, 3}, {0, 1, 1}, {T{0}, T{5}, T{0}}}},
      {"extreme values",
       {3,
        4,
        {0, 3, 5, 8},
        {0, 1, 3, 0, 2, 0, 1, 2},
        {Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), -Limits::denorm_min(), -T{0},
         Limits::epsilon(), std::nextafter(T{1}, T{2})}}},
      {"infinities", {1, 2, {0, 2}, {0, 1}, {Limits::infinity(), -Limits::infinity()}}},
  };
}

template <class T>
std::vector<T> dense_of(const Csr<T>& a) {
  std::vector<T> out(static_cast<std::size_t>(a.rows * a.cols));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int32_t k = a.row_ptr[static_cast<std::size_t>(i)];
         k < a.row_ptr[static_cast<std::size_t>(i) + 1]; ++k)
      out[static_cast<std::size_t>(i * a.cols + a.col[static_cast<std::size_t>(k)])] +=
          a.val[static_cast<std::size_t>(k)];
  }
  return out;
}

// A dense file keeps neither repeats nor explicit zeros: there the elements are compared.
template <class T>
void check_same(const Csr<T>& want, const Csr<T>& got, bool dense) {
  CHECK(csr_fault(got).empty());
  CHECK(got.rows == want.rows);
  CHECK(got.cols == want.cols);
  if (dense) {
    CHECK(dense_of(got) == dense_of(want));
    return;
  }
  CHECK(got.row_ptr == want.row_ptr);
  CHECK(got.col == want.col);
  REQUIRE(got.val.size() == want.val.size());
  for (std::size_t k = 0; k < got.val.size(); ++k)
    CHECK(std::bit_cast<Bits<T>>(got.val[k]) == std::bit_cast<Bits<T>>(want.val[k]));
}

template <class T>
void check_pairs(const std::vector<std::string>& names) {
  const Scratch dir;
  for (const auto& named : matrices<T>()) {
    const Csr<T>& matrix = named.second;
    CAPTURE(named.first);
    for (const std::string& first : names) {
      CAPTURE(first);
      const std::string one = dir.file("1" + first);
      save_matrix(one, matrix);
      const Csr<T> read = load_matrix<T>(one);
      check_same(matrix, read, first == ".npy");
      for (const std::string& second : names) {
        CAPTURE(second);
        const std::string two = dir.file("2" + second);
        save_matrix(two, read);
        check_same(matrix, load_matrix<T>(two), first == ".npy" || second == ".npy");
      }
    }
  }
}

bool has_scipy() { return std::system("python3 -c 'import scipy.sparse, scipy.io' >/dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("every pair of formats keeps shape and values of fp64 matrices") {
  check_pairs<double>({".mtx", ".mtx.gz", ".npz", ".npy", ".tsv", ".tsv.gz", ".el", ".el.gz"});
}

TEST_CASE("every pair of formats keeps shape and values of fp32 matrices") {
  check_pairs<float>({".mtx", ".npz", ".npy", ".plumb", ".tsv", ".el.gz"});
}

TEST_CASE("files of the challenge are written where their lines say all, and refused by name where not") {
  const Scratch dir;
  const Csr<float> layer{3, 3, {0, 1, 1, 2}, {2, 0}, {0.5F, -1}};
  save_matrix(dir.file("n3-l1.tsv"), layer);
  CHECK(slurp(dir.file("n3-l1.tsv")) == "3\t1\t-1\n1\t3\t0.5\n");
  check_same(layer, load_matrix<float>(dir.file("n3-l1.tsv")), false);
  save_matrix(dir.file("sparse-images-3.tsv.gz"), layer);
  check_same(layer, load_matrix<float>(dir.file("sparse-images-3.tsv.gz")), false);

  const auto refused = [&](const char* name, const Csr<double>& a) {
    return error_of([&] { save_matrix(dir.file(name), a); });
  };
  CHECK(refused("n4-l1.tsv", {3, 3, {0, 1, 1, 2}, {2, 0}, {1, 1}}) ==
        dir.file("n4-l1.tsv") +
            ": a layer must have the shape that its name says, has: 3 x 3; choose another name");
  CHECK(
      refused("sparse-images-3.tsv", {3, 3, {0, 1, 2, 2}, {2, 0}, {1, 1}}).find("an entry in the last row") !=
      std::string::npos);
  CHECK(refused("n2-l1.tsv", {2, 2, {0, 2, 2}, {1, 1}, {1, 1}}).find("no entry twice, here: 1 2") !=
        std::string::npos);
  CHECK(refused("n2-l1.tsv", {2, 2, {0, 1, 1}, {1}, {0.1}}).find("not exact in it") != std::string::npos);
  CHECK(refused("n2-l1.tsv", {2, 2, {0, 1, 1}, {1}, {std::numeric_limits<double>::infinity()}})
            .find("finite") != std::string::npos);
}

TEST_CASE("the comment with the shape is checked") {
  const Scratch dir;
  const auto error = [&](const char* text) {
    return error_of([&] { return load_matrix<double>(dir.write("a.el", text)); })
        .substr(dir.file("a.el").size());
  };
  CHECK(error("# plumbline rows=2 cols=2 entries=2 base=0\n0\t1\t5\n") ==
        ": entries found, entries announced in line 1: 1, 2");
  CHECK(error("# plumbline rows=2 cols=2 entries=1 base=1\n0\t1\t5\n") ==
        ":2: source vertex is outside 1..2: 0");
  CHECK(error("# plumbline rows=2 cols=2 entries=1 base=2\n0\t1\t5\n") ==
        ":1: malformed comment with the shape: # plumbline rows=2 cols=2 entries=1 base=2");
  CHECK(error("# plumbline rows=2 cols=x\n0\t1\t5\n").find("malformed comment") != std::string::npos);
  // Lists of others have other comments.
  CHECK(load_matrix<double>(dir.write("b.el", "# Nodes: 9\n# plumbline is a tool\n0 1\n")).rows == 9);
}

TEST_CASE("SciPy reads what is written here, and writes back the same") {
  if (!has_scipy()) {
    MESSAGE("not run: python3 with scipy is not there");
    return;
  }
  const Scratch dir;
  dir.write("back.py", R"(import sys, numpy, scipy.sparse, scipy.io
for name in sys.argv[1:]:
    if name.endswith('.npz'): m = scipy.sparse.load_npz(name)
    elif name.endswith('.npy'): m = scipy.sparse.coo_matrix(numpy.load(name))
    else: m = scipy.sparse.coo_matrix(scipy.io.mmread(name))
    scipy.sparse.save_npz(name + '.back.npz', m)
)");
  std::vector<std::pair<std::string, Csr<double>>> written;
  std::string command = "python3 " + dir.file("back.py");
  for (const auto& [what, matrix] : matrices<double>()) {
    if (what == "infinities") continue;  // mmread does not read infinities
    for (const char* ending : {".npz", ".npy", ".mtx", ".mtx.gz"}) {
      const std::string name = dir.file(std::to_string(written.size()) + ending);
      // SciPy 1.17's mmread refuses a matrix without rows or columns.
      if (std::string(ending).rfind(".mtx", 0) == 0 && (matrix.rows == 0 || matrix.cols == 0)) continue;
      save_matrix(name, matrix);
      written.emplace_back(name, matrix);
      command += " " + name;
    }
  }
  REQUIRE(std::system((command + " 2>" + dir.file("errors")).c_str()) == 0);
  for (const auto& file : written) {
    CAPTURE(file.first);
    const bool dense = file.first.find(".npy") != std::string::npos;
    check_same(file.second, load_matrix<double>(file.first + ".back.npz"), dense);
  }
}
