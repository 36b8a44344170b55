// topk: cases, data, oracle and cost of the contract in topk.hpp.
#include "reference/ops/topk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

const std::vector<std::string> kSpecialRows = {"none",       "equal", "zeros",    "ascending",
                                               "descending", "nan",   "infinite", "subnormal"};

// NaN before numbers, numbers from the largest to the smallest; -0 is 0.
template <class T>
bool is_larger(T a, T b) {
  return std::isnan(a) ? !std::isnan(b) : a > b;
}

// A row in which elements are equal, or stand in order. `odd` rows have it in another way.
template <class T>
void make_special(T* row, std::int64_t cols, const std::string& special, bool odd, Format stored) {
  constexpr T kInf = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  if (special == "equal") std::fill_n(row, cols, row[0]);
  if (special == "ascending") std::sort(row, row + cols, [](T a, T b) { return is_larger(b, a); });
  if (special == "descending") std::sort(row, row + cols, is_larger<T>);
  if (special == "subnormal") make_subnormal(row, cols, stored);
  for (std::int64_t j = 0; j < cols; ++j) {
    if (special == "zeros") {
      // zeros of either sign are the largest elements; or all are below them but every fifth one
      const T above = j % 5 == 4 ? std::fabs(row[j]) : T(0);
      row[j] = j % 3 == 2 ? -std::fabs(row[j]) : odd ? above : T(0);
      if (row[j] == 0 && j % 2 == 0) row[j] = -T(0);
    } else if (special == "nan") {
      // NaN of either sign at both ends; or at every second place
      if (odd ? j % 2 == 0 : j == 0 || j == cols - 1) row[j] = j % 4 == 0 ? kNan : -kNan;
    } else if (special == "infinite") {
      // masked but for every seventh; or +Inf at every second place
      if (odd ? j % 2 == 1 : j % 7 != 3) row[j] = odd ? kInf : -kInf;
    }
  }
}

// The columns of a row in the order of the answer: of equal elements the first column first.
template <class T>
void sort_columns(const T* row, std::vector<std::int32_t>& columns) {
  std::iota(columns.begin(), columns.end(), 0);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::int32_t a, std::int32_t b) { return is_larger(row[a], row[b]); });
}

}  // namespace

