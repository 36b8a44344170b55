// bias_relu: cases, data, oracle, bound and cost of the contract in bias_relu.hpp.
#include "reference/ops/bias_relu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/special_values.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"

namespace plumb {

namespace {

// True where the sum lies so far below 0 or above the cap that every declared arithmetic clamps it. bf16 has
// the largest error, 2^-6 of `size` and some units; fp16 has 2^-23 where it underflows. The answer is then
// exactly 0 or the cap; the size of an x of 2^100, or of an infinite one, does not enter it.
bool clamped_in_any_arithmetic(double sum, double size, double cap) {
  const double reach = 0x1p-5 * size + 0x1p-22;
  return sum <= -reach || sum - cap >= reach;
}

}  // namespace

// bias=column, or the scalar itself; cap=inf, or a number. Exact fills have x in [-8, 8]: a cap of 5 cuts
// some of them.
void BiasRelu::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows", .timed = timed_size(1, 8'000'000)})
      .extent("cols", {.role = "width", .timed = timed_size(1, 65536)})
      .layout({.widths = {"cols"}});
  space.words("bias", {"column", "0", "-2", "0.7310586", "-0.3"}, {.timed = timed_words({"column", "-0.3"})})
      .words("cap", {"inf", "0", "5", "0.7310586", "123456.79", "2.5e+35"},
             {.timed = timed_words({"inf", "5"})});
  space.timed_family(timed::neurons("cols"));
  space.fills({exact, wide, index, real, positive, scaled, hostile});
  const auto reaches_zeros = [](const Point& p) {  // -2 leaves zeros alone where every |x| is below 1
    return p["bias"] != -2 || p.word("fill") == "exact" || p.word("fill") == "wide";
  };
  const auto whole_sums = [](const Point& p) {  // under bitwise fills
    const bool whole = p["bias"] == std::floor(p["bias"]) && p["cap"] == std::floor(p["cap"]);
    return whole || !is_bitwise(parse_fill(p.word("fill"), "fill"));
  };
  const auto elements = [](const Point& p) { return p["rows"] * p["cols"]; };
  space.work({.multiply_adds = elements,
              .elements = [=](const Point& p) { return 2 * elements(p) + p["cols"]; },
              .where = {reaches_zeros, whole_sums}});
  space.hides("cap", {"0"}).alike({"rows", "cols"}).count("elements", elements);
}

