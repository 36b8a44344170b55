// sddmm: cases, data, oracle, bound and cost of the contract in sddmm.hpp.
#include "reference/ops/sddmm.hpp"

#include <fmt/format.h>

#include <vector>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"

namespace plumb {

void Sddmm::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows"})
      .extent("cols", {.role = "cols"})
      .extent("k", {.role = "depth", .unrolled = true, .timed = timed_range(8, 256)})
      .layout({.sparse = true, .widths = {"k"}});
  space.timed_family(timed::graphs());
  space.fills({exact, wide, index, real, positive, scaled, hostile, few});
  const auto entries = [](const Point& p) { return expected_entries(p, "rows", "cols"); };
  space.work({.multiply_adds = [=](const Point& p) { return entries(p) * p["k"]; },
              .elements = [=](const Point& p) { return entries(p) + (p["rows"] + p["cols"]) * (p["k"] + 1); },
              .terms = [](const Point& p) { return p["k"]; }});
  space.alike({"rows", "cols"}).alike({"cols", "k"}).alike({"rows", "k"});
  space.count("entries", entries)
      .count("elements of X", [](const Point& p) { return p["rows"] * p["k"]; })
      .count("elements of Y", [](const Point& p) { return p["cols"] * p["k"]; });
  space.one_case({"a line or more", "k=16|32|64|128,layout=wide",
                  "kernels are made for these, where X and Y allow vectors", Met::with_all});
  space.special("facing").special("subnormal", {"0", "1"});
}

void Sddmm::cases(CaseList& list) {
  using enum Fill;
  add_looks(list, "rows=67,cols=90,k=33,density=0.06");
  list.add(Tier::smoke, "rows=3,cols=5,k=9,density=1,facing=near_top", {real},
           "a result beside the largest number of its format: it stays finite");
  list.add_cancelling("rows=3,cols=2,k=8209,density=1");
  list.add(Tier::smoke, "rows=0,cols=5,k=4,density=0", {exact}, "no rows: no entries");
  list.add(Tier::smoke, "rows=5,cols=7,k=4,density=0", {exact, hostile},
           "no entries: nothing may be touched");
  list.add(Tier::smoke, "rows=9,cols=37,k=0,density=0.5", {exact}, "empty products: +0 everywhere");
  list.add(Tier::smoke, "rows=36,cols=36,k=0,density=0.2,layout=wide", {exact},
           "empty products where all arrays lie on 16 bytes");
  list.add(Tier::smoke, "rows=255,cols=257,k=16,density=0.06", {exact, wide, real, scaled},
           "a GCN's hidden width");
  list.add(Tier::smoke, "rows=700,cols=700,k=16,density=0.01,pattern=powerlaw", {exact, real}, "skewed rows");
  list.add(Tier::smoke, "rows=200,cols=150,k=40,density=0.06,pattern=unsorted", {exact, real},
           "repeated columns: each gets the whole product");
  list.add(Tier::smoke, "rows=300,cols=300,k=32,density=0,pattern=arrow", {exact, real},
           "one full row before short ones");
  list.add(Tier::smoke, "rows=301,cols=301,k=40,density=0.1,pattern=banded", {exact, real, hostile},
           "neighbouring rows share their columns");
  list.add(Tier::smoke, "rows=211,cols=223,k=40,density=0.05,subnormal=1", {real},
           "subnormal sums: an addition that flushes them to 0 shows");
  list.add(Tier::smoke, "rows=67,cols=67,k=35,density=0.2,same=1", {exact, real},
           "X and Y are one array, and the pattern is not symmetric");

  for (const SizedMatrix& m : kSizedMatrices) {
    list.add(Tier::full, std::string(m.parameters) + ",k=32", {real}, m.why);
  }
  list.add_hostile(Tier::smoke, "rows=67,cols=35,k=37,density=0.1", 14,
                   "every special value at every class of position");
  list.add(Tier::full, std::string(kSizedMatrices[0].parameters) + ",k=128", {real},
           "Y three times the size of the cache, and often used");
  list.add(Tier::full, "rows=65536,cols=65536,k=64,density=0.0005", {exact, wide, real, positive, hostile},
           "32 per row");
  list.add(Tier::full, "rows=4096,cols=4096,k=128,density=0.1", {exact, real},
           "sparse attention, ten per cent kept");
  list.add(Tier::full, "rows=66463,cols=66463,k=41,density=0.0003,pattern=giant", {exact, real},
           "one row of everything, ragged k");
  list.add_far_rows("rows=7,cols=6,k=5,density=0.5");
}

