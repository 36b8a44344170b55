// spmv's oracle on data a person can check by hand.
#include "reference/ops/spmv.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"

using namespace plumb;

namespace {

// A = [1 0 2; 0 0 0; 0 3 4], x = (1, 2, 3), y = (10, 20, 30)
struct Small {
  Csr<double> a{3, 3, {0, 2, 2, 4}, {0, 2, 1, 2}, {1, 2, 3, 4}};
  std::vector<double> x{1, 2, 3}, y{10, 20, 30};
  double alpha = 1, beta = 0;
  Reference run() {
    const Spmv::In<double, Space::host> in{a.view(), {x.data(), static_cast<std::int64_t>(x.size())}};
    const Spmv::Out<double, Space::host> out{{y.data(), static_cast<std::int64_t>(y.size())}};
    Reference reference;
    Spmv::validate<double>({alpha, beta}, in, out);
    Spmv::oracle<double>({alpha, beta}, in, out, reference);
    return reference;
  }
};

}  // namespace

TEST_CASE("spmv multiplies a 3 x 3 matrix and a vector as by hand") {
  Small s;
  const Reference r = s.run();
  CHECK(r.outputs.at(0).value == std::vector<double>{7, 0, 18});
  CHECK(r.outputs.at(0).terms == std::vector<std::int32_t>{2, 0, 2});
}

TEST_CASE("alpha scales the product, beta scales the old y, and y counts as a term") {
  Small s;
  s.alpha = 2, s.beta = -1;
  const Reference r = s.run();
  CHECK(r.outputs[0].value == std::vector<double>{4, -20, 6});
  CHECK(r.outputs[0].magnitude == std::vector<double>{24, 20, 66});
  CHECK(r.outputs[0].terms == std::vector<std::int32_t>{3, 1, 3});
}

TEST_CASE("with beta == 0 the y there was is not read, not even NaN") {
  Small s;
  s.y.assign(3, std::numeric_limits<double>::quiet_NaN());
  CHECK(s.run().outputs[0].value == std::vector<double>{7, 0, 18});
}

TEST_CASE("with alpha == 0 neither A nor x counts, not even NaN") {
  Small s;
  s.alpha = 0, s.beta = 2;
  s.x.assign(3, std::numeric_limits<double>::quiet_NaN());
  s.a.val[0] = std::numeric_limits<double>::infinity();
  const Reference r = s.run();
  CHECK(r.outputs[0].value == std::vector<double>{20, 40, 60});
  CHECK(r.outputs[0].magnitude == std::vector<double>{20, 40, 60});
  CHECK(r.outputs[0].terms == std::vector<std::int32_t>{1, 1, 1});
  s.beta = 0;
  CHECK(s.run().outputs[0].value == std::vector<double>{0, 0, 0});
}

TEST_CASE("a row without entries yields +0 even when x holds NaN") {
  Small s;
  s.x.assign(3, std::numeric_limits<double>::quiet_NaN());
  const Reference r = s.run();
  CHECK(std::isnan(r.outputs[0].value[0]));
  CHECK(r.outputs[0].value[1] == 0);
  CHECK_FALSE(std::signbit(r.outputs[0].value[1]));
}

TEST_CASE("a row pointer that decreases, and one that ends early, are refused") {
  Small s;
  s.a.row_ptr = {0, 3, 2, 4};
  CHECK_THROWS_AS((void)s.run(), Error);
  Small t;
  t.a.row_ptr = {0, 2, 2, 3};
  CHECK_THROWS_AS((void)t.run(), Error);
}

TEST_CASE("spmv's cost counts each used element of x once, and y twice when it is read") {
  Small s;
  s.a.col = {0, 2, 2, 2};
  const Spmv::In<double, Space::host> in{s.a.view(), {s.x.data(), 3}};
  const Spmv::Out<double, Space::host> out{{s.y.data(), 3}};
  CHECK(Spmv::cost<double>({1, 0}, in, out).flop == 8);
  CHECK(cost_of(Spmv::cost<double>({1, 0}, in, out), Dtype::f64).bytes == 4 * 12 + 4 * 4 + 8 * (2 + 3));
  CHECK(cost_of(Spmv::cost<double>({1, 2}, in, out), Dtype::f64).bytes == 4 * 12 + 4 * 4 + 8 * (2 + 6));
  // the row without entries stays as it is
  CHECK(cost_of(Spmv::cost<double>({1, 1}, in, out), Dtype::f64).bytes == 4 * 12 + 4 * 4 + 8 * (2 + 4));
  CHECK(cost_of(Spmv::cost<double>({0, 0}, in, out), Dtype::f64).bytes == 8 * 3);
  CHECK(cost_of(Spmv::cost<double>({0, 1}, in, out), Dtype::f64).bytes == 0);
}
