// spmv: cases, data, oracle, bound and cost of the contract in spmv.hpp.
#include "reference/ops/spmv.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/special_values.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/traffic.hpp"

namespace plumb {

void Spmv::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows"}).extent("cols", {.role = "cols"}).layout({.sparse = true});
  space.words("alpha", {"1"}, {.factor = true})
      .words("beta", {"0"}, {.factor = true, .timed = timed_words({"0", "0", "1"})});
  space.timed_family(timed::graphs());
  space.timed_family(timed::sparse_networks());
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  const auto entries = [](const Point& p) { return expected_entries(p, "rows", "cols"); };
  space.work({.multiply_adds = entries,
              .elements = [=](const Point& p) { return entries(p) + p["rows"] + p["cols"]; },
              .terms = [](const Point& p) { return longest_row(p, "rows", "cols"); }});
  space.hides("alpha", {"zero", "minus zero"}).alike({"rows", "cols"}).count("entries", entries);
  space.special("facing").special("equal", {"0", "1"}).special("ones", {"0", "1"});
  space.special("subnormal", {"0", "1"}, "alpha=1,beta=0");
}

void Spmv::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "rows=301,cols=90,density=0.06");
  list.add_cancelling("rows=3,cols=8209,density=1");
  list.add(Tier::smoke, "rows=0,cols=5,density=0", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=5,cols=0,density=0", {exact}, "no columns: every row is empty");
  list.add(Tier::smoke, "rows=1,cols=1,density=1", {exact, real}, "the smallest product");
  list.add(Tier::smoke, "rows=37,cols=53,density=0", {exact, hostile},
           "nnz == 0: y = +0 even where x holds NaN");
  list.add(Tier::smoke, "rows=219,cols=85,density=0.024", {exact, index, real, hostile},
           "tall, two entries per row (as ash219)");
  list.add(Tier::smoke, "rows=85,cols=219,density=0.1", {exact, real, scaled}, "wide");
  list.add(Tier::smoke, "rows=255,cols=255,density=0.12", {exact, wide, real, positive},
           "one less than a block of 256 rows");
  list.add(Tier::smoke, "rows=257,cols=511,density=0.07", {exact, hostile}, "one more than a block");
  list.add(Tier::smoke, "rows=1009,cols=1013,density=0.03,alpha=2,beta=-1", {exact, real},
           "prime sizes, y read and scaled");
  list.add(Tier::smoke, "rows=1009,cols=1013,density=0.03,alpha=0,beta=1", {exact, real},
           "alpha == 0 leaves y");
  list.add(Tier::smoke, "rows=219,cols=85,density=0.1,alpha=0,beta=0", {exact, hostile},
           "alpha == 0: zeros, even where A and x hold NaN");
  list.add(Tier::smoke, "rows=219,cols=85,density=0.1,alpha=0,beta=2", {exact},
           "alpha == 0: y is scaled, NaN in A and x does not count");
  list.add(Tier::smoke, "rows=219,cols=85,density=0.1,alpha=0,beta=0.7310586", {hostile},
           "alpha == 0: beta alone, a fraction that no narrower type holds");
  list.add(Tier::smoke, "rows=36,cols=36,density=0.1,alpha=0,beta=0.7310586,layout=wide", {hostile},
           "alpha == 0 where y is whole vectors on 16 bytes");
  list.add(Tier::smoke, "rows=11,cols=1100,density=0.4,alpha=0,beta=2", {exact, hostile},
           "alpha == 0 where rows have more entries than a block has threads");
  list.add(Tier::smoke, "rows=400,cols=4000,density=0.003,pattern=giant,alpha=0,beta=2", {hostile},
           "alpha == 0, also where a row's parts are added to y");
  list.add(Tier::smoke, "rows=219,cols=85,density=0.1,alpha=0.5,beta=2", {hostile},
           "NaN and infinities in y propagate where beta is not 0");
  list.add(Tier::smoke, "rows=701,cols=499,density=0.02,subnormal=1", {real},
           "subnormal sums: an addition that flushes them to 0 shows");
  list.add(Tier::smoke, "rows=40,cols=4001,density=0.004,pattern=giant,subnormal=1", {real},
           "subnormal sums of a row in parts");
  list.add(Tier::smoke, "rows=300,cols=400,density=0.05,pattern=banded,equal=1", {exact, scaled},
           "a graph without weights: equal values, neighbouring columns, an x of many scales");
  list.add(Tier::smoke, "rows=257,cols=300,density=0.05,pattern=banded,ones=1", {exact, real},
           "a graph without weights: all values are 1, and x is in full precision");
  list.add(Tier::smoke, "rows=600,cols=4000,density=0.003,pattern=giant", {exact, wide, real, positive},
           "one row holds everything: it spans blocks of a non-zero split");
  list.add(Tier::smoke, "rows=1500,cols=1500,density=0.008,pattern=powerlaw", {exact, real, scaled},
           "skewed rows");
  list.add(Tier::smoke, "rows=1200,cols=900,density=0.01,pattern=empty", {exact, real, hostile},
           "the first half and every third row empty: an adaptive split divides by zero");
  list.add(Tier::smoke, "rows=400,cols=300,density=0.05,pattern=unsorted", {exact, index, real, hostile},
           "columns unsorted and repeated");
  for (const char* where : {"first", "middle", "last"}) {
    list.add(Tier::smoke, fmt::format("rows=300,cols=300,density=0.02,pattern=repeat_{}", where), {exact},
             "one repeated column: a format with one place per row and column must decline");
  }
  list.add(Tier::smoke, "rows=2000,cols=2000,density=0.0035,pattern=banded", {exact, real},
           "regular short rows, local columns");
  list.add(Tier::smoke, "rows=777,cols=777,density=0,pattern=diagonal", {exact, index}, "one entry per row");
  list.add(Tier::smoke, "rows=1000,cols=1000,density=0,pattern=stencil", {exact, real},
           "short rows of a grid whose last line is cut");
  list.add(Tier::smoke, "rows=900,cols=900,density=0,pattern=arrow", {exact, real},
           "one full row before short ones");
  list.add(Tier::smoke, "rows=1100,cols=700,density=0.012,pattern=rmat", {exact, real},
           "rows and columns skewed");
  list.add(Tier::smoke, "rows=300007,cols=3,density=0.2", {real},
           "the number of rows by fours is beyond 16 bits");
  list.add(Tier::smoke, "rows=3,cols=20000,density=0.9", {exact, real}, "long rows only, fewer than cores");
  list.add(Tier::smoke, "rows=300,cols=6000,density=0.02", {real},
           "part of x and static buffers share 48 KiB on a small device: neither exceeds it alone");
  list.add(Tier::smoke, "rows=67,cols=41,density=0.2,alpha=7.703719777548943e-34,beta=123456.79", {scaled},
           "alpha is a power of two: beta / alpha is finite, and times y it is not", {Dtype::f32});
  list.add(Tier::smoke, "rows=67,cols=41,density=0.2,alpha=9.332636185032189e-302,beta=123456.79", {scaled},
           "alpha is a power of two: beta / alpha is finite, and times y it is not", {Dtype::f64});
  list.add_hostile(Tier::smoke, "rows=133,cols=67,density=0.05,alpha=0.5,beta=2", 14,
                   "every special value at every class of position");
  list.add_hostile(Tier::smoke, "rows=67,cols=41,density=0.1", 7,
                   "the same without scalars: y is not read, and the sum is the answer");
  list.add(Tier::smoke, "rows=9,cols=7,density=0.5,alpha=1.2e-40,beta=1.3e-40,facing=large", {real},
           "scalars below the normal numbers are none of them zero", {Dtype::f32});
  list.add(Tier::smoke, "rows=9,cols=7,density=0.5,alpha=1.2e-310,beta=1.3e-310,facing=large", {real},
           "scalars below the normal numbers are none of them zero", {Dtype::f64});

  list.add(Tier::full, "rows=6000,cols=6000,density=0.02", {real},
           "part of x and static buffers share 48 KiB on a large device: neither exceeds it alone");
  list.add(Tier::full, "rows=65536,cols=65536,density=0.0005", {exact, wide, real, positive, hostile},
           "every fill at size");
  for (const SizedMatrix& m : kSizedMatrices) {
    if (m.exact) list.add(Tier::full, m.parameters, {exact}, m.why);
    list.add(Tier::full, m.parameters, {real}, m.why);
  }
  list.add(Tier::full, "rows=1000000,cols=1000000,density=0,pattern=diagonal", {exact},
           "a million rows of one entry");
  list.add(Tier::stress, "rows=4194304,cols=4194304,density=0.0000114,pattern=powerlaw", {exact, real},
           "200 M entries");
}

