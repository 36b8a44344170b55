// transpose: cases, data, oracle and cost of the contract in transpose.hpp.
#include "reference/ops/transpose.hpp"

#include <string>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/core/error.hpp"

namespace plumb {

// No case uses the exact fill: its 17 values repeat, so a value from the wrong place is often equal. The
// index fill has a different number in every place.
void Transpose::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows", .timed = timed_size(4, 8'000'000)})
      .extent("cols", {.role = "width", .timed = timed_size(4, 8'000'000, "rows", 0.3)})
      .layout({.widths = {"rows", "cols"}, .arrays = 2})
      .fills({index, real, scaled, hostile});
  const auto elements = [](const Point& p) { return p["rows"] * p["cols"]; };
  space.work({.multiply_adds = elements, .elements = [=](const Point& p) { return 2 * elements(p); }});
  space.alike({"rows", "cols"}).count("elements", elements);
  space.one_case(
      {"a sector short of a tile", "rows=58|62,cols=41",
       "rows of B begin within 32 bytes: one tile more where this many columns and the part before "
       "them are just beyond one",
       Met::dear});
}

void Transpose::cases(CaseList& list) {
  using enum Fill;
  list.add(Tier::smoke, "rows=0,cols=5", {index}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=5,cols=0", {index}, "no columns: nothing may be touched");
  list.add(Tier::smoke, "rows=1,cols=1", {index}, "the smallest");
  list.add(Tier::smoke, "rows=1,cols=1009", {index, real}, "a row becomes a column");
  list.add(Tier::smoke, "rows=1009,cols=1", {index, real}, "a column becomes a row");
  list.add(Tier::smoke, "rows=31,cols=33", {index, real, hostile}, "one less and one more than a tile of 32");
  list.add(Tier::smoke, "rows=33,cols=31", {index, real, hostile}, "one more and one less than a tile of 32");
  list.add(Tier::smoke, "rows=32,cols=64", {index}, "whole tiles only");
  list.add(Tier::smoke, "rows=127,cols=129", {index, scaled}, "one less and one more than a tile of 128");
  list.add(Tier::smoke, "rows=1009,cols=1013", {index, real, hostile}, "prime sizes");
  list.add(Tier::smoke, "rows=301,cols=6", {index}, "whole pairs in each of some hundred rows");
  list.add_hostile(Tier::smoke, "rows=35,cols=37", 7, "every special value at every class of position");

  list.add_beyond_a_grid("rows=524309,cols=1");
  list.add_beyond_a_grid("rows=1,cols=524309");
  list.add(Tier::full, "rows=4096,cols=4096", {real},
           "rows a power of two apart: every row of a tile meets the same cache set");
  list.add(Tier::full, "rows=8191,cols=4099", {real}, "past every cache, ragged");
  list.add(Tier::full, "rows=281903,cols=16", {index, real}, "tall: the contest's layer");
  list.add(Tier::full, "rows=16,cols=281903", {index, real}, "wide: the same lying down");
  list.add(Tier::stress, "rows=1048583,cols=2053", {real}, "2,152,740,899 elements: a 32-bit row * ld wraps",
           {Dtype::f32});
  list.add_far_rows("rows=7,cols=6", index);
}

template <class T>
void Transpose::make(const Case& c, Instance<Transpose, T>& instance) {
  const std::int64_t rows = c.integer("rows"), cols = c.integer("cols");
  // the index fill of Role::right numbers the places
  instance.in.A =
      make_dense<T>(instance.arena, rows, cols, c, c.fill == Fill::index ? Role::right : Role::left, 1000);
  instance.out.B = {nullptr, cols, rows, rows};
  instance.degenerate = rows * cols <= 1;
}

template <class T>
void Transpose::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (out.B.rows != in.A.cols)
    throw Error(fmt::format("transpose: B has {} rows, A {} columns", out.B.rows, in.A.cols));
  if (out.B.cols != in.A.rows)
    throw Error(fmt::format("transpose: B has {} columns, A {} rows", out.B.cols, in.A.rows));
  const auto check_ld = [](const char* name, std::int64_t ld, std::int64_t cols) {
    if (ld < cols)
      throw Error(
          fmt::format("transpose: {} has leading dimension {}, less than its {} columns", name, ld, cols));
  };
  check_ld("A", in.A.ld, in.A.cols);
  check_ld("B", out.B.ld, out.B.cols);
}

template <class T>
void Transpose::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&,
                       Reference& reference) {
  ReferenceArray& b = reference.outputs.emplace_back();
  b.resize(in.A.rows * in.A.cols);
  b.moved = true;
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < in.A.cols; ++j) {
    for (std::int64_t i = 0; i < in.A.rows; ++i)
      b.value[static_cast<std::size_t>(j * in.A.rows + i)] = in.A(i, j);
  }
}

template <class T>
Work Transpose::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const double elements = static_cast<double>(in.A.rows) * static_cast<double>(in.A.cols);
  return {0, elements, elements};
}

double Transpose::bound(const Tolerance&, int, double, double, std::int64_t) { return 0; }

PLUMB_INSTANTIATE_OPERATOR(Transpose)

}  // namespace plumb
