// log_softmax: cases and data of the contract in log_softmax.hpp.
#include "reference/ops/log_softmax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"
#include "reference/formula/formula.hpp"

namespace plumb {
namespace {

// Its exponential is infinite, in the type in which the judge computes.
template <class T>
constexpr T kBeyondExponential = T(300);
template <>
constexpr double kBeyondExponential<double> = 2000;

// All of the row's first three quarters, or of its last ones, are -Inf.
template <class T>
void mask(T* row, std::int64_t cols, bool at_head) {
  const std::int64_t masked = cols * 3 / 4;
  std::fill_n(row + (at_head ? 0 : cols - masked), masked, -std::numeric_limits<T>::infinity());
}

// How far special=shift moves a row: the exponential of it is 0 or infinite in fp32, and what few digits have left tells elements apart.
template <class T>
T shift_of(const FormatFacts& stored) {
  return static_cast<T>(std::min(1e4, std::max(128.0, std::ldexp(1, stored.digits - 3))));
}

// A usual number stays one where the scale takes it beyond the format's largest.
template <class T>
T scaled_within(T x, T scale, const FormatFacts& stored) {
  const T scaled = x * scale, largest = static_cast<T>(stored.largest);
  return std::isfinite(scaled) && std::fabs(scaled) > largest ? std::copysign(largest, scaled) : scaled;
}

// Makes every third row special, in two alternating ways. The rows between them must not be affected.
template <class T>
void make_special(T* row, std::int64_t cols, const std::string& special, bool odd,
                  const FormatFacts& stored) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  if (special == "neg_inf") {  // all of the row; or every second entry, the first included
    for (std::int64_t j = 0; j < cols; j += odd ? 2 : 1) row[j] = -kInf;
  } else if (special == "nan" || special == "pos_inf") {  // first; or last, beside a -Inf
    if (odd) row[cols / 2] = -kInf;
    row[odd ? cols - 1 : 0] = special == "pos_inf" ? kInf : odd ? -kNan : kNan;
  } else if (special == "masked") {
    mask(row, cols, odd);
  } else if (special ==
             "ulps") {  // four neighbouring numbers, far from 0: relative to their size they are equal
    const T size = std::ldexp(T(1), stored.digits - 4);
    for (std::int64_t j = 0; j < cols; ++j)
      row[j] = (odd ? -size : size) + std::ldexp(static_cast<T>(j * j % 7 % 4), -3);
  } else if (special == "equal") {
    for (std::int64_t j = 1; j < cols; ++j) row[j] = row[0];
  } else if (special ==
             "shift") {  // far above 0; or far below, where a maximum that starts at 0 makes the sum 0
    const T far = shift_of<T>(stored);
    for (std::int64_t j = 0; j < cols; ++j) row[j] += odd ? -far : far;
  } else if (
      special ==
      "peak") {  // so far above the others that the exponential of the distance is infinite: first or last
    row[odd ? 0 : cols - 1] += kBeyondExponential<T>;
  }
}

}  // namespace

// scale=S multiplies the fill; special=WORD changes every third row (make_special).
void LogSoftmax::describe(CaseSpace& space) {
  using enum Fill;
  // classes of graphs and of images, and vocabularies
  space.extent("rows", {.role = "rows", .timed = timed_size(1, 8'000'000)})
      .extent("cols", {.role = "width", .timed = timed_size(2, 262144)})
      .layout({.widths = {"cols"}, .arrays = 2})
      .words("scale", {"1", "10", "30.7310586", "1000"}, {.timed = timed_words({"10"})});
  space.words("special", {"none", "neg_inf", "nan", "pos_inf", "equal", "shift", "peak", "ulps", "masked"},
              {.once = {"ulps", "masked"}});
  space.timed_family(timed::class_counts("cols"));
  space.timed_family(timed::vocabularies("cols"));
  space.fills({real, positive, scaled, hostile, few});
  const auto elements = [](const Point& p) { return p["rows"] * p["cols"]; };
  // every third row is special; rows of equal elements alone have one answer
  space.work({.multiply_adds = [=](const Point& p) { return 4 * elements(p); },
              .elements = [=](const Point& p) { return 2 * elements(p); },
              .where = {[](const Point& p) { return p.word("special") == "none" || p["rows"] > 1; }}});
  space.alike({"rows", "cols"}).count("elements", elements);
  space.one_case({"large values", "rows=2,cols=16390,scale=1000,special=none,fill=scaled",
                  "a maximum that no 16-bit type holds, in a row that is taken in pieces", Met::dear});
  space.one_case({"the last element far above", "rows=4,cols=2503,scale=1,special=peak,fill=real",
                  "in a row that is taken in pieces"});
  space.one_case(
      {"a kernel's own", "rows=67,cols=128,scale=10,fill=real", "kernels are made for powers of two"});
  space.one_case({"in pieces",
                  "rows=4,cols=2503|9001,scale=1,special=neg_inf|nan|pos_inf|masked|equal,fill=real",
                  "what is right for rows that a warp or a block holds may be wrong for those in pieces, of "
                  "nothing but -Inf too"});
}

