// dense_to_csr: cases, data, oracle, bound and cost of the contract in dense_to_csr.hpp.
#include "reference/ops/dense_to_csr.hpp"

#include <fmt/format.h>

#include <limits>

#include "reference/cases/case_space.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/special_values.hpp"
#include "reference/core/error.hpp"

namespace plumb {

// The non-zeros are where make_sparse's pattern has entries; every fifth zero between them is a -0.
void DenseToCsr::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows", .timed = timed_size(16, 1'000'000)})
      .extent("cols", {.role = "cols width", .timed = timed_size(64, 65536, "rows", 0.3)})
      .layout({.sparse = true, .widths = {"cols"}, .arrays = 2});
  space.fills({exact, real, hostile});
  const auto elements = [](const Point& p) { return p["rows"] * p["cols"]; };
  const auto entries = [](const Point& p) { return expected_entries(p, "rows", "cols"); };
  space.work(
      {.multiply_adds = elements, .elements = [=](const Point& p) { return elements(p) + entries(p); }});
  space.hides("row_mean", {"no entries"}).alike({"rows", "cols"});
  space.count("entries", entries).count("elements", elements);
  // One row has an entry in every column, and no integer of the exact fill that is 0: counts of any round are as large as they can be,
  // and where two share a word of which each has a byte, they carry.
  const auto full_row = [](const Point& p) {
    const std::string& pattern = p.word("pattern");
    const bool full = pattern == "giant" || pattern == "arrow" || pattern == "last";
    return full && p.word("fill") == "real" && p["rows"] > 0 ? p["cols"] : 0;
  };
  space.count("full row", full_row, {.beyond = 256, .with = "pattern=giant,fill=real,cols=511"});
  space.special("subnormal", {"0", "1"});
}

void DenseToCsr::cases(CaseList& list) {
  using enum Fill;
  list.add(Tier::smoke, "rows=0,cols=5,density=0", {exact}, "no rows: row_ptr is a single 0");
  list.add(Tier::smoke, "rows=5,cols=0,density=0", {exact}, "no columns: row_ptr is all 0");
  list.add(Tier::smoke, "rows=1,cols=1,density=1", {real}, "the smallest matrix that has something");
  list.add(Tier::smoke, "rows=37,cols=53,density=0", {exact}, "nothing but 0 and -0: no entries");
  list.add(Tier::smoke, "rows=36,cols=36,density=0,layout=wide", {exact},
           "no entries where rows are whole vectors on 16 bytes");
  list.add(Tier::smoke, "rows=37,cols=53,density=1", {real, hostile}, "no zeros at all");
  list.add(Tier::smoke, "rows=60,cols=1024,density=0.25", {exact, real},
           "activations of a sparse network's layer");
  list.add(Tier::smoke, "rows=300,cols=700,density=0.004,pattern=giant", {exact, real},
           "one full row among nearly empty ones");
  list.add(Tier::smoke, "rows=300,cols=300,density=0.05,pattern=powerlaw", {exact},
           "rows of very different counts");
  list.add(Tier::smoke, "rows=200,cols=200,density=0,pattern=diagonal", {real}, "one entry per row");
  list.add(Tier::smoke, "rows=101,cols=85,density=0.1,subnormal=1", {real},
           "subnormal values are entries: a comparison that flushes them to 0 loses them");
  list.add_hostile(Tier::smoke, "rows=35,cols=37,density=0.3", 14,
                   "every special value at every class of position");

  list.add(Tier::full, "rows=60000,cols=1024,density=0.25", {exact, real}, "the sparse-DNN layer at size");
  list.add(Tier::full, "rows=8192,cols=4096,density=0.01,pattern=powerlaw", {exact, hostile},
           "skewed and mostly zero");
  list.add(Tier::stress, "rows=70000,cols=32768,density=0.001", {exact},
           "more than 2^31 elements: row * ld must be 64-bit", {Dtype::f32});
  list.add_far_rows("rows=7,cols=6,density=0.5");
}

