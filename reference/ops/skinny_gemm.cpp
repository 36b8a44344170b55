// skinny_gemm: cases, data, oracle, bound and cost of the contract in skinny_gemm.hpp.
#include "reference/ops/skinny_gemm.hpp"

#include <fmt/format.h>

#include "reference/core/case_space.hpp"
#include "reference/core/dense_products.hpp"
#include "reference/core/error.hpp"
#include "reference/core/fills.hpp"
#include "reference/core/operator.hpp"
#include "reference/core/sparse_cases.hpp"

namespace plumb {

void SkinnyGemm::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("v").extent("k").extent("n");
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  space.terms([](const Point& p) { return p["k"]; });
  space.work([](const Point& p) { return p["v"] * p["n"] * p["k"]; },
             [](const Point& p) { return p["v"] * p["k"] + p["k"] * p["n"] + p["v"] * p["n"]; });
  space.alike({"v", "k"}).alike({"k", "n"}).alike({"v", "n"});
  space.count("elements of X", [](const Point& p) { return p["v"] * p["k"]; })
      .count("elements of W", [](const Point& p) { return p["k"] * p["n"]; })
      .count("elements of Y", [](const Point& p) { return p["v"] * p["n"]; });
  // kernels are made for these, where X is read in bulk
  for (const char* const k : {"64", "128"})
    space.form(fmt::format("k on 16 bytes, {}", k), "whole lines", {{"k", k}, {"layout", "wide"}});
  space.rounds_of_rows("v", "k").large_on_16_bytes({"v", "n"}, {{"k", "4"}}).large_on_16_bytes({"k"});
  space.beside_on_16_bytes("k", {64, 128}).one_array_narrow({{"v", "36"}, {"k", "36"}, {"n", "16"}});
  space.one_array_narrow({{"v", "604"}, {"k", "4"}, {"n", "4"}}, "tall");
  // X can be read in bulk, and ends within a line
  space.one_case("k on 16 bytes", "whole vectors and no whole line",
                 {{"v", "67"}, {"k", "100"}, {"n", "16"}, {"layout", "wide"}});
  space.on_8_bytes({{"v", "36"}, {"k", "36"}, {"n", "16"}})
      .rows_on_pages({{"v", "100"}, {"k", "41"}, {"n", "19"}});
  space.whole_blocks({"k"})
      .few_beyond_blocks("k", {{"v", "37"}, {"n", "3"}})
      .few_beyond_blocks("v", {{"k", "5"}, {"n", "3"}});
  space.reciprocal_rounded_down("n", {{"v", "3"}, {"k", "2"}});
  space.made_for("n", {2, 4, 8, 16, 32, 64}, {{"v", "67"}, {"k", "41"}});
  space.rests_of_four({"k"});
  space.dense({"k", "n"}).facing().special("whole_first", {"0", "1"});
  space.timed_size("v", 1000, 8'000'000).timed_range("k", 8, 512).timed_range("n", 1, 64);
}

void SkinnyGemm::cases(CaseList& list) {
  using enum Fill;
  list.add_cancelling("v=3,k=8209,n=2");
  list.add(Tier::smoke, "v=0,k=128,n=16", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "v=5,k=128,n=0", {exact}, "no columns: nothing may be touched");
  list.add(Tier::smoke, "v=5,k=0,n=133", {exact}, "nothing to sum: Y = +0, wider than a warp");
  list.add(Tier::smoke, "v=36,k=0,n=16,layout=wide", {exact},
           "nothing to sum where rows are whole vectors on 16 bytes");
  list.add(Tier::smoke, "v=1,k=128,n=16", {exact, real}, "one row");
  list.add(Tier::smoke, "v=1000,k=128,n=16", {exact, wide, index, real, positive, scaled, hostile},
           "the shape the ladder is about");
  list.add(Tier::smoke, "v=1024,k=128,n=16", {exact, real}, "whole blocks only");
  list.add(Tier::smoke, "v=255,k=128,n=16", {exact, hostile}, "one less than a block of 256 rows");
  list.add(Tier::smoke, "v=257,k=128,n=16", {exact, real},
           "one more: threads of the last block leave before a barrier");
  list.add(Tier::smoke, "v=515,k=128,n=1", {exact, real}, "one column");
  list.add(Tier::smoke, "v=515,k=128,n=3", {exact, index}, "less than a vector");
  list.add(Tier::smoke, "v=515,k=128,n=7", {exact, real}, "a prime width: seven classes");
  list.add(Tier::smoke, "v=515,k=128,n=15", {exact, hostile}, "one less than the tile of columns");
  list.add(Tier::smoke, "v=515,k=128,n=17", {exact, real}, "one more than the tile of columns");
  list.add(Tier::smoke, "v=333,k=128,n=32", {exact, real}, "two tiles of columns");
  list.add(Tier::smoke, "v=333,k=128,n=41", {exact, real},
           "columns beyond a multiple of 16 are lost by a careless tile");
  list.add(Tier::smoke, "v=333,k=128,n=64", {exact, real}, "the widest");
  list.add(Tier::smoke, "v=333,k=1,n=16", {exact, real}, "an outer product");
  list.add(Tier::smoke, "v=333,k=15,n=16", {exact, real}, "K one less than its tile");
  list.add(Tier::smoke, "v=333,k=17,n=16", {exact, wide, real}, "K one more than its tile");
  list.add(Tier::smoke, "v=333,k=100,n=24", {exact, real, positive}, "K ends inside a tile");
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
  list.add(Tier::smoke, "v=41,n=7,k=11,facing=rows_small", {real},
           "rows down to the smallest numbers face large ones: exponents in a byte, lower halves of digits");
  for (const char* const shape : {"v=9,n=11,k=37", "v=5,n=4,k=300"}) {
    for (const char* const facing : {"zeros", "run_of_zeros"})
      list.add(Tier::smoke, fmt::format("{},facing={}", shape, facing), {real},
               "0 times NaN or an infinity alone makes an answer NaN: a zero that is passed over, in short "
               "rows or in long ones");
  }

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
