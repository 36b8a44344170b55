// log_softmax: cases, data, oracle, bound and cost of the contract in log_softmax.hpp.
#include "reference/ops/log_softmax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "reference/arithmetic/fp.hpp"
#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/cases/sparse_cases.hpp"
#include "reference/cases/timed_shapes.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

// Its exponential is infinite, in the type in which the judge computes.
template <class T>
constexpr T kBeyondExponential = T(300);
template <>
constexpr double kBeyondExponential<double> = 2000;

// What the oracle computes in: fp64 has 29 bits more than fp32, and the 80-bit format has 11 more than fp64.
// With a compensated sum the oracle's error is a few of its own roundings, (W + 4) 2^-64: at most 2^-9 of the
// bound's u (8 + ...).
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
static_assert(std::numeric_limits<long double>::digits >= 64,
              "the fp64 oracle of log_softmax needs a long double of at least 64 bits");

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

// What a plain sum of these terms may lose beyond the random walk, in units of rounding relative to the sum.
// A partial sum is a multiple of its own last place; adding e rounds e to such a multiple, whatever the partial
// sum is. So equal terms err by the same amount each time, and few different ones by little more than a few
// amounts: as far as these have one sign, they add up. The last place is that of the whole sum, or of a part
// of it: of the sums before, and of those that many threads hold; so many parts that all terms together lose
// less than 4 sqrt(n), the random walk's share, are not looked at.
template <class T, class W>
double drift_of_sum(const std::vector<W>& terms, W sum) {
  const W last_place = 2 * W(kUnit<T>) * std::exp2(std::floor(std::log2(sum)));
  double drift = 0;
  W place = last_place;
  for (std::size_t parts = 1; 16 * parts * parts <= terms.size(); parts *= 2, place /= 2) {
    W errors = 0, ties = 0;
    for (const W e : terms) {
      const W beyond = e / place - std::floor(e / place);
      if (beyond == W(0.5))
        ties += W(0.5);  // which way, the partial sum decides, and often always in the same way
      else
        errors += beyond < W(0.5) ? -beyond : 1 - beyond;
    }
    drift = std::max(drift, static_cast<double>((std::fabs(errors) + ties) * place / (W(kUnit<T>) * sum)));
  }
  return drift;
}

double additions_of(std::int64_t terms) { return static_cast<double>(std::max<std::int64_t>(terms, 1) - 1); }

// The part of the bound for the additions of a plain sum.
double roundings(const Tolerance& t, std::int64_t terms) {
  const double additions = additions_of(terms);
  return std::min(additions, sum_of_roundings(fill_of_one_sign(t.fill), additions));
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

template <class T>
void LogSoftmax::validate(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out) {
  if (out.y.rows != in.x.rows || out.y.cols != in.x.cols) {
    throw Error(
        fmt::format("log_softmax: y is {} x {}, x {} x {}", out.y.rows, out.y.cols, in.x.rows, in.x.cols));
  }
  if (in.x.ld < in.x.cols || out.y.ld < out.y.cols)
    throw Error("log_softmax: a leading dimension is less than the width");
}

template <class T>
void LogSoftmax::oracle(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>& out,
                        Reference& reference) {
  using W = Wide<T>;
  constexpr W kInf = std::numeric_limits<W>::infinity();
  ReferenceArray& y = reference.outputs.emplace_back();
  const std::int64_t cols = in.x.cols;
  y.resize(in.x.rows * cols);
  y.transform = Arithmetic::Transform::by_lse;
  y.transformed = LargeArray<double>(static_cast<std::size_t>(in.x.rows * cols));
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    std::vector<W> exponentials;
    W max = -kInf;
    bool spoiled = false, equal = true;
    for (std::int64_t j = 0; j < cols; ++j) {
      const W x = in.x(i, j);
      if (std::isnan(x) || x == kInf) spoiled = true;
      if (x > max) max = x;
      equal = equal && in.x(i, j) == in.x(i, 0);
    }
    spoiled = spoiled || max == -kInf;
    NeumaierSum<W> sum, weighted;
    for (std::int64_t j = 0; j < cols && !spoiled; ++j) {
      const W d = in.x(i, j) - max, e = std::exp(d);
      sum.add(e);
      exponentials.push_back(e);
      if (e > 0) weighted.add(e * -d);  // -Inf times 0 is no weight
    }
    const W log_sum = std::log(sum.value());
    // no sum errs by more than one rounding each time
    const double drift =
        std::min(drift_of_sum<T>(exponentials, sum.value()), additions_of(cols) - roundings({}, cols));
    for (std::int64_t j = 0; j < cols; ++j) {
      const auto at = static_cast<std::size_t>(i * cols + j);
      y.terms[at] = static_cast<std::int32_t>(cols);
      if (spoiled) {
        y.value[at] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const W d = in.x(i, j) - max, v = d - log_sum;
      y.value[at] = static_cast<double>(v < -W(std::numeric_limits<T>::max()) ? -kInf : v);
      if (equal) {
        y.magnitude[at] = static_cast<double>(2 * std::fabs(v));
        y.terms[at] = 1;  // a sum of ones is exact
      } else {
        y.magnitude[at] =
            static_cast<double>(magnitude<W>(d, v, log_sum, weighted.value() / sum.value())) + drift;
      }
      y.transformed[at] = y.magnitude[at] + static_cast<double>(2 * std::fabs(max + log_sum));
    }
  }
}

template <class T>
Work LogSoftmax::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const double elements = static_cast<double>(in.x.rows) * static_cast<double>(in.x.cols);
  return {5 * elements, elements, elements};
}

// magnitude: the contract's bound without the sum's share, which depends on the declared arithmetic.
double LogSoftmax::bound(const Tolerance& t, int, double, double magnitude, std::int64_t terms) {
  const double additions = additions_of(terms);
  const double plain = roundings(t, terms);
  const double u = t.unit();
  // exponentials and their arguments rounded to so many bits, the rest as it is
  if (is_floating(t.arithmetic.operand) && !t.arithmetic.corrected)
    return facts(t.arithmetic.operand).unit * magnitude + u * plain;
  switch (t.arithmetic.order) {
    case Arithmetic::Order::pairwise:
      return u * (magnitude + std::min(plain, 2 * std::log2(additions + 1) + 1));
    case Arithmetic::Order::compensated:
    case Arithmetic::Order::doubled:
      return u * (magnitude + std::min(plain, 2.0));
    case Arithmetic::Order::any:  // flushed or not: exponentials sum to 1 or more, and no sum is subnormal
      break;
  }
  return u * (magnitude + plain);
}

PLUMB_INSTANTIATE_OPERATOR(LogSoftmax)

}  // namespace plumb