void LogSoftmax::cases(CaseList& list) {
  using enum Fill;
  list.add(Tier::smoke, "rows=0,cols=5", {real}, "no rows: nothing may be touched");
  list.add(Tier::smoke, "rows=5,cols=0", {real}, "no columns: rows of nothing");
  list.add(Tier::smoke, "rows=5,cols=1", {real, hostile}, "one entry: 0, or NaN");
  list.add(Tier::smoke, "rows=300,cols=2", {real, positive}, "two entries: errors of exp are not averaged");
  list.add(Tier::smoke, "rows=37,cols=1000", {real}, "many terms of similar size: the sum's own error");
  list.add(Tier::smoke, "rows=3,cols=781", {real},
           "odd and between blocks: every second row begins in the middle of 16 bytes in fp64");
  list.add(Tier::smoke, "rows=19,cols=1025,scale=30", {real}, "a few large terms and many that vanish");
  list.add(Tier::smoke, "rows=3,cols=65537", {real, positive}, "the widest: beyond any block, and odd");
  list.add(Tier::smoke, "rows=2,cols=65537,scale=100,special=shift", {real}, "the widest, far from zero");
  list.add(Tier::smoke, "rows=2,cols=70001,special=peak", {real},
           "the maximum stands behind 16 bits of columns");
  list.add(Tier::smoke, "rows=12,cols=9195", {scaled},
           "rows of near-equal elements: roundings of their sum all go one way");
  list.add(Tier::smoke, "rows=6,cols=16495,scale=10,special=shift", {scaled},
           "rows of few different values, far from 0: equal terms are rounded alike");
  list.add(Tier::smoke, "rows=25,cols=41,special=neg_inf", {real},
           "rows of -Inf give NaN; rows that begin with -Inf do not");
  list.add(Tier::smoke, "rows=25,cols=41,special=nan", {real},
           "NaN first or last spoils its row, and no other");
  list.add(Tier::smoke, "rows=25,cols=41,special=pos_inf", {real},
           "+Inf first or last spoils its row, and no other");
  list.add(Tier::smoke, "rows=25,cols=41,special=equal", {real}, "equal entries give -log(41) to one ulp");
  list.add(Tier::smoke, "rows=7,cols=1000,special=equal,scale=1000", {real}, "equal and large");
  for (const char* const cols : {"3", "300"})
    list.add(Tier::smoke, fmt::format("rows=7,cols={},special=ulps", cols), {real},
             "a few units in the last place apart, far from 0: they look equal, and are not");
  list.add(Tier::smoke, "rows=25,cols=41,special=shift", {real, positive},
           "a shift by 1e4 and by -1e4, less in narrow types, changes nothing");
  list.add(Tier::smoke, "rows=25,cols=41,special=peak", {real},
           "the first or the last entry far above the others: a maximum without it overflows exp");
  list.add(Tier::smoke, "rows=13,cols=300,special=neg_inf", {real}, "-Inf across several vectors or warps");
  for (const char* const cols : {"40", "101", "300", "1100"})
    list.add(
        Tier::smoke, fmt::format("rows=7,cols={},special=masked", cols), {real},
        "a run of -Inf at the head or the tail of a row, as masks make it: lanes, warps and pieces that saw "
        "nothing else");
  for (const char* const special : {"pos_inf", "nan"})
    list.add(Tier::smoke, fmt::format("rows=13,cols=300,special={},layout=wide", special), {real},
             "+Inf, or NaN, beside -Inf in rows of whole vectors");
  list.add_hostile(Tier::smoke, "rows=67,cols=37", 14, "every special value at every class of position");

  list.add(Tier::full, "rows=281903,cols=16,scale=10", {real, hostile}, "the contest's output layer at size");
  list.add(Tier::full, "rows=60000,cols=100,scale=10", {real, positive}, "many rows, ragged width");
  list.add(Tier::full, "rows=200,cols=65537", {real, positive}, "a vocabulary's width");
  list.add(Tier::full, "rows=1,cols=4000000", {real}, "one row larger than a cache");
  list.add(Tier::stress, "rows=32800,cols=65537", {real}, "more than 2^31 elements: row * ld must be 64-bit",
           {Dtype::f32});
  list.add_far_rows("rows=7,cols=6", real);
}

template <class T>
void LogSoftmax::make(const Case& c, Instance<LogSoftmax, T>& instance) {
  const std::int64_t rows = c.integer("rows"), cols = c.integer("cols");
  T* x = instance.arena.template allocate<T>(rows * cols);
  fill_values(x, rows, cols, c, Role::left, 1000);
  const auto scale = static_cast<T>(c.number_or("scale", 1));
  const FormatFacts& stored = facts(facts(c.dtype).in);
  for (std::int64_t k = 0; k < rows * cols; ++k) x[k] = scaled_within(x[k], scale, stored);
  static const std::vector<std::string> kKnown = {"none",  "neg_inf", "nan",  "pos_inf", "equal",
                                                  "shift", "peak",    "ulps", "masked"};
  const std::string special = c.text_or("special", "none");
  require_known_word(c, "special", special, kKnown);
  for (std::int64_t i = 0; i < rows && cols > 0; i += 3)
    make_special(x + i * cols, cols, special, i % 2 == 1, stored);
  instance.in.x = {x, rows, cols, cols};
  instance.out.y.rows = rows;
  instance.out.y.cols = instance.out.y.ld = cols;
  instance.degenerate = cols <= 1 || rows == 0;
}

template void LogSoftmax::make<float>(const Case&, Instance<LogSoftmax, float>&);
template void LogSoftmax::make<double>(const Case&, Instance<LogSoftmax, double>&);
PLUMB_FORMULA(LogSoftmax)

}  // namespace plumb
