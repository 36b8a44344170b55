#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "reference/core/operator.hpp"
#include "verify/drawing/draw.hpp"
#include "verify/drawing/shrink.hpp"
#include "verify/operators.hpp"

namespace plumb {
namespace {

constexpr CaseLimit kSmall{5e4, 5e5};

template <class Op>
CaseSpace space_of() {
  CaseSpace space(Op::kName);
  Op::describe(space);
  return space;
}

template <class... Ops, class F>
void each_operator(OperatorList<Ops...>, F&& f) {
  (f.template operator()<Ops>(), ...);
}

template <class Op, class T>
void make_and_validate(const Case& c) {
  Instance<Op, T> instance;
  Op::template make<T>(c, instance);
  Op::template validate<T>(instance.problem, instance.in, instance.out);
}

CaseSpace two_sizes() {
  CaseSpace space("gemv");
  space.extent("rows").extent("cols").scalar("alpha", "1").fills({Fill::exact, Fill::real});
  return space;
}

TEST_CASE("every drawn case of every operator can be made, and its id read back") {
  each_operator(Operators{}, []<class Op>() {
    const CaseSpace space = space_of<Op>();
    for (std::uint64_t number = 0; number < 40; ++number) {
      const Case c = draw_case(space, 5, number, kSmall);
      CAPTURE(c.id());
      CHECK(parse_case(c.id()) == c);
      if (c.dtype == Dtype::f32) {
        CHECK_NOTHROW((make_and_validate<Op, float>(c)));
      } else {
        CHECK_NOTHROW((make_and_validate<Op, double>(c)));
      }
    }
  });
}

TEST_CASE("a drawn case lies in the space, within its limit, and is the same for the same seed and number") {
  each_operator(Operators{}, []<class Op>() {
    const CaseSpace space = space_of<Op>();
    for (std::uint64_t number = 0; number < 40; ++number) {
      const Case c = draw_case(space, 11, number, kSmall);
      CAPTURE(c.id());
      CHECK(draw_case(space, 11, number, kSmall) == c);
      const std::optional<Point> p = space.locate(c);
      REQUIRE(p);
      CHECK(space.valid(*p, kSmall));
      for (std::size_t i = 0; i < p->classes.size(); ++i)
        CHECK(p->classes[i] < space.parameters()[i].classes.size());
    }
  });
}

TEST_CASE("bitwise fills are never combined with a scalar that is not an integer") {
  const CaseSpace space = space_of<Gemm>();
  for (std::uint64_t number = 0; number < 300; ++number) {
    const Case c = draw_case(space, 3, number, kSmall);
    if (!is_bitwise(c.fill)) continue;
    CAPTURE(c.id());
    CHECK(c.number("alpha") == static_cast<double>(static_cast<std::int64_t>(c.number("alpha"))));
    CHECK(c.number("beta") == static_cast<double>(static_cast<std::int64_t>(c.number("beta"))));
  }
}

TEST_CASE("shrinking finds the smallest sizes of a fault that begins beyond one row count") {
  const CaseSpace space = two_sizes();
  const Case failing = parse_case("gemv.f64(rows=4099,cols=311,alpha=2.7182819,fill=real,seed=77)");
  const auto fails = [](const Case& c) { return c.integer("rows") > 1024 && c.integer("cols") >= 2; };
  const Shrunk shrunk = shrink_case(space, failing, fails);
  CHECK(shrunk.smallest.id() == "gemv.f32(rows=1025,cols=2,alpha=1,fill=exact,seed=1)");
  CHECK(shrunk.runs <= 200);
}

TEST_CASE("shrinking keeps what the fault needs") {
  const CaseSpace space = two_sizes();
  const Case failing = parse_case("gemv.f64(rows=40,cols=50,alpha=2.7182819,fill=real,seed=77)");
  const auto fails = [](const Case& c) {
    return c.dtype == Dtype::f64 && c.fill == Fill::real && c.number("alpha") != 1 && c.seed == 77;
  };
  const Shrunk shrunk = shrink_case(space, failing, fails);
  CHECK(shrunk.smallest.id() == "gemv.f64(rows=0,cols=0,alpha=3,fill=real,seed=77)");
}

TEST_CASE("shrinking stops at its number of runs, and returns a case that fails") {
  const CaseSpace space = two_sizes();
  const Case failing = parse_case("gemv.f32(rows=70001,cols=5000,alpha=1,fill=real,seed=9)");
  int asked = 0;
  const auto fails = [&](const Case& c) { return ++asked, c.integer("rows") * c.integer("cols") > 1000; };
  const Shrunk shrunk = shrink_case(space, failing, fails, 7);
  CHECK(asked == 7);
  CHECK(shrunk.runs == 7);
  CHECK(shrunk.smallest.integer("rows") * shrunk.smallest.integer("cols") > 1000);
}

TEST_CASE("a case with a user's matrix is outside the space, and is not shrunk") {
  const CaseSpace space = space_of<Spmv>();
  const Case c = parse_case("spmv.f32(matrix=a.mtx,fill=real,seed=1)");
  CHECK_FALSE(space.locate(c));
  CHECK(shrink_case(space, c, [](const Case&) { return true; }).smallest == c);
}

}  // namespace
}  // namespace plumb