template <class T>
void Spmv::make(const Case& c, Instance<Spmv, T>& instance) {
  Csr<T> a = make_sparse<T>(c, kMatrixStream);
  if (c.integer_or("subnormal", 0) != 0) make_subnormal(a.val.data(), a.nnz(), facts(c.dtype).in);
  instance.in.A = keep(instance.arena, a);
  T* x = instance.arena.template allocate<T>(a.cols);
  fill_values(x, a.cols, 1, c, Role::right, 2000);
  put_facing(x, a.cols, 1, c, Role::right);
  if (c.fill == Fill::hostile && a.cols > 0) {
    place_specials(x, a.cols, 1, c, Role::addend, 2001);  // each spoils the few rows that have its column
    if (c.seed / 7 % 2 == 0) {                            // the elements that padded slots read
      x[0] = std::numeric_limits<T>::quiet_NaN();
      x[a.cols - 1] = std::numeric_limits<T>::infinity();
    }
  }
  instance.in.x = {x, a.cols};
  instance.problem = {static_cast<T>(c.number_or("alpha", 1)), static_cast<T>(c.number_or("beta", 0))};
  instance.out.y.size = a.rows;
  if (instance.problem.beta != T(0)) {
    T* y = instance.arena.template allocate<T>(a.rows);
    fill_values(y, a.rows, 1, c, Role::addend, 3000);
    put_facing(y, a.rows, 1, c, Role::addend);
    if (c.fill == Fill::hostile) place_addend_specials(y, a, c.seed, 3000, facts(c.dtype).out);
    instance.out.y.data = y;
  }
  const bool zeros = instance.problem.alpha == T(0) && instance.problem.beta == T(0);
  instance.degenerate = a.rows <= 1 || a.nnz() == 0 || a.cols <= 1 || zeros;
}

