#include "reference/core/csr.hpp"

#include <doctest/doctest.h>

#include "reference/core/error.hpp"

using plumb::Csr;

TEST_CASE("the first defect of a CSR is named, and a sound one has none") {
  using M = Csr<float>;
  CHECK(plumb::csr_fault(M{}).empty());
  CHECK(plumb::csr_fault(M{2, 3, {0, 1, 2}, {2, 0}, {1, 1}}).empty());
  CHECK(plumb::csr_fault(M{2, 3, {0, 1}, {2}, {1}}) == "row_ptr has 2 numbers for 2 rows");
  CHECK(plumb::csr_fault(M{1, 3, {0, 1}, {2}, {}}) == "0 values for 1 columns");
  CHECK(plumb::csr_fault(M{1, 3, {1, 1}, {2}, {1}}) ==
        "row_ptr does not run from 0 to nnz: it begins with 1");
  CHECK(plumb::csr_fault(M{2, 3, {0, 2, 1}, {0, 1}, {1, 1}}) == "row_ptr falls after row 1");
  CHECK(plumb::csr_fault(M{1, 3, {0, 1}, {0, 1}, {1, 1}}) ==
        "row_ptr does not run from 0 to nnz: it ends at 1 of 2");
  CHECK(plumb::csr_fault(M{1, 3, {0, 2}, {0, 3}, {1, 1}}) == "column 3 of entry 1 lies outside 0..2");
  CHECK(plumb::csr_fault(M{1, 3, {0, 1}, {-1}, {1}}) == "column -1 of entry 0 lies outside 0..2");
  CHECK_THROWS_WITH_AS(plumb::validate_csr(M{1, 1, {0, 1}, {4}, {1}}.view(), "A"),
                       "malformed CSR A: column 4 of entry 0 lies outside 0..0", plumb::Error);
}

TEST_CASE("a transpose lists rows in order and keeps repeats; a slice is a matrix of its own") {
  const Csr<double> a{3, 2, {0, 3, 3, 4}, {1, 0, 1, 1}, {1, 2, 3, 4}};
  const Csr<double> t = plumb::transposed(a);
  CHECK(t.rows == 2);
  CHECK(t.cols == 3);
  CHECK(t.row_ptr == std::vector<std::int32_t>{0, 1, 4});
  CHECK(t.col == std::vector<std::int32_t>{0, 0, 0, 2});
  CHECK(t.val == std::vector<double>{2, 1, 3, 4});
  const Csr<double> s = plumb::slice_rows(a, 1, 3);
  CHECK(s.rows == 2);
  CHECK(s.row_ptr == std::vector<std::int32_t>{0, 0, 1});
  CHECK(s.val == std::vector<double>{4});
  CHECK(plumb::slice_rows(a, 2, 2).nnz() == 0);
}