namespace {

// A matrix whose rows each hold one value.
template <class T>
DenseView<const T, Space::host> make_rows_of_one(Arena& arena, std::int64_t rows, std::int64_t cols,
                                                 const Case& c, std::uint64_t stream) {
  T* const data = arena.allocate<T>(rows * cols);
  fill_values(data, rows, cols, c, Role::right, stream);
  for (std::int64_t i = 0; i < rows; ++i) make_equal(data + i * cols, cols);
  return {data, rows, cols, cols};
}

}  // namespace

template <class T>
void Sddmm::make(const Case& c, Instance<Sddmm, T>& instance) {
  const Csr<T> a = make_sparse<T>(c, kMatrixStream);
  const std::int64_t k = c.integer("k");
  instance.in.A = keep(instance.arena, a);
  T* x = instance.arena.template allocate<T>(a.rows * k);
  fill_values(x, a.rows, k, c, Role::left, 2000);
  put_facing(x, a.rows, k, c, Role::left);
  if (c.integer_or("subnormal", 0) != 0) make_subnormal(x, a.rows * k, facts(c.dtype).in);
  instance.in.X = {x, a.rows, k, k};
  // a sum runs along a row of Y: there few values are few, and what meets terms that cancel is one value
  const Role of_y = c.fill == Fill::few ? Role::left : Role::right;
  instance.in.Y = c.text_or("facing", "") == "cancels"
                      ? make_rows_of_one<T>(instance.arena, a.cols, k, c, 3000)
                      : make_second<T>(instance.arena, instance.in.X, a.cols, k, c, of_y, 3000);
  instance.out.s.size = a.nnz();
  instance.degenerate = a.nnz() <= 1 || k == 0;
}

template <class T>
void Sddmm::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  validate_csr(in.A, "A");
  if (in.X.rows != in.A.rows) throw Error(fmt::format("sddmm: X has {} rows, A {}", in.X.rows, in.A.rows));
  if (in.Y.rows != in.A.cols)
    throw Error(fmt::format("sddmm: Y has {} rows, A {} columns", in.Y.rows, in.A.cols));
  if (in.X.cols != in.Y.cols) throw Error(fmt::format("sddmm: X has {} columns, Y {}", in.X.cols, in.Y.cols));
  if (in.X.ld < in.X.cols || in.Y.ld < in.Y.cols)
    throw Error("sddmm: a leading dimension is less than the width");
  if (out.s.size != in.A.nnz)
    throw Error(fmt::format("sddmm: s has {} elements, A {} entries", out.s.size, in.A.nnz));
}

template <class T>
void Sddmm::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&,
                   Reference& reference) {
  ReferenceArray& s = reference.outputs.emplace_back();
  s.resize(in.A.nnz);
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int32_t e = in.A.row_ptr[i]; e < in.A.row_ptr[i + 1]; ++e) {
      OracleDot<T> dot;
      for (std::int64_t k = 0; k < in.X.cols; ++k) dot.add_product(in.X(i, k), in.Y(in.A.col[e], k));
      s.take(e, dot);
    }
  }
}

template <class T>
Work Sddmm::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  std::vector<bool> used(static_cast<std::size_t>(in.A.cols));
  std::int64_t y_rows = 0, x_rows = 0;
  for (std::int64_t e = 0; e < in.A.nnz; ++e) {
    if (!used[static_cast<std::size_t>(in.A.col[e])])
      used[static_cast<std::size_t>(in.A.col[e])] = true, ++y_rows;
  }
  for (std::int64_t i = 0; i < in.A.rows; ++i) x_rows += in.A.row_ptr[i + 1] > in.A.row_ptr[i] ? 1 : 0;
  const auto rows = static_cast<double>(in.A.rows), nnz = static_cast<double>(in.A.nnz),
             k = static_cast<double>(in.X.cols);
  return {2 * nnz * k, k * static_cast<double>(x_rows + y_rows), nnz, 4 * nnz + 4 * (rows + 1)};
}

double Sddmm::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  return sum_bound_of_many_scales(t, value, magnitude, terms);  // Y has a scale for each column, X another
}

PLUMB_INSTANTIATE_OPERATOR(Sddmm)

}  // namespace plumb
