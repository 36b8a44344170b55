// gemm: cases, data, oracle, bound and cost of the contract in gemm.hpp.
#include "reference/ops/gemm.hpp"

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/dense_products.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "reference/core/traffic.hpp"

namespace plumb {

void Gemm::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("m", {.role = "rows", .timed = timed_size(16, 65536)})
      .extent("n", {.role = "width", .timed = timed_size(16, 65536, "m", 0.5)})
      .extent("k", {.role = "depth", .unrolled = true, .timed = timed_size(16, 65536, "m", 0.5)})
      .layout({.widths = {"n", "k"}})
      .words("alpha", {"1"}, {.factor = true})
      .words("beta", {"0"}, {.factor = true})
      .words("zeros", {"0", "0.5"});
  space.timed_family(timed::transformers("n", "k"));
  space.timed_family(timed::classifiers("n", "k"));
  space.timed_family(timed::class_counts("n"));
  space.timed_family(timed::thin("m", "n"));
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  space.work({.multiply_adds = [](const Point& p) { return p["m"] * p["n"] * p["k"]; },
              .elements = [](const Point& p) { return p["m"] * p["k"] + p["k"] * p["n"] + p["m"] * p["n"]; },
              .terms = [](const Point& p) { return p["k"]; }});
  space.hides("alpha", {"zero", "minus zero"});
  space.alike({"m", "n", "k"}).alike({"m", "n"}).alike({"n", "k"}).alike({"m", "k"});
  space.count("elements of A", [](const Point& p) { return p["m"] * p["k"]; })
      .count("elements of B", [](const Point& p) { return p["k"] * p["n"]; })
      .count("elements of C", [](const Point& p) { return p["m"] * p["n"]; });
  space.special("facing").special("whole_first", {"0", "1"});
}

