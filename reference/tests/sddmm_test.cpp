// sddmm's oracle on data a person can check by hand.
#include "reference/ops/sddmm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/matrix.hpp"

using namespace plumb;

namespace {

// mask = [1 0 1; 0 0 0; 0 1 0] with the values 7, 8, 9; X = [1 2; 3 4; 5 6], Y = [1 0; 0 1; 1 -1]
struct Small {
  Csr<double> a{3, 3, {0, 2, 2, 3}, {2, 0, 1}, {7, 8, 9}};
  Dense<double> x{3, 2, {1, 2, 3, 4, 5, 6}}, y{3, 2, {1, 0, 0, 1, 1, -1}};
  std::int64_t size = 3;
  Reference run() {
    const Dense<double>&cx = x, &cy = y;
    const Sddmm::In<double, Space::host> in{a.view(), cx.view(), cy.view()};
    Sddmm::Out<double, Space::host> out;
    out.s.size = size;
    Reference reference;
    Sddmm::validate<double>({}, in, out);
    Sddmm::oracle<double>({}, in, out, reference);
    return reference;
  }
};

}  // namespace

TEST_CASE("sddmm gives the products of rows in the order of the pattern's entries") {
  Small s;
  const Reference r = s.run();
  CHECK(r.outputs.at(0).value == std::vector<double>{-1, 1, 6});
  CHECK(r.outputs.at(0).magnitude == std::vector<double>{3, 1, 6});
  CHECK(r.outputs.at(0).terms == std::vector<std::int32_t>{2, 2, 2});
}

TEST_CASE("sddmm samples by pattern alone: the values of A do not multiply, not even NaN") {
  Small s;
  s.a.val.assign(3, std::numeric_limits<double>::quiet_NaN());
  CHECK(s.run().outputs[0].value == std::vector<double>{-1, 1, 6});
}

TEST_CASE("NaN in a row of X reaches that row's entries and no other") {
  Small s;
  s.x.data[4] = std::numeric_limits<double>::quiet_NaN();
  const Reference r = s.run();
  CHECK(r.outputs[0].value[0] == -1);
  CHECK(std::isnan(r.outputs[0].value[2]));
}

TEST_CASE("sddmm of zero width is zero at every entry") {
  Small s;
  s.x = {3, 0, {}}, s.y = {3, 0, {}};
  CHECK(s.run().outputs[0].value == std::vector<double>{0, 0, 0});
}

TEST_CASE("sddmm refuses widths that differ and an output of the wrong size") {
  Small s;
  s.y = {3, 1, {1, 0, 1}};
  CHECK_THROWS_AS((void)s.run(), Error);
  Small t;
  t.size = 4;
  CHECK_THROWS_AS((void)t.run(), Error);
}
