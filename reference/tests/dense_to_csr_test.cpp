// dense_to_csr's oracle on data a person can check by hand.
#include "reference/ops/dense_to_csr.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"

using namespace plumb;

namespace {

Reference convert(const std::vector<double>& x, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  DenseToCsr::In<double, Space::host> in;
  in.x = {x.data(), rows, cols, cols};
  DenseToCsr::Out<double, Space::host> out;
  out.row_ptr.size = rows + 1;
  out.col.size = out.val.size = nnz;
  Reference reference;
  DenseToCsr::validate<double>({}, in, out);
  DenseToCsr::oracle<double>({}, in, out, reference);
  return reference;
}

}  // namespace

TEST_CASE("dense_to_csr lists the non-zeros of a 3 x 3 row by row, columns ascending") {
  const Reference r = convert({0, 5, -1, 0, 0, 0, 2, 0, 3}, 3, 3, 4);
  CHECK(r.outputs.at(0).value == std::vector<double>{0, 2, 2, 4});
  CHECK(r.outputs.at(1).value == std::vector<double>{1, 2, 0, 2});
  CHECK(r.outputs.at(2).value == std::vector<double>{5, -1, 2, 3});
}

TEST_CASE("NaN and subnormals are entries, -0 is not") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const Reference r = convert({-0.0, std::numeric_limits<double>::quiet_NaN(), tiny, 0}, 2, 2, 2);
  CHECK(r.outputs[0].value == std::vector<double>{0, 1, 2});
  CHECK(r.outputs[1].value == std::vector<double>{1, 0});
  CHECK(std::isnan(r.outputs[2].value[0]));
  CHECK(r.outputs[2].value[1] == tiny);
}

TEST_CASE("a matrix of no rows still has a row_ptr of one 0") {
  CHECK(convert({}, 0, 4, 0).outputs[0].value == std::vector<double>{0});
}

TEST_CASE("outputs that are not sized by the non-zeros are refused") {
  CHECK_THROWS_AS((void)convert({1, 0, 1, 0}, 2, 2, 3), Error);
}

TEST_CASE("dense_to_csr has a bound of 0 on every fill") {
  Tolerance t;
  t.fill = Fill::real;
  CHECK(DenseToCsr::bound(t, 2, 1.0, 1.0, 1) == 0);
}
