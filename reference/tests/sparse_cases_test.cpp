#include "reference/core/sparse_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

plumb::Csr<double> made(const std::string& parameters) {
  const plumb::Case c = plumb::parse_case("spmv.f64(" + parameters + ",fill=exact,seed=1)");
  return plumb::make_sparse<double>(c, 1000);
}

std::vector<int> columns(const plumb::Csr<double>& a, int row) {
  return {a.col.begin() + a.row_ptr[row], a.col.begin() + a.row_ptr[row + 1]};
}

}  // namespace

TEST_CASE(
    "a stencil's point knows its neighbours above, left, right and below, and none across a line's end") {
  const auto a = made("rows=9,cols=9,density=0,pattern=stencil");  // 3 x 3
  CHECK(columns(a, 4) == std::vector<int>{1, 3, 4, 5, 7});
  CHECK(columns(a, 0) == std::vector<int>{0, 1, 3});
  CHECK(columns(a, 2) == std::vector<int>{1, 2, 5});
  CHECK(columns(a, 3) == std::vector<int>{0, 3, 4, 6});
  const auto cut =
      made("rows=5,cols=4,density=0,pattern=stencil");  // lines of two, the last line cut, a column missing
  CHECK(columns(cut, 4) == std::vector<int>{2});
  CHECK(made("rows=0,cols=4,density=0,pattern=stencil").nnz() == 0);
}

TEST_CASE("an arrow has one full row, one full column and the diagonal") {
  const auto a = made("rows=4,cols=3,density=0,pattern=arrow");
  CHECK(columns(a, 0) == std::vector<int>{0, 1, 2});
  CHECK(columns(a, 1) == std::vector<int>{0, 1});
  CHECK(columns(a, 3) == std::vector<int>{0});
  CHECK(made("rows=4,cols=0,density=0,pattern=arrow").nnz() == 0);
}

TEST_CASE(
    "R-MAT's rows are ascending, within the sizes, and the upper left quarter holds about 0.57 of them") {
  const auto a = made("rows=1000,cols=600,density=0.01,pattern=rmat");
  std::int64_t quarter = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto row = columns(a, i);
    CHECK(std::is_sorted(row.begin(), row.end()));
    CHECK(std::adjacent_find(row.begin(), row.end()) == row.end());
    for (const int j : row) {
      REQUIRE(j >= 0);
      REQUIRE(j < 600);
      if (i < 512 && j < 512) ++quarter;
    }
  }
  CHECK(a.nnz() > 4000);  // 6000 draws, many of them the same
  CHECK(a.nnz() <= 6000);
  CHECK(static_cast<double>(quarter) > 0.5 * static_cast<double>(a.nnz()));
  CHECK(made("rows=1000,cols=600,density=0.01,pattern=rmat").col == a.col);
}

TEST_CASE("a sized matrix that small integers are listed for has no row whose sum leaves fp32's 24 bits") {
  int long_rows = 0;
  for (const plumb::SizedMatrix& m : plumb::kSizedMatrices) {
    const plumb::Case c = plumb::parse_case("spmv.f32(" + std::string(m.parameters) + ",fill=exact,seed=1)");
    const std::string pattern = c.text_or("pattern", "uniform");
    if (pattern != "arrow" && pattern != "giant") continue;  // the others' rows hold some thousands at most
    CAPTURE(m.parameters);
    ++long_rows;
    // integers in [-8, 8] have magnitude 72 / 17 on average
    CHECK(m.exact == (static_cast<double>(c.integer("cols")) * (72.0 / 17) * (72.0 / 17) < 0x1p24));
  }
  CHECK(long_rows == 2);
}