template <class T>
void Spmv::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  validate_csr(in.A, "A");
  if (in.x.size != in.A.cols)
    throw Error(fmt::format("spmv: x has {} elements, A {} columns", in.x.size, in.A.cols));
  if (out.y.size != in.A.rows)
    throw Error(fmt::format("spmv: y has {} elements, A {} rows", out.y.size, in.A.rows));
}

template <class T>
void Spmv::oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                  Reference& reference) {
  ReferenceArray& y = reference.outputs.emplace_back();
  y.resize(in.A.rows);
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    OracleDot<T> products;
    const std::int32_t begin = in.A.row_ptr[i], end = p.alpha == T(0) ? begin : in.A.row_ptr[i + 1];
    for (std::int32_t k = begin; k < end; ++k) products.add_product(in.A.val[k], in.x[in.A.col[k]]);
    // alpha multiplies the sum, not the entries: 0.5 times a subnormal entry would be 0, and 0 * Inf a NaN
    const auto at = static_cast<std::size_t>(i);
    const double alpha = static_cast<double>(p.alpha),
                 beta_y = p.beta == T(0) ? 0 : static_cast<double>(p.beta) * static_cast<double>(out.y[i]);
    y.value[at] = p.beta == T(0) ? alpha * products.value() : alpha * products.value() + beta_y;
    y.magnitude[at] = affine_magnitude<T>(alpha, products.magnitude(), beta_y, products.terms());
    y.terms[at] = static_cast<std::int32_t>(products.terms()) + (p.beta == T(0) ? 0 : 1);
  }
}

template <class T>
Work Spmv::cost(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const auto rows = static_cast<double>(in.A.rows), nnz = static_cast<double>(in.A.nnz);
  if (p.alpha == T(0)) return {0, 0, moves_of_result(p.beta, false) * rows};
  std::vector<bool> used(static_cast<std::size_t>(in.A.cols));
  std::int64_t columns = 0, filled = 0;
  for (std::int64_t k = 0; k < in.A.nnz; ++k) {
    if (!used[static_cast<std::size_t>(in.A.col[k])])
      used[static_cast<std::size_t>(in.A.col[k])] = true, ++columns;
  }
  for (std::int64_t i = 0; i < in.A.rows; ++i) filled += in.A.row_ptr[i + 1] > in.A.row_ptr[i];
  const double sums = static_cast<double>(filled);
  const double y_traffic =
      moves_of_result(p.beta, true) * sums + moves_of_result(p.beta, false) * (rows - sums);
  return {2 * nnz, nnz + static_cast<double>(columns), y_traffic, 4 * nnz + 4 * (rows + 1)};
}

double Spmv::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  return sum_bound(t, value, magnitude, terms);
}

PLUMB_INSTANTIATE_OPERATOR(Spmv)

}  // namespace plumb
