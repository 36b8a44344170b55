// spmm: cases, data, oracle, bound and cost of the contract in spmm.hpp.
#include "reference/ops/spmm.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"

namespace plumb {

void Spmm::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows"})
      .extent("cols", {.role = "cols"})
      .extent("n", {.role = "width", .unrolled = true, .timed = timed_range(1, 256)})
      .layout({.sparse = true, .widths = {"n"}});
  space.timed_family(timed::graphs());
  space.timed_family(timed::sparse_networks());
  space.timed_family(timed::class_counts("n"));
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  const auto entries = [](const Point& p) { return expected_entries(p, "rows", "cols"); };
  space.work({.multiply_adds = [=](const Point& p) { return entries(p) * p["n"]; },
              .elements = [=](const Point& p) { return entries(p) + (p["rows"] + p["cols"]) * (p["n"] + 1); },
              .terms = [](const Point& p) { return longest_row(p, "rows", "cols"); }});
  space.alike({"rows", "cols"}).alike({"cols", "n"}).alike({"rows", "n"});
  space.count("entries", entries)
      .count("elements of B", [](const Point& p) { return p["cols"] * p["n"]; })
      .count("elements of C", [](const Point& p) { return p["rows"] * p["n"]; });
  space.one_case({"whole vectors", "n=16|32|40|128,layout=wide",
                  "kernels are made for these, where B and C allow vectors", Met::with_all});
  space.special("facing").special("equal", {"0", "1"}).special("ones", {"0", "1"});
  space.special("whole_first", {"0", "1"}).special("subnormal", {"0", "1"});
}

void Spmm::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "rows=301,cols=90,n=9,density=0.06");
  list.add(Tier::smoke, "rows=3,cols=7,n=5,density=1,facing=near_top", {real},
           "a result beside the largest number of its format: it stays finite");
  list.add_cancelling("rows=3,cols=8209,n=2,density=1");
  list.add(Tier::smoke, "rows=0,cols=5,n=4,density=0", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=5,cols=0,n=4,density=0", {exact}, "no columns: every row is empty");
  list.add(Tier::smoke, "rows=5,cols=7,n=0,density=0.5", {exact}, "no width: nothing may be touched");
  list.add(Tier::smoke, "rows=9,cols=7,n=5,density=1,pattern=unsorted", {exact},
           "rows of more entries than there are columns");
  list.add(Tier::smoke, "rows=37,cols=53,n=6,density=0", {exact, hostile},
           "nnz == 0: C = +0 even where B holds NaN");
  list.add(Tier::smoke, "rows=36,cols=36,n=36,density=0,layout=wide", {hostile},
           "nnz == 0 where rows are whole vectors on 16 bytes");
  list.add(Tier::smoke, "rows=255,cols=257,n=16,density=0.06", {exact, wide, real, scaled},
           "a GCN's hidden width");
  list.add(Tier::smoke, "rows=120,cols=150,n=31,density=0.3,pattern=banded,equal=1", {exact, scaled},
           "a graph without weights: equal values, neighbouring columns; and a column short of a warp");
  list.add(Tier::smoke, "rows=120,cols=150,n=20,density=0.1,ones=1", {exact, real},
           "a graph without weights: all values are 1, and B is in full precision");
  list.add(Tier::smoke, "rows=120,cols=150,n=20,density=0.1,whole_first=1", {real},
           "the first half of B is whole numbers, the other is not");
  list.add(Tier::smoke, "rows=300,cols=1500,n=33,density=0.004,pattern=giant", {exact, wide, real, positive},
           "one row holds everything: it spans threads and blocks of a non-zero split");
  list.add(Tier::smoke, "rows=700,cols=700,n=16,density=0.01,pattern=powerlaw", {exact, real, scaled},
           "skewed rows");
  list.add(Tier::smoke, "rows=600,cols=450,n=7,density=0.02,pattern=empty", {exact, real, hostile},
           "the first half and every third row empty: +0, also beside NaN in B");
  list.add(Tier::smoke, "rows=300,cols=300,n=32,density=0,pattern=arrow", {exact, real},
           "one full row before short ones");
  list.add(Tier::smoke, "rows=211,cols=223,n=20,density=0.05,subnormal=1", {real},
           "subnormal sums: an addition that flushes them to 0 shows");
  list.add(Tier::smoke, "rows=60,cols=1501,n=16,density=0.004,pattern=giant,subnormal=1", {real},
           "subnormal sums of a row in parts");

  list.add(Tier::smoke, "rows=12,cols=1500,n=41,density=0.4", {exact, real},
           "every row long enough to be cut, and nothing aligned");
  list.add(Tier::smoke, "rows=9,cols=1100,n=20,density=0.06,pattern=unsorted", {exact, hostile},
           "rows of 33 to 99: on both sides of where variants stage, batch and cut");
  list.add(Tier::smoke, "rows=2,cols=600000,n=1,density=0,pattern=arrow", {exact},
           "a row of more entries than parts of one length are kept for");
  for (const SizedMatrix& m : kSizedMatrices) {
    list.add(Tier::full, std::string(m.parameters) + ",n=32", {real}, m.why);
  }
  list.add_hostile(Tier::smoke, "rows=133,cols=67,n=37,density=0.05", 14,
                   "every special value at every class of position");
  list.add(Tier::full, "rows=65568,cols=67,n=33,density=0.005", {exact},
           "rows beyond 16 bits, and a second tile of columns: both in one word", {Dtype::f32});
  list.add(Tier::full, "rows=65536,cols=65536,n=32,density=0.0005", {exact, wide, real, positive, hostile},
           "32 per row");
  list.add(Tier::full, "rows=65536,cols=65536,n=41,density=0.0005", {exact, real}, "ragged width at size");
  list.add(Tier::full, "rows=60000,cols=1024,n=128,density=0.03125,pattern=banded", {exact, real},
           "a sparse layer, transposed");
  list.add(Tier::full, "rows=66463,cols=66463,n=64,density=0.0003,pattern=giant", {exact, real},
           "as mip1: one row of everything");
  list.add(Tier::full, "rows=2708,cols=2708,n=256,density=0.0018,pattern=powerlaw", {exact, real, positive},
           "cora sized, wide");
  list.add(Tier::stress, "rows=9000000,cols=9000000,n=256,density=0.0000003,pattern=uniform", {exact},
           "more than 2^31 elements of C: row * ld must be 64-bit", {Dtype::f32});
  list.add_beyond_a_grid("rows=524309,cols=3,n=1,density=0.2");
  list.add_far_rows("rows=7,cols=6,n=5,density=0.5");
}

