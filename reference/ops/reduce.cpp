// reduce: cases, data, oracle, bound and cost of the contract in reduce.hpp.
#include "reference/ops/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/cases/case_space.hpp"
#include "reference/cases/case_words.hpp"
#include "reference/cases/fills.hpp"
#include "reference/cases/operator.hpp"
#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

const std::vector<std::string> kSpecialWords = {
    "none",     "nan_first", "nan_last",   "inf",     "minus_inf", "both_inf", "all_minus_inf",
    "negative", "subnormal", "minus_zero", "cancels", "inf_nan",   "near_top"};

// Puts into x what the parameter `special` names: single values in places that a wrong reduction loses.
template <class T>
void place_special(T* x, std::int64_t n, const std::string& special, Format stored) {
  constexpr T kInf = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  if (n == 0 || special == "none") return;
  if (special == "subnormal") make_subnormal(x, n, stored);
  if (special == "nan_first") x[0] = kNan;
  if (special == "nan_last" || special == "inf_nan")
    x[n - 1] = -kNan;  // of either sign: by its bits the lowest
  if (special == "inf" || special == "both_inf" || special == "inf_nan") x[n / 3] = kInf;
  if (special == "minus_inf" || special == "both_inf") x[2 * n / 3] = -kInf;
  for (std::int64_t i = 0; i < n; ++i) {
    if (special == "all_minus_inf") x[i] = -kInf;
    // not all of them shifted by one amount: nearly equal terms are rounded alike, and a plain sum drifts further than its bound
    if (special == "negative" || special == "minus_zero") x[i] = x[i] == 0 ? T(-1) : -std::fabs(x[i]);
  }
  if (special == "minus_zero") x[n / 2] = -T(0);
  if (special == "cancels") make_cancelling(x, n, stored);
  if (special == "near_top") x[n / 3] = static_cast<T>(facts(stored).largest) / 4 * 3;
}

// Moves the last term where the answer happens to be 0, or a sum so near to it that an output of zeros would pass. Infinities do not cancel.
template <class T>
void keep_from_zero(T* x, std::int64_t n, Reduce::Kind kind, const Case& c) {
  double sum = 0, magnitude = 0, max = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < n; ++i) {
    sum += x[i];
    magnitude += std::fabs(x[i]);
    max = std::max<double>(max, x[i]);
  }
  if (kind == Reduce::Kind::max && max == 0) x[n - 1] = 1;
  if (kind == Reduce::Kind::max || n == 0 || !std::isfinite(magnitude)) return;
  const double bound = Reduce::bound({c.fill, Arithmetic::native, c.dtype}, 0, sum, magnitude, n);
  if (std::fabs(sum) > 2 * bound) return;
  const bool whole = is_bitwise(c.fill) || magnitude == 0;
  x[n - 1] += static_cast<T>(whole ? 1 : std::max(4 * bound, magnitude / static_cast<double>(n)));
}

// Whether a special value shows in the answer of this kind and fill.
bool tells_special(const Point& p) {
  const std::string& special = p.word("special");
  if (special == "none") return true;
  const Fill fill = parse_fill(p.word("fill"), "fill");
  const bool sum = p.word("kind") == "sum", bitwise = is_bitwise(fill);
  if (p["n"] <= 1 || (sum && bitwise && special.find("inf") != std::string::npos))
    return false;                                           // an infinite sum is no integer below 2^24
  if (special == "subnormal") return fill != Fill::scaled;  // a bit or two: an error of 1 % is none there
  if (special == "minus_zero") return !sum;
  if (special == "near_top") return fill == Fill::real;  // others drift beyond the largest number
  // sums of parts are far greater than the sum; a narrower type holds integers
  return special != "cancels" || (sum && p["n"] > 2 && !bitwise && fill != Fill::hostile);
}

}  // namespace