void Gemm::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "m=48,n=37,k=35");
  add_looks(list, "m=5,n=9,k=520");
  list.add_cancelling("m=3,n=2,k=8209");
  list.add(Tier::smoke, "m=0,n=5,k=4", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "m=5,n=0,k=4", {exact}, "no columns: nothing may be touched");
  list.add(Tier::smoke, "m=7,n=133,k=0", {exact}, "nothing to sum: C = +0, wider than tiles");
  list.add(Tier::smoke, "m=7,n=133,k=0,alpha=1,beta=2", {exact, real}, "nothing to sum: C = beta C");
  list.add(Tier::smoke, "m=1,n=3,k=65537,alpha=1,beta=1.2345679e-200", {real},
           "more terms than 16 bits count, and a beta that narrower types take for 0", {Dtype::f64});
  list.add(Tier::smoke, "m=129,n=1,k=64", {exact, real}, "one column");
  list.add(Tier::smoke, "m=64,n=65,k=1", {exact, real}, "an outer product");
  list.add(Tier::smoke, "m=31,n=33,k=32", {exact, index, real, hostile},
           "one less and one more than a tile of 32");
  list.add(Tier::smoke, "m=32,n=32,k=87", {exact, wide, real, positive},
           "5 * 16 + 7: K ends inside a tile, an odd number of them");
  list.add(Tier::smoke, "m=63,n=65,k=64", {exact, scaled}, "one less and one more than a tile of 64");
  list.add(Tier::smoke, "m=65,n=63,k=65,alpha=0.5,beta=2", {exact, real, hostile},
           "ragged in each dimension, C read and scaled");
  list.add(Tier::smoke, "m=129,n=127,k=63", {exact, wide, hostile},
           "one more and one less than a tile of 128");
  list.add(Tier::smoke, "m=211,n=7,k=37", {exact, index, scaled}, "tall");
  list.add(Tier::smoke, "m=13,n=20,k=1009", {exact},
           "long and prime in K: many blocks of it; rows of B on 16 bytes in some runs, as copy engines want "
           "them");
  list.add(Tier::smoke, "m=13,n=17,k=509", {wide, real, positive}, "drift along K, and several blocks of it");
  list.add(Tier::smoke, "m=37,n=41,k=43,alpha=-1,beta=1", {exact, real}, "the update of a factorisation");
  list.add(Tier::smoke, "m=37,n=41,k=43,alpha=0,beta=0", {exact, hostile},
           "alpha == 0: zeros, even where A and B hold NaN");
  list.add(Tier::smoke, "m=37,n=41,k=43,alpha=0,beta=2", {exact},
           "alpha == 0: C is scaled, A and B are not read");
  list.add(Tier::smoke, "m=19,n=21,k=23,alpha=0,beta=0.7310586", {hostile},
           "alpha == 0: beta alone, a fraction that no narrower type holds");
  list.add(Tier::smoke, "m=303,n=301,k=1,alpha=0.5", {hostile},
           "subnormals beside infinities: alpha must not be worked into an operand");
  list.add(Tier::smoke, "m=65,n=63,k=65,zeros=0.5", {real, hostile},
           "A as after a ReLU: a zero that is skipped loses the NaN or Inf beside it");
  list.add(Tier::smoke, "m=3,n=2,k=4099,alpha=-1,beta=2049", {scaled},
           "C far above the product: a kernel may start at beta C, and round at its size k times");
  list.add(Tier::smoke, "m=163,n=32,k=2,alpha=2049,beta=1,zeros=0.5", {hostile},
           "alpha multiplies what products lost to underflow");
  list.add(Tier::smoke, "m=33,n=37,k=35,whole_first=1", {real},
           "the first half of B is whole numbers, the other is not");
  list.add(Tier::smoke, "m=67,n=67,k=67,same=1", {exact, real},
           "A and B are one array: the square of a matrix");
  list.add(Tier::smoke, "m=9,n=11,k=7,alpha=1.2e-40,beta=1.3e-40,facing=large", {real},
           "scalars below the normal numbers are none of them zero", {Dtype::f32});
  list.add(Tier::smoke, "m=9,n=11,k=7,alpha=1.2e-310,beta=1.3e-310,facing=large", {real},
           "scalars below the normal numbers are none of them zero", {Dtype::f64});
  for (const char* const beta : {"0", "0.7310586"})
    list.add(Tier::smoke, fmt::format("m=36,n=36,k=36,alpha=0,beta={},layout=wide", beta), {hostile},
             "alpha == 0 where rows are whole vectors on 16 bytes: neither A nor B is read");
  list.add(Tier::smoke, "m=36,n=36,k=0,alpha=1,beta=2,layout=wide", {real},
           "nothing to sum where rows are whole vectors on 16 bytes");
  list.add_hostile(
      Tier::smoke, "m=1,n=9,k=211,alpha=1.2345679e-30", 3,
      "one row, for which libraries multiply an operand by alpha: tiny becomes 0, and that times Inf NaN");
  list.add(Tier::smoke, "m=33,n=35,k=19,alpha=7.703719777548943e-34,beta=123456.79", {scaled},
           "alpha is a power of two: beta / alpha is finite, and times C it is not", {Dtype::f32});
  list.add(Tier::smoke, "m=33,n=35,k=19,alpha=9.332636185032189e-302,beta=123456.79", {scaled},
           "alpha is a power of two: beta / alpha is finite, and times C it is not", {Dtype::f64});
  list.add_hostile(Tier::smoke, "m=35,n=37,k=41,alpha=0.5,beta=2", 7,
                   "every special value at every class of position");

  list.add_beyond_a_grid("m=524309,n=1,k=1");
  list.add_beyond_a_grid("m=1,n=524309,k=1");
  list.add(Tier::full, "m=1022,n=1022,k=1022", {exact, wide, real, positive, hostile},
           "the classical ladder, two short of 1024");
  list.add(Tier::full, "m=2044,n=2044,k=2044", {exact, real}, "the classical ladder");
  list.add(Tier::full, "m=3135,n=3135,k=3135", {exact, real},
           "the classical ladder, odd: no vector load is aligned");
  list.add(Tier::full, "m=1000,n=1000,k=1000,alpha=2,beta=-1", {exact, real, scaled},
           "the classical sweep, C read");
  list.add(Tier::full, "m=8,n=8,k=200000", {exact, real, positive},
           "nothing but K: only a split over K occupies a device");
  list.add(Tier::full, "m=20011,n=24,k=40", {exact, index, real}, "tall and thin");
  list.add(Tier::full, "m=24,n=20011,k=40", {exact, index, real}, "short and wide");
  list.add(Tier::stress, "m=4088,n=4088,k=4088", {exact, real}, "the classical ladder");
  list.add(Tier::stress, "m=6132,n=6132,k=6132", {exact, real}, "the classical ladder");
  list.add(Tier::stress, "m=8176,n=8176,k=8176", {exact, real}, "the classical ladder");
  list.add(Tier::stress, "m=1048583,n=2,k=2053", {exact},
           "2,152,740,899 elements of A: a 32-bit row * ld wraps", {Dtype::f32});
  list.add_far_rows("m=7,n=6,k=5,alpha=1,beta=1");
}