template <class T>
void DenseToCsr::make(const Case& c, Instance<DenseToCsr, T>& instance) {
  Csr<T> a = make_sparse<T>(c, kMatrixStream);
  if (c.integer_or("subnormal", 0) != 0) make_subnormal(a.val.data(), a.nnz(), facts(c.dtype).in);
  T* x = instance.arena.template allocate<T>(a.rows * a.cols);
  for (std::int64_t at = 0; at < a.rows * a.cols; at += 5) x[at] = T(-0.0);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) x[i * a.cols + a.col[k]] = a.val[k];
  }
  const bool empty_end = c.text_or("pattern", "uniform") == "ends";
  // a non-zero: a cut column or a lost tail is seen. But some matrices have empty rows at their end
  if (a.nnz() > 0 && !empty_end) x[a.rows * a.cols - 1] = T(3);
  if (c.fill == Fill::hostile) place_specials(x, a.rows, a.cols, c, Role::left, kMatrixStream + 2);
  quantise(facts(c.dtype).in, x, a.rows * a.cols);  // as stored: what becomes 0 is no entry
  std::int64_t nnz = 0;
  for (std::int64_t at = 0; at < a.rows * a.cols; ++at) nnz += x[at] != T(0) ? 1 : 0;
  instance.in.x = {x, a.rows, a.cols, a.cols};
  instance.out.row_ptr.size = a.rows + 1;
  instance.out.col.size = instance.out.val.size = nnz;
  instance.degenerate = nnz <= 1;
}

template <class T>
void DenseToCsr::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (in.x.ld < in.x.cols) throw Error("dense_to_csr: the leading dimension is less than the width");
  std::int64_t nnz = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    for (std::int64_t j = 0; j < in.x.cols; ++j) nnz += in.x(i, j) != T(0) ? 1 : 0;
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (nnz > kMax || in.x.cols > kMax) throw Error("dense_to_csr: columns and non-zeros must fit int32");
  if (out.row_ptr.size != in.x.rows + 1) {
    throw Error(fmt::format("dense_to_csr: row_ptr has {} elements, x {} rows", out.row_ptr.size, in.x.rows));
  }
  if (out.col.size != nnz || out.val.size != nnz) {
    throw Error(fmt::format("dense_to_csr: col and val have {} and {} elements, x {} non-zeros", out.col.size,
                            out.val.size, nnz));
  }
}

template <class T>
void DenseToCsr::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                        Reference& reference) {
  reference.outputs.resize(3);
  ReferenceArray &row_ptr = reference.outputs[0], &col = reference.outputs[1], &val = reference.outputs[2];
  row_ptr.resize(in.x.rows + 1), col.resize(out.col.size), val.resize(out.val.size);
  std::size_t nnz = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    for (std::int64_t j = 0; j < in.x.cols; ++j) {
      if (!(in.x(i, j) != T(0))) continue;
      col.value[nnz] = static_cast<double>(j);
      val.value[nnz] = static_cast<double>(in.x(i, j));
      ++nnz;
    }
    row_ptr.value[static_cast<std::size_t>(i + 1)] = static_cast<double>(nnz);
  }
  for (ReferenceArray* array : {&row_ptr, &col, &val}) {
    for (std::size_t k = 0; k < array->value.size(); ++k) {
      array->magnitude[k] = array->value[k] < 0 ? -array->value[k] : array->value[k];
      array->terms[k] = 1;
    }
  }
}

template <class T>
Work DenseToCsr::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  const double rows = static_cast<double>(in.x.rows), elements = rows * static_cast<double>(in.x.cols);
  const auto entries = static_cast<double>(out.col.size);
  return {elements, elements, entries, 4 * (rows + 1) + 4 * entries};
}

double DenseToCsr::bound(const Tolerance&, int, double, double, std::int64_t) { return 0; }

template <class T>
bool DenseToCsr::shorten(In<T, Space::host>& in, Out<T, Space::host>& out, int n) {
  std::int64_t& extent = n == 0 ? in.x.rows : in.x.cols;
  if (n > 1 || extent < 2) return false;
  --extent;
  std::int64_t entries = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    for (std::int64_t j = 0; j < in.x.cols; ++j) entries += in.x(i, j) != T(0) ? 1 : 0;
  }
  out.row_ptr.size = in.x.rows + 1, out.col.size = out.val.size = entries;
  return true;
}

template bool DenseToCsr::shorten<float>(In<float, Space::host>&, Out<float, Space::host>&, int);
template bool DenseToCsr::shorten<double>(In<double, Space::host>&, Out<double, Space::host>&, int);
PLUMB_INSTANTIATE_OPERATOR(DenseToCsr)

}  // namespace plumb
