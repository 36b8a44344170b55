// spmm's oracle on data a person can check by hand.
#include "reference/ops/spmm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"

using namespace plumb;

namespace {

// A = [1 0 2; 0 0 0; 0 3 0], B = [1 2; 3 4; 5 6]
struct Small {
  Csr<double> a{3, 3, {0, 2, 2, 3}, {0, 2, 1}, {1, 2, 3}};
  Dense<double> b{3, 2, {1, 2, 3, 4, 5, 6}};
  Reference run() {
    Reference reference;
    const Dense<double>& input = b;
    Spmm::In<double, Space::host> in{a.view(), input.view()};
    Spmm::Out<double, Space::host> out;
    out.C = {nullptr, a.rows, b.cols, b.cols};
    Spmm::validate<double>({}, in, out);
    Spmm::oracle<double>({}, in, out, reference);
    return reference;
  }
};

}  // namespace

TEST_CASE("spmm multiplies a 3 x 3 by a 3 x 2 as by hand") {
  Small s;
  const Reference r = s.run();
  CHECK(r.outputs.at(0).value == std::vector<double>{11, 14, 0, 0, 9, 12});
  CHECK(r.outputs.at(0).magnitude == std::vector<double>{11, 14, 0, 0, 9, 12});
  CHECK(r.outputs.at(0).terms == std::vector<std::int32_t>{2, 2, 0, 0, 1, 1});
}

TEST_CASE("an empty row of A yields +0 even when B holds nothing but NaN") {
  Small s;
  s.b.data.assign(6, std::numeric_limits<double>::quiet_NaN());
  const Reference r = s.run();
  CHECK(std::isnan(r.outputs[0].value[0]));
  CHECK(r.outputs[0].value[2] == 0.0);
  CHECK_FALSE(std::signbit(r.outputs[0].value[2]));
  CHECK(r.outputs[0].magnitude[2] == 0.0);
}

TEST_CASE("repeated columns of A add up, and the magnitude does not cancel") {
  Small s;
  s.a = {1, 3, {0, 3}, {2, 2, 0}, {1, -1, 1}};
  const Reference r = s.run();
  CHECK(r.outputs[0].value == std::vector<double>{1, 2});
  CHECK(r.outputs[0].magnitude == std::vector<double>{11, 14});
}

TEST_CASE("spmm refuses a column beyond A's, and a B of the wrong height") {
  Small s;
  s.a.col[1] = 3;
  CHECK_THROWS_AS((void)s.run(), Error);
  Small t;
  t.b = {2, 2, {1, 2, 3, 4}};
  CHECK_THROWS_AS((void)t.run(), Error);
}

TEST_CASE("spmm's cost counts each used row of B once") {
  Small s;
  const Dense<double>& input = s.b;
  const Spmm::In<double, Space::host> in{s.a.view(), input.view()};
  Spmm::Out<double, Space::host> out;
  out.C = {nullptr, 3, 2, 2};
  const Cost cost = cost_of(Spmm::cost<double>({}, in, out), Dtype::f64);
  CHECK(cost.flop == 2 * 3 * 2);
  CHECK(cost.bytes == 3 * 12 + 4 * 4 + 8 * 2 * (3 + 3));
}