template <class T>
void Gemm::make(const Case& c, Instance<Gemm, T>& instance) {
  const std::int64_t m = c.integer("m"), n = c.integer("n"), k = c.integer("k");
  instance.problem = {static_cast<T>(c.number_or("alpha", 1)), static_cast<T>(c.number_or("beta", 0))};
  T* a = instance.arena.template allocate<T>(m * k);
  fill_values(a, m, k, c, Role::left, 1000);
  const double zeros = c.number_or("zeros", 0);  // the part of A's elements that are 0
  for (std::int64_t i = 0; zeros > 0 && i < m * k; ++i) {
    if (random_unit(c.seed, 1200, static_cast<std::uint64_t>(i)) < zeros) a[i] = 0;
  }
  put_facing(a, m, k, c, Role::left);
  instance.in.A = {a, m, k, k};
  instance.in.B = make_second<T>(instance.arena, instance.in.A, k, n, c, Role::right, 2000);
  instance.out.C = {nullptr, m, n, n};
  if (instance.problem.beta != T(0)) {
    T* data = instance.arena.template allocate<T>(m * n);
    fill_values(data, m, n, c, Role::addend, 3000);
    put_facing(data, m, n, c, Role::addend);
    instance.out.C.data = data;
  }
  instance.degenerate =
      m * n <= 1 || ((k == 0 || instance.problem.alpha == T(0)) && instance.problem.beta == T(0));
}

template <class T>
void Gemm::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (in.A.cols != in.B.rows)
    throw Error(fmt::format("gemm: A has {} columns, B {} rows", in.A.cols, in.B.rows));
  if (out.C.rows != in.A.rows)
    throw Error(fmt::format("gemm: C has {} rows, A {} rows", out.C.rows, in.A.rows));
  if (out.C.cols != in.B.cols)
    throw Error(fmt::format("gemm: C has {} columns, B {} columns", out.C.cols, in.B.cols));
  const auto check_ld = [](const char* name, std::int64_t ld, std::int64_t cols) {
    if (ld < cols)
      throw Error(fmt::format("gemm: {} has leading dimension {}, less than its {} columns", name, ld, cols));
  };
  check_ld("A", in.A.ld, in.A.cols);
  check_ld("B", in.B.ld, in.B.cols);
  check_ld("C", out.C.ld, out.C.cols);
}

template <class T>
void Gemm::oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                  Reference& reference) {
  oracle_dense_product(p.alpha, in.A, in.B, p.beta, out.C, reference.outputs.emplace_back());
}

template <class T>
Work Gemm::cost(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const auto m = static_cast<double>(in.A.rows), k = static_cast<double>(in.A.cols),
             n = static_cast<double>(in.B.cols);
  const bool adds = p.alpha != T(0) && k > 0;
  const double operands = adds ? m * k + k * n : 0;
  return {adds ? 2 * m * n * k : 0, operands, moves_of_result(p.beta, adds) * m * n};
}

double Gemm::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  return sum_bound(t, value, magnitude, terms);
}

PLUMB_INSTANTIATE_OPERATOR(Gemm)

}  // namespace plumb
