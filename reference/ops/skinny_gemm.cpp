// skinny_gemm: cases, data, oracle, bound and cost of the contract in skinny_gemm.hpp.
#include "reference/ops/skinny_gemm.hpp"

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/dense_products.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"

namespace plumb {

void SkinnyGemm::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("v", {.role = "rows", .timed = timed_size(1000, 8'000'000)})
      .extent("k", {.role = "depth", .unrolled = true, .timed = timed_range(8, 512)})
      .extent("n", {.role = "width", .timed = timed_range(1, 64)})
      .layout({.widths = {"k", "n"}});
  space.timed_family(timed::graph_layers("v", "k", "n"));
  space.timed_family(timed::class_counts("n"));
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  space.work({.multiply_adds = [](const Point& p) { return p["v"] * p["n"] * p["k"]; },
              .elements = [](const Point& p) { return p["v"] * p["k"] + p["k"] * p["n"] + p["v"] * p["n"]; },
              .terms = [](const Point& p) { return p["k"]; }});
  space.alike({"v", "k"}).alike({"k", "n"}).alike({"v", "n"});
  space.count("elements of X", [](const Point& p) { return p["v"] * p["k"]; })
      .count("elements of W", [](const Point& p) { return p["k"] * p["n"]; })
      .count("elements of Y", [](const Point& p) { return p["v"] * p["n"]; });
  space.one_case({"whole lines", "k=64|128,layout=wide", "kernels are made for these, and read X in bulk",
                  Met::with_all});
  space.special("facing").special("whole_first", {"0", "1"});
}

void SkinnyGemm::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "v=67,k=100,n=16");
  list.add(Tier::smoke, "v=3,k=9,n=5,facing=near_top", {real},
           "a result beside the largest number of its format: it stays finite");
  list.add_cancelling("v=3,k=8209,n=2");
  list.add(Tier::smoke, "v=0,k=128,n=16", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "v=5,k=128,n=0", {exact}, "no columns: nothing may be touched");
  list.add(Tier::smoke, "v=5,k=0,n=133", {exact}, "nothing to sum: Y = +0, wider than a warp");
  list.add(Tier::smoke, "v=36,k=0,n=16,layout=wide", {exact},
           "nothing to sum where rows are whole vectors on 16 bytes");
  list.add(Tier::smoke, "v=1000,k=128,n=16", {exact, wide, index, real, positive, scaled, hostile},
           "the shape the ladder is about");
  list.add(Tier::smoke, "v=515,k=128,n=15", {exact, hostile}, "one less than the tile of columns");
  list.add(Tier::smoke, "v=101,k=1433,n=16", {exact, wide, real},
           "the features of Cora: W no longer fits near memory");
  list.add(Tier::smoke, "v=67,k=35,n=16,whole_first=1", {real},
           "the first half of W is whole numbers, the other is not");
  list.add(Tier::smoke, "v=65,k=65,n=65,same=1", {exact, real}, "X and W are one array");
  list.add(Tier::smoke, "v=67,k=100,n=150", {exact}, "W of 60,000 bytes in fp32, of 120,000 in fp64");
  list.add(Tier::smoke, "v=67,k=75,n=100", {exact}, "W of 60,000 bytes in fp64", {Dtype::f64});
  list.add(Tier::smoke, "v=67,k=150,n=150", {exact},
           "W of 90,000 bytes: more than a kernel may have asked for", {Dtype::f32});
  list.add(Tier::smoke, "v=67,k=100,n=112", {exact},
           "W of 89,600 bytes: more than a kernel may have asked for", {Dtype::f64});
  list.add_hostile(Tier::smoke, "v=67,k=41,n=19", 24, "every special value at every class of position");

  list.add_beyond_a_grid("v=524309,k=1,n=1");
  list.add(Tier::full, "v=281903,k=128,n=16", {exact, wide, real, positive, hostile},
           "the contest's product, ragged for every power of two");
  list.add(Tier::full, "v=281903,k=128,n=41", {exact, real}, "a ragged width at size");
  list.add(Tier::full, "v=1000003,k=64,n=8", {exact, index, real}, "a million rows, prime");
  list.add(Tier::stress, "v=16777259,k=128,n=16", {exact},
           "2,147,489,152 elements of X: a 32-bit row * ld wraps", {Dtype::f32});
  list.add_far_rows("v=7,k=6,n=5");
}

template <class T>
void SkinnyGemm::make(const Case& c, Instance<SkinnyGemm, T>& instance) {
  const std::int64_t v = c.integer("v"), k = c.integer("k"), n = c.integer("n");
  instance.in.X = make_dense<T>(instance.arena, v, k, c, Role::left, 1000);
  instance.in.W = make_second<T>(instance.arena, instance.in.X, k, n, c, Role::right, 2000);
  instance.out.Y = {nullptr, v, n, n};
  instance.degenerate = v * n <= 1 || k == 0;
}

template <class T>
void SkinnyGemm::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (in.X.cols != in.W.rows)
    throw Error(fmt::format("skinny_gemm: X has {} columns, W {} rows", in.X.cols, in.W.rows));
  if (out.Y.rows != in.X.rows)
    throw Error(fmt::format("skinny_gemm: Y has {} rows, X {} rows", out.Y.rows, in.X.rows));
  if (out.Y.cols != in.W.cols)
    throw Error(fmt::format("skinny_gemm: Y has {} columns, W {} columns", out.Y.cols, in.W.cols));
  const auto check_ld = [](const char* name, std::int64_t ld, std::int64_t cols) {
    if (ld < cols)
      throw Error(
          fmt::format("skinny_gemm: {} has leading dimension {}, less than its {} columns", name, ld, cols));
  };
  check_ld("X", in.X.ld, in.X.cols);
  check_ld("W", in.W.ld, in.W.cols);
  check_ld("Y", out.Y.ld, out.Y.cols);
}

template <class T>
void SkinnyGemm::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                        Reference& reference) {
  oracle_dense_product(T(1), in.X, in.W, T(0), out.Y, reference.outputs.emplace_back());
}

template <class T>
Work SkinnyGemm::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const auto v = static_cast<double>(in.X.rows), k = static_cast<double>(in.X.cols),
             n = static_cast<double>(in.W.cols);
  return {2 * v * k * n, v * k + k * n, v * n};
}

double SkinnyGemm::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  return sum_bound(t, value, magnitude, terms);
}

PLUMB_INSTANTIATE_OPERATOR(SkinnyGemm)

}  // namespace plumb
