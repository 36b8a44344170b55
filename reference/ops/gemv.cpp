// gemv: cases, data, oracle, bound and cost of the contract in gemv.hpp.
#include "reference/ops/gemv.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/traffic.hpp"

namespace plumb {

void Gemv::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows", .timed = timed_size(1, 8'000'000)})
      .extent("cols", {.role = "depth", .unrolled = true, .timed = timed_size(1, 8'000'000, "rows", 0.3)})
      .layout({.widths = {"cols"}})
      .words("alpha", {"1"}, {.factor = true})
      .words("beta", {"0"}, {.factor = true});
  space.timed_family(timed::transformers("rows", "cols"));
  space.timed_family(timed::classifiers("rows", "cols"));
  space.timed_family(timed::thin("rows", "cols"));
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  space.work({.multiply_adds = [](const Point& p) { return p["rows"] * p["cols"]; },
              .elements = [](const Point& p) { return p["rows"] * p["cols"] + p["rows"] + p["cols"]; },
              .terms = [](const Point& p) { return p["cols"]; }});
  space.hides("alpha", {"zero", "minus zero"}).alike({"rows", "cols"});
  space.count("elements of A", [](const Point& p) { return p["rows"] * p["cols"]; });
  space.special("facing").special("whole_first", {"0", "1"});
}

void Gemv::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "rows=67,cols=129");
  add_looks(list, "rows=9,cols=1030");
  list.add_cancelling("rows=3,cols=8209");
  list.add(Tier::smoke, "rows=0,cols=5", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=133,cols=0", {exact}, "nothing to sum: y = +0");
  list.add(Tier::smoke, "rows=133,cols=0,alpha=1,beta=2", {exact, real}, "nothing to sum: y = beta y");
  list.add(Tier::smoke, "rows=1,cols=1009", {exact, real}, "a dot product: fewer rows than cores");
  list.add(Tier::smoke, "rows=31,cols=33", {exact, index, real, hostile},
           "one less and one more than a warp");
  list.add(Tier::smoke, "rows=33,cols=31", {exact, real}, "one more and one less than a warp");
  list.add(Tier::smoke, "rows=255,cols=257", {exact, wide, real, positive},
           "one less and one more than a block");
  list.add(Tier::smoke, "rows=257,cols=255", {exact, scaled, hostile}, "one more and one less than a block");
  list.add(Tier::smoke, "rows=4001,cols=67", {exact, index, real, positive}, "tall, prime");
  list.add(Tier::smoke, "rows=3,cols=65537", {real}, "more columns than 16 bits count, and no special value");
  list.add(Tier::smoke, "rows=5,cols=30011,alpha=2,beta=-1", {exact, real},
           "wide, y read once although the columns are split");
  list.add(Tier::smoke, "rows=501,cols=503,alpha=0.5,beta=2", {exact, real, hostile},
           "prime sizes, y read and scaled");
  list.add(Tier::smoke, "rows=1003,cols=2,alpha=0.5", {real, hostile},
           "subnormals beside infinities: alpha must not be worked into A");
  list.add(Tier::smoke, "rows=101,cols=103,alpha=0,beta=0", {exact, hostile},
           "alpha == 0: zeros, even where A and x hold NaN");
  list.add(Tier::smoke, "rows=101,cols=103,alpha=0,beta=2", {exact},
           "alpha == 0: y is scaled, A and x are not read");
  list.add(Tier::smoke, "rows=101,cols=103,alpha=0,beta=0.7310586", {hostile},
           "alpha == 0: beta alone, a fraction that no narrower type holds");
  for (const char* const beta : {"0", "0.7310586"})
    list.add(Tier::smoke, fmt::format("rows=36,cols=36,alpha=0,beta={},layout=wide", beta), {hostile},
             "alpha == 0 where rows are whole vectors on 16 bytes: neither A nor x is read");
  list.add_hostile(
      Tier::smoke, "rows=1,cols=211,alpha=1.2345679e-30", 3,
      "one row, for which libraries multiply an operand by alpha: tiny becomes 0, and that times Inf NaN");
  list.add(Tier::smoke, "rows=67,cols=41,alpha=7.703719777548943e-34,beta=123456.79", {scaled},
           "alpha is a power of two: beta / alpha is finite, and times y it is not", {Dtype::f32});
  list.add(Tier::smoke, "rows=67,cols=41,alpha=9.332636185032189e-302,beta=123456.79", {scaled},
           "alpha is a power of two: beta / alpha is finite, and times y it is not", {Dtype::f64});
  list.add(Tier::smoke, "rows=67,cols=41,whole_first=1", {real},
           "the first half of x is whole numbers, the other is not");
  list.add_hostile(Tier::smoke, "rows=67,cols=41,alpha=0.5,beta=2", 28,
                   "every special value at every class of position");
  list.add(Tier::smoke, "rows=9,cols=7,alpha=1.2e-40,beta=1.3e-40,facing=large", {real},
           "scalars below the normal numbers are none of them zero", {Dtype::f32});
  list.add(Tier::smoke, "rows=9,cols=7,alpha=1.2e-310,beta=1.3e-310,facing=large", {real},
           "scalars below the normal numbers are none of them zero", {Dtype::f64});

  list.add_beyond_a_grid("rows=524309,cols=1");
  list.add(Tier::full, "rows=8192,cols=8192", {exact, real, positive}, "square, past every cache");
  list.add(Tier::full, "rows=281903,cols=128", {exact, wide, real, hostile}, "tall: the contest's features");
  list.add(Tier::full, "rows=128,cols=281903", {exact, real, positive}, "wide: the same lying down");
  list.add(Tier::full, "rows=2,cols=10000019", {real}, "two rows of ten million");
  // n u is 0.6 in fp32: small positive products vanish against the sum, and no bound for plain sums holds
  list.add(Tier::full, "rows=2,cols=10000019", {exact, positive},
           "two rows of ten million, exact and drifting", {Dtype::f64});
  list.add(Tier::stress, "rows=1048583,cols=2053", {exact}, "2,152,740,899 elements: a 32-bit row * ld wraps",
           {Dtype::f32});
  list.add_far_rows("rows=7,cols=6");
}