void BiasRelu::cases(CaseList& list) {
  using enum Fill;
  list.add(Tier::smoke, "rows=0,cols=5,bias=column,cap=inf", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=5,cols=0,bias=column,cap=inf", {exact}, "no columns");
  list.add(Tier::smoke, "rows=1,cols=1,bias=1,cap=32", {exact, real}, "the smallest layer");
  list.add(Tier::smoke, "rows=219,cols=85,bias=-2,cap=5", {exact, scaled},
           "one bias for all, both kinks in reach");
  list.add(Tier::smoke, "rows=85,cols=219,bias=column,cap=5", {exact, index, real, hostile},
           "a bias per column, both kinks in reach: cap before bias shows");
  list.add(Tier::smoke, "rows=60,cols=1024,bias=-0.3,cap=32", {exact, real, scaled},
           "the sparse-DNN layer; scaled data passes its cap");
  list.add(Tier::smoke, "rows=257,cols=64,bias=column,cap=4", {exact, wide, real, positive},
           "whole vectors, rows one past a block");
  list.add(Tier::smoke, "rows=1,cols=65537,bias=column,cap=6", {exact, real, hostile},
           "one long row: threads must split columns");
  list.add(Tier::smoke, "rows=20011,cols=3,bias=column,cap=0.5", {exact, real},
           "tall and narrow, cap below most values");
  list.add(Tier::smoke, "rows=100,cols=100,bias=0.25,cap=0", {real},
           "cap 0: all zero but for NaN, so x must be looked at");
  list.add(Tier::smoke, "rows=100,cols=100,bias=0.25,cap=0", {hostile}, "cap 0 keeps NaN");
  list.add(Tier::smoke, "rows=36,cols=36,bias=column,cap=0,layout=wide", {real, hostile},
           "cap 0 where rows are whole vectors on 16 bytes");
  list.add(Tier::smoke, "rows=19,cols=133,bias=column,cap=1.2e-40", {real},
           "a cap below the normal numbers is not zero", {Dtype::f32});
  list.add(Tier::smoke, "rows=19,cols=133,bias=column,cap=1.2e-310", {real},
           "a cap below the normal numbers is not zero", {Dtype::f64});
  list.add_hostile(Tier::smoke, "rows=35,cols=37,bias=column,cap=2", 14,
                   "every special value at every class of position");
  list.add_hostile(Tier::smoke, "rows=35,cols=37,bias=0.25,cap=inf", 7,
                   "the same without a cap, and with one bias: a rectifier of its own");

  list.add_beyond_a_grid("rows=524309,cols=1");
  list.add(Tier::full, "rows=60000,cols=1024,bias=-0.3,cap=32", {exact, real},
           "the sparse-DNN layer at size");
  list.add(Tier::full, "rows=281903,cols=16,bias=column,cap=inf", {exact, real, hostile},
           "the GCN's hidden layer");
  list.add(Tier::stress, "rows=4200000,cols=512,bias=column,cap=32", {exact},
           "more than 2^31 elements: row * ld must be 64-bit", {Dtype::f32});
  list.add_far_rows("rows=7,cols=6,bias=column,cap=inf");
}

template <class T>
void BiasRelu::make(const Case& c, Instance<BiasRelu, T>& instance) {
  const std::int64_t rows = c.integer("rows"), cols = c.integer("cols");
  instance.in.x = make_dense<T>(instance.arena, rows, cols, c, Role::left, 1000);
  const bool per_column = c.text_or("bias", "column") == "column";
  if (per_column) {
    T* b = instance.arena.template allocate<T>(cols);
    fill_values(b, cols, 1, c, Role::right, 2000);
    if (c.fill == Fill::hostile) place_specials(b, cols, 1, c, Role::addend, 2001);
    instance.in.b = {b, cols};
  }
  instance.problem.bias = per_column ? T(0) : static_cast<T>(c.number("bias"));
  instance.problem.cap =
      c.text_or("cap", "inf") == "inf" ? std::numeric_limits<T>::infinity() : static_cast<T>(c.number("cap"));
  instance.out.y.rows = rows;
  instance.out.y.cols = instance.out.y.ld = cols;
  instance.degenerate = rows * cols <= 1 || instance.problem.cap == T(0);
}

template <class T>
void BiasRelu::validate(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (out.y.rows != in.x.rows || out.y.cols != in.x.cols) {
    throw Error(
        fmt::format("bias_relu: y is {} x {}, x {} x {}", out.y.rows, out.y.cols, in.x.rows, in.x.cols));
  }
  if (in.x.ld < in.x.cols || out.y.ld < out.y.cols)
    throw Error("bias_relu: a leading dimension is less than the width");
  if (in.b.size != 0 && in.b.size != in.x.cols) {
    throw Error(
        fmt::format("bias_relu: b has {} elements, neither 0 nor x's {} columns", in.b.size, in.x.cols));
  }
  if (!(p.cap >= T(0))) throw Error(fmt::format("bias_relu: cap is {}, not a number of at least 0", p.cap));
}

template <class T>
void BiasRelu::oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                      Reference& reference) {
  ReferenceArray& y = reference.outputs.emplace_back();
  const std::int64_t cols = out.y.cols;
  y.resize(out.y.rows * cols);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const double x = in.x(i, j), b = in.b.size > 0 ? in.b[j] : p.bias;
      // correctly rounded: 53 bits are more than twice 24 plus 2, so rounding twice changes nothing; overflow
      // gives Inf
      auto v = static_cast<double>(static_cast<T>(x + b));
      // written so that NaN fails both comparisons and stays
      if (v < 0) v = 0;
      if (v > p.cap) v = p.cap;
      const auto at = static_cast<std::size_t>(i * cols + j);
      y.value[at] = v;
      const double size = std::fabs(x) + std::fabs(b);
      if (clamped_in_any_arithmetic(x + b, size, p.cap)) continue;  // no magnitude, no terms: a bound of 0
      y.magnitude[at] = size;
      y.terms[at] = 2;
    }
  }
}

template <class T>
Work BiasRelu::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const double elements = static_cast<double>(in.x.rows) * static_cast<double>(in.x.cols);
  return {3 * elements, elements + static_cast<double>(in.b.size), elements};
}

double BiasRelu::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  if (is_bitwise(t.fill)) return 0;
  // a sum of two has one rounding in every kernel; declared reductions of the operands are added to it
  const double reduced = sum_bound(t, value, magnitude, terms);
  const bool rounds = is_floating(t.arithmetic.operand) && !t.arithmetic.corrected;
  return rounds || t.arithmetic.flushes ? reduced : t.unit() * magnitude;
}

// The bias negated and half the cap; each of them alone; no cap, or one.
template <class T>
bool BiasRelu::make_other(Problem<T>& p, int n) {
  if (n == 0 || n == 1) p.bias = -p.bias;
  if (n == 0 || n == 2) p.cap = p.cap / 2;
  if (n == 3) p.cap = std::isfinite(p.cap) ? std::numeric_limits<T>::infinity() : T(32);
  return n <= 3;
}

template bool BiasRelu::make_other<float>(Problem<float>&, int);
template bool BiasRelu::make_other<double>(Problem<double>&, int);
PLUMB_INSTANTIATE_OPERATOR(BiasRelu)

}  // namespace plumb