void Reduce::describe(CaseSpace& space) {
  using enum Fill;
  space.words("kind", {"sum", "max"}, {.timed = timed_words({"sum", "max"})});
  space.extent("n", {.role = "depth",
                     .also = {40009, 110017, 160001, 280001},  // rounds of a device
                     .timed = timed_size(1000, 2'000'000'000)});
  space.layout({.widths = {"n"}, .arrays = 1});
  space.words("special", kSpecialWords, {.once = {"inf_nan", "near_top"}});
  space.fills({exact, wide, real, positive, scaled, hostile, few});
  const auto terms = [](const Point& p) { return p["n"]; };
  space.work({.multiply_adds = terms, .elements = terms, .terms = terms, .where = {tells_special}});
  space.one_case({"rounds of all terms",
                  "kind=sum,n=24481|48959|65281|97919|130561|132601,special=none,layout=wide",
                  "a grid as large as the device goes over them in rounds; a term that is lost changes sums "
                  "alone"});
  space.one_case({"threads beyond 16 bits", "kind=sum,n=280001,special=none,fill=real,layout=wide",
                  "more than 65,536 threads of 16 bytes; exact fills end below 2^18 terms", Met::dear});
  space.one_case({"whole pieces", "kind=sum|max,n=184320",
                  "of any size: powers of two up to 4,096, or three, five, nine or 15 times such a one"});
  space.one_case({"-Inf and nothing else", "kind=max,n=2|33|257|2049|20011,special=all_minus_inf,fill=real",
                  "in a warp, in pieces of a block and in several blocks"});
  space.one_case({"parts that cancel each other",
                  "kind=sum,n=61|389|769|1031|5003|8209|12007|20011|40009,special=cancels,fill=real",
                  "what is kept of them in a narrower type shows, at sizes of one part and of several"});
}

void Reduce::cases(CaseList& list) {
  using enum Fill;
  list.add(Tier::smoke, "kind=sum,n=0", {exact}, "the empty sum is +0");
  list.add(Tier::smoke, "kind=sum,n=1", {exact, real}, "one term");
  list.add(Tier::smoke, "kind=sum,n=2", {exact, real}, "two terms");
  list.add(Tier::smoke, "kind=sum,n=31", {exact, real}, "one less than a warp");
  list.add(Tier::smoke, "kind=sum,n=257", {exact, scaled}, "one more than a block");
  list.add(Tier::smoke, "kind=sum,n=5003,special=inf", {real},
           "one infinity: a compensation must not turn it into NaN");
  list.add(Tier::smoke, "kind=sum,n=5003,special=minus_inf", {real}, "the other infinity");
  list.add(Tier::smoke, "kind=sum,n=5003,special=both_inf", {real}, "both infinities: NaN");
  list.add(Tier::smoke, "kind=sum,n=5003,special=nan_last", {real}, "NaN in the tail");
  list.add(Tier::smoke, "kind=sum,n=1021,special=subnormal", {real},
           "a subnormal sum: an addition that flushes it to 0 shows");
  list.add(Tier::smoke, "kind=max,n=1021,special=subnormal", {real}, "a subnormal maximum");
  list.add(Tier::smoke, "kind=sum,n=1021,special=near_top", {real},
           "a result beside the largest number of its format: it stays finite");
  list.add(Tier::smoke, "kind=max,n=0", {exact}, "the empty maximum is -Inf");
  list.add(Tier::smoke, "kind=max,n=1", {exact, real}, "one term");
  list.add(Tier::smoke, "kind=max,n=5003,special=negative", {real},
           "all negative: a maximum that starts from 0, or joins blocks by their bits, shows");
  list.add(Tier::smoke, "kind=max,n=5003,special=minus_zero", {real},
           "-0 above negative values: by its bits it is the lowest, or none that is greater than 0");
  list.add(Tier::smoke, "kind=max,n=5003,special=all_minus_inf", {real},
           "all -Inf: a sentinel of -FLT_MAX shows");
  list.add(Tier::smoke, "kind=max,n=5003,special=nan_first", {real},
           "NaN first: lost where the comparison favours the newer value");
  list.add(Tier::smoke, "kind=max,n=5003,special=nan_last", {real},
           "NaN last: lost where the comparison favours the older value");
  list.add(Tier::smoke, "kind=max,n=5003,special=both_inf", {real}, "both infinities: +Inf");
  for (const char* const kind : {"sum", "max"})
    list.add(Tier::smoke, fmt::format("kind={},n=5003,special=inf_nan", kind), {real},
             "NaN behind +Inf: who stops at what nothing exceeds never sees it");
  list.add(Tier::smoke, "kind=sum,n=200003", {positive}, "a sum beyond the largest number of f16");
  list.add(Tier::smoke, "kind=sum,n=40009,special=negative", {scaled}, "one sign, and every scale");
  list.add_hostile(Tier::smoke, "kind=sum,n=1035", 7, "every special value at every class of position");
  list.add_hostile(Tier::smoke, "kind=max,n=1035", 56, "every special value at every class of position");

  list.add(Tier::smoke, "kind=sum,n=16777217,special=nan_last", {real},
           "one more than a float counts, and than 65,535 blocks of 256 take: what is lost is the last",
           {Dtype::f32});
  list.add(Tier::full, "kind=sum,n=1000000", {exact, real, positive, scaled}, "a million");
  list.add(Tier::full, "kind=sum,n=10000019", {real, positive},
           "ten million: uncompensated fp32 drifts visibly");
  list.add(Tier::full, "kind=max,n=10000019", {real}, "ten million");
  list.add(Tier::stress, "kind=sum,n=2147483659", {real}, "more than 2^31 terms: a 32-bit index wraps",
           {Dtype::f32});
}

template <class T>
void Reduce::make(const Case& c, Instance<Reduce, T>& instance) {
  const std::string kind = c.text("kind"), special = c.text_or("special", "none");
  require_known_word(c, "kind", kind, {"sum", "max"});
  require_known_word(c, "special", special, kSpecialWords);
  const std::int64_t n = c.integer("n");
  T* x = instance.arena.template allocate<T>(n);
  fill_values(x, 1, n, c, Role::left, 1000);
  place_special(x, n, special, facts(c.dtype).in);
  instance.problem.kind = kind == "sum" ? Kind::sum : Kind::max;
  quantise(facts(c.dtype).in, x, n);  // as stored: what they sum to decides
  const bool zero = special == "minus_zero";
  if (!zero) keep_from_zero<T>(x, n, instance.problem.kind, c);
  instance.in.x = {x, n};
  instance.out.result.size = 1;
  instance.degenerate = n == 0 || zero;
}

template <class T>
void Reduce::validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>& out) {
  if (out.result.size != 1)
    throw Error(fmt::format("reduce: the result has {} elements, not 1", out.result.size));
}

template <class T>
void Reduce::oracle(const Problem<T>& p, const In<T, Space::host>& in, const Out<T, Space::host>&,
                    Reference& reference) {
  ReferenceArray& result = reference.outputs.emplace_back();
  result.resize(1);
  if (p.kind == Kind::max) {
    double best = -std::numeric_limits<double>::infinity();
    bool nan = false;
    for (std::int64_t i = 0; i < in.x.size; ++i) {
      const double v = in.x[i];
      nan = nan || std::isnan(v);
      if (v > best) best = v;
    }
    result.value[0] = nan ? std::numeric_limits<double>::quiet_NaN() : best;
    return;  // magnitude and terms stay 0: a maximum is exact
  }
  // fp32 uses Dot2 too: over 10^7 terms plain fp64 has a larger error than the doubled arithmetic's bound allows
  OracleDot<double> sum;
  for (std::int64_t i = 0; i < in.x.size; ++i) sum.add(in.x[i]);
  result.value[0] = sum.value();
  result.magnitude[0] = sum.magnitude();
  result.terms[0] = static_cast<std::int32_t>(
      std::min<std::int64_t>(sum.terms(), std::numeric_limits<std::int32_t>::max()));
}

template <class T>
Work Reduce::cost(const Problem<T>&, const In<T, Space::host>& in, const Out<T, Space::host>&) {
  const auto n = static_cast<double>(in.x.size);
  return {n, n, 1};
}

double Reduce::bound(const Tolerance& t, int, double value, double magnitude, std::int64_t terms) {
  if (terms == 0) return 0;  // a maximum, or the empty sum
  // Whatever the fill, partial sums may grow to the value, as with special=negative, where all terms have one sign: their roundings
  // then drift at its size, beside those of a sum that stays near 0.
  const double grows =
      sum_bound_of_one_sign(t, 0, std::fabs(value), terms);  // the rounding of the result counts once
  return std::min(sum_bound(t, value, magnitude, terms) + grows,
                  sum_bound_of_one_sign(t, value, magnitude, terms));
}

// The maximum for the sum, and the reverse.
template <class T>
bool Reduce::make_other(Problem<T>& p, int n) {
  p.kind = p.kind == Kind::sum ? Kind::max : Kind::sum;
  return n == 0;
}

template bool Reduce::make_other<float>(Problem<float>&, int);
template bool Reduce::make_other<double>(Problem<double>&, int);
PLUMB_INSTANTIATE_OPERATOR(Reduce)

}  // namespace plumb