// special=WORD changes all rows (make_special). NaN and infinities are those of fill hostile, subnormals those of fill real.
void TopK::describe(CaseSpace& space) {
  using enum Fill;
  space.extent("rows", {.role = "rows", .timed = timed_size(1, 1'000'000)})
      .extent("cols", {.role = "width", .never_none = true, .timed = timed_size(8, 262'144)})
      .extent("k", {.values = {1, 2, 5, 8, 32, 33, 64, 257}, .timed = timed_words({"1", "2", "8", "50"})})
      .layout({.widths = {"cols"}, .arrays = 2})
      .words("special", kSpecialRows);
  space.timed_family(timed::vocabularies("cols"));
  space.fills({exact, index, real, few, hostile});
  const auto elements = [](const Point& p) { return p["rows"] * p["cols"]; };
  const auto answers = [](const Point& p) { return p["rows"] * p["k"]; };
  space.work({.multiply_adds = [=](const Point& p) { return elements(p) * p["k"]; },
              .elements = [=](const Point& p) { return elements(p) + 2 * answers(p); },
              .where = {[](const Point& p) { return p["k"] <= p["cols"]; },
                        [](const Point& p) {
                          const std::string &special = p.word("special"), &fill = p.word("fill");
                          if (special == "subnormal") return fill == "real";
                          return (special != "nan" && special != "infinite") || fill == "hostile";
                        }}});
  space.alike({"cols", "k"}).count("elements", elements);
  space.one_case({"more than a block holds", "rows=2,cols=2503,k=64,special=none|equal|zeros,fill=exact",
                  "equal elements in rows that are taken in pieces", Met::dear});
  space.one_case({"the largest behind 16 bits", "rows=1,cols=70001,k=2,special=ascending,fill=real",
                  "columns that 16 bits do not hold"});
}

void TopK::cases(CaseList& list) {
  using enum Fill;
  list.add(Tier::smoke, "rows=0,cols=5,k=2", {exact}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=1,cols=1,k=1", {real, hostile}, "the smallest");
  list.add(Tier::smoke, "rows=37,cols=53,k=1", {exact, real}, "the largest alone: argmax");
  list.add(Tier::smoke, "rows=37,cols=53,k=53", {exact, real}, "all elements: a sort of each row");
  list.add(Tier::smoke, "rows=67,cols=8,k=2", {real}, "a router of tokens to eight experts");
  list.add(Tier::smoke, "rows=41,cols=256,k=8", {exact, real},
           "a router to 256 experts; in integers most rows have ties");
  list.add(Tier::smoke, "rows=19,cols=101,k=7", {few, index, hostile}, "no multiple of a warp");
  list.add(Tier::smoke, "rows=3,cols=3001,k=50", {exact, real}, "a sampler's 50 of a vocabulary");
  list.add(Tier::smoke, "rows=1,cols=70001,k=3", {exact, real}, "one long row: columns beyond 16 bits");
  list.add(Tier::smoke, "rows=2,cols=3001,k=1300", {exact, real}, "more than a block has threads");
  list.add(Tier::smoke, "rows=2,cols=2049,k=2049", {real}, "a sort of more than a block has threads");
  for (const char* const special : {"equal", "zeros", "ascending", "descending"})
    list.add(
        Tier::smoke, fmt::format("rows=13,cols=70,k=6,special={}", special), {exact, real},
        "rows of equal elements, of zeros of either sign, and in order: each end of a row has the largest");
  for (const char* const special : {"nan", "infinite"})
    list.add(Tier::smoke, fmt::format("rows=13,cols=70,k=6,special={}", special), {hostile},
             "more NaN, or infinities of one sign, than are asked for, and fewer");
  list.add(Tier::smoke, "rows=13,cols=70,k=6,special=subnormal", {real},
           "subnormal elements are told apart, and from 0");
  list.add_hostile(Tier::smoke, "rows=35,cols=37,k=5", 7, "every special value at every class of position");

  list.add(Tier::full, "rows=65536,cols=256,k=8", {exact, real}, "a router's tokens at size");
  list.add(Tier::full, "rows=64,cols=128256,k=50", {real, hostile}, "a sampler's vocabulary at size");
  list.add(Tier::full, "rows=1,cols=4000000,k=1000", {exact, real}, "one row larger than a cache");
  list.add_far_rows("rows=7,cols=6,k=3");
}

template <class T>
void TopK::make(const Case& c, Instance<TopK, T>& instance) {
  const std::int64_t rows = c.integer("rows"), cols = c.integer("cols"), k = c.integer("k");
  T* const x = instance.arena.template allocate<T>(rows * cols);
  // the index fill of Role::right numbers the places
  fill_values(x, rows, cols, c, c.fill == Fill::index ? Role::right : Role::left, 1000);
  const std::string special = c.text_or("special", "none");
  require_known_word(c, "special", special, kSpecialRows);
  for (std::int64_t i = 0; i < rows; ++i)
    make_special(x + i * cols, cols, special, i % 2 == 1, facts(c.dtype).in);
  instance.in.x = {x, rows, cols, cols};
  instance.out.values = {nullptr, rows, k, k};
  instance.out.indices = {nullptr, rows, k, k};
  // one answer, the only column, or a largest element that any row may have at its first column
  instance.degenerate = rows * k <= 1 || cols == 1 || (k == 1 && special != "none");
}

template <class T>
void TopK::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  const std::int64_t k = out.values.cols;
  if (out.values.rows != in.x.rows || out.indices.rows != in.x.rows)
    throw Error(fmt::format("topk: values and indices have {} and {} rows, x {}", out.values.rows,
                            out.indices.rows, in.x.rows));
  if (out.indices.cols != k)
    throw Error(fmt::format("topk: indices has {} columns, values {}", out.indices.cols, k));
  if (k < 1 || k > in.x.cols)
    throw Error(
        fmt::format("topk: k is {}, and x has {} columns: 1 to that many can be the largest", k, in.x.cols));
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (in.x.cols > kMax) throw Error(fmt::format("topk: {} columns do not fit int32", in.x.cols));
  if (in.x.ld < in.x.cols || out.values.ld < k || out.indices.ld < k)
    throw Error("topk: a leading dimension is less than the width");
}

template <class T>
void TopK::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                  Reference& reference) {
  const std::int64_t rows = in.x.rows, cols = in.x.cols, k = out.values.cols;
  reference.outputs.resize(2);
  ReferenceArray &values = reference.outputs[0], &indices = reference.outputs[1];
  values.resize(rows * k), indices.resize(rows * k);
  values.moved = true, values.chosen_by = 1;
  const auto candidates = std::make_shared<Candidates>(rows, cols);
  indices.candidates = candidates;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* const row = in.x.data + i * in.x.ld;
    std::vector<std::int32_t> columns(static_cast<std::size_t>(cols));
    sort_columns(row, columns);
    const auto column = [&](std::int64_t p) { return columns[static_cast<std::size_t>(p)]; };
    for (std::int64_t j = 0; j < cols; ++j)
      candidates->value[static_cast<std::size_t>(i * cols + j)] = row[j];
    for (std::int64_t p = 0; p < k; ++p) {
      const auto at = static_cast<std::size_t>(i * k + p);
      values.value[at] = row[column(p)], indices.value[at] = column(p);
    }
    for (std::int64_t first = 0, end = 0; first < k; first = end) {  // a group of equal elements
      while (end < cols && !is_larger(row[column(first)], row[column(end)])) ++end;
      for (std::int64_t p = first; p < end; ++p) candidates->allow(i, column(p), first, std::min(end, k) - 1);
    }
  }
}

template <class T>
Work TopK::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  const double elements = static_cast<double>(in.x.rows) * static_cast<double>(in.x.cols);
  const double answers = static_cast<double>(out.values.rows) * static_cast<double>(out.values.cols);
  return {elements, elements, answers, 4 * answers};
}

double TopK::bound(const Tolerance&, int, double, double, std::int64_t) { return 0; }

PLUMB_INSTANTIATE_OPERATOR(TopK)

}  // namespace plumb