template <class T>
void Spmm::make(const Case& c, Instance<Spmm, T>& instance) {
  Csr<T> a = make_sparse<T>(c, kMatrixStream);
  if (c.integer_or("subnormal", 0) != 0) make_subnormal(a.val.data(), a.nnz(), facts(c.dtype).in);
  const std::int64_t n = c.integer("n");
  instance.in.A = keep(instance.arena, a);
  T* b = instance.arena.template allocate<T>(a.cols * n);
  fill_values(b, a.cols, n, c, Role::right, 2000);
  put_facing(b, a.cols, n, c, Role::right);
  if (c.fill == Fill::hostile && a.cols > 0 && c.seed / 7 % 2 == 0) {  // the elements that padded slots read
    std::fill_n(b, n, std::numeric_limits<T>::quiet_NaN());
    std::fill_n(b + (a.cols - 1) * n, n, std::numeric_limits<T>::infinity());
  }
  instance.in.B = {b, a.cols, n, n};
  instance.out.C.rows = a.rows;
  instance.out.C.cols = instance.out.C.ld = n;
  instance.degenerate = a.rows * n <= 1 || a.nnz() == 0 || a.cols <= 1;
}

template <class T>
void Spmm::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  validate_csr(in.A, "A");
  if (in.B.rows != in.A.cols)
    throw Error(fmt::format("spmm: B has {} rows, A {} columns", in.B.rows, in.A.cols));
  if (out.C.rows != in.A.rows) throw Error(fmt::format("spmm: C has {} rows, A {}", out.C.rows, in.A.rows));
  if (out.C.cols != in.B.cols)
    throw Error(fmt::format("spmm: C has {} columns, B {}", out.C.cols, in.B.cols));
  if (in.B.ld < in.B.cols || out.C.ld < out.C.cols)
    throw Error("spmm: a leading dimension is less than the width");
}

template <class T>
void Spmm::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                  Reference& reference) {
  ReferenceArray& c = reference.outputs.emplace_back();
  const std::int64_t n = out.C.cols;
  c.resize(in.A.rows * n);
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    std::vector<OracleDot<T>> dots(static_cast<std::size_t>(n));
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      for (std::int64_t j = 0; j < n; ++j)
        dots[static_cast<std::size_t>(j)].add_product(in.A.val[k], in.B(in.A.col[k], j));
    }
    for (std::int64_t j = 0; j < n; ++j) c.take(i * n + j, dots[static_cast<std::size_t>(j)]);
  }
}

template <class T>
Work Spmm::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  std::vector<bool> used(static_cast<std::size_t>(in.A.cols));
  std::int64_t columns = 0;
  for (std::int64_t k = 0; k < in.A.nnz; ++k) {
    if (!used[static_cast<std::size_t>(in.A.col[k])])
      used[static_cast<std::size_t>(in.A.col[k])] = true, ++columns;
  }
  const auto rows = static_cast<double>(in.A.rows), nnz = static_cast<double>(in.A.nnz),
             n = static_cast<double>(in.B.cols);
  return {2 * nnz * n, nnz + n * static_cast<double>(columns), n * rows, 4 * nnz + 4 * (rows + 1)};
}

double Spmm::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  return sum_bound(t, value, magnitude, terms);
}

PLUMB_INSTANTIATE_OPERATOR(Spmm)

}  // namespace plumb