template <class T>
void Gemv::make(const Case& c, Instance<Gemv, T>& instance) {
  const std::int64_t rows = c.integer("rows"), cols = c.integer("cols");
  instance.problem = {static_cast<T>(c.number_or("alpha", 1)), static_cast<T>(c.number_or("beta", 0))};
  instance.in.A = make_dense<T>(instance.arena, rows, cols, c, Role::left, 1000);
  instance.in.x = make_vector<T>(instance.arena, cols, c, Role::right, 2000);
  instance.out.y.size = rows;
  if (instance.problem.beta != T(0)) {
    T* y = instance.arena.template allocate<T>(rows);
    fill_values(y, rows, 1, c, Role::addend, 3000);
    put_facing(y, rows, 1, c, Role::addend);
    instance.out.y.data = y;
  }
  instance.degenerate =
      rows <= 1 || ((cols == 0 || instance.problem.alpha == T(0)) && instance.problem.beta == T(0));
}

template <class T>
void Gemv::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (in.A.ld < in.A.cols)
    throw Error(
        fmt::format("gemv: A has leading dimension {}, less than its {} columns", in.A.ld, in.A.cols));
  if (in.x.size != in.A.cols)
    throw Error(fmt::format("gemv: x has {} elements, A {} columns", in.x.size, in.A.cols));
  if (out.y.size != in.A.rows)
    throw Error(fmt::format("gemv: y has {} elements, A {} rows", out.y.size, in.A.rows));
}

template <class T>
void Gemv::oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                  Reference& reference) {
  ReferenceArray& y = reference.outputs.emplace_back();
  y.resize(in.A.rows);
  const std::int64_t depth = p.alpha == T(0) ? 0 : in.A.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    OracleDot<T> dot;
    for (std::int64_t k = 0; k < depth; ++k) dot.add_product(in.A(i, k), in.x[k]);
    OracleDot<double>
        scaled;  // alpha scales the sum: multiplied into an operand it would turn subnormals into 0
    scaled.add_product(depth == 0 ? 0.0 : static_cast<double>(p.alpha), dot.value());
    if (p.beta != T(0)) scaled.add_product(p.beta, out.y[i]);
    const auto at = static_cast<std::size_t>(i);
    y.value[at] = scaled.value();
    const double addend = p.beta == T(0) ? 0 : static_cast<double>(p.beta) * static_cast<double>(out.y[i]);
    y.magnitude[at] = affine_magnitude<T>(p.alpha, dot.magnitude(), addend, depth);
    y.terms[at] = static_cast<std::int32_t>(depth + (p.alpha == T(1) ? 0 : 1) + (p.beta == T(0) ? 0 : 1));
  }
}

template <class T>
Work Gemv::cost(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const auto rows = static_cast<double>(in.A.rows), cols = static_cast<double>(in.A.cols);
  const bool adds = p.alpha != T(0) && cols > 0;
  const double operands = adds ? rows * cols + cols : 0;
  return {adds ? 2 * rows * cols : 0, operands, moves_of_result(p.beta, adds) * rows};
}

double Gemv::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  return sum_bound(t, value, magnitude, terms);
}

PLUMB_INSTANTIATE_OPERATOR(Gemv)

}  // namespace plumb
