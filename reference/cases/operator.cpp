#include "reference/cases/operator.hpp"

#include <algorithm>
#include <cmath>

#include "reference/arithmetic/tensor_bound.hpp"
#include "reference/cases/special_values.hpp"
#include "reference/core/text.hpp"

namespace plumb {

namespace {

// Fills whose partial sums may grow to the magnitude. A user's values may differ by any factor: after one large term every later addition
// rounds at its size.
bool may_grow(Fill fill) { return fill == Fill::positive || fill == Fill::own || fill == Fill::few; }

// The fill whose sums those of a hostile one are like. Beside a huge value of a format of little range the ordinary ones still count, and are
// rounded at its size; one of a wide format takes the sum for itself.
Fill as_summed(const Tolerance& t) {
  const bool others_count = huge_exponent(facts(t.dtype).in) < facts(t.accumulate()).digits;
  return t.fill == Fill::hostile && others_count ? Fill::own : t.fill;
}

// What the roundings of a sum in twice the precision amount to, in units of u^2 M. Those of Dot2 are of errors that have added up so far:
// measured up to 0.07 n on positive data, 0.33 sqrt(n) where the partial sums stay small.
double sum_of_doubled_roundings(Fill fill, double n) { return 8 * (may_grow(fill) ? n : std::sqrt(n)); }

// Products of 8 bits leave a tensor core's sum for one in fp32 after so many terms, unless a variant declares that they do not.
constexpr std::int64_t kPromotion = 128;

// What a sum in tensor cores loses, of any chip from sm_80 on: it is cut, not rounded (docs/bounds.md).
double tensor_share(const Tolerance& t, double magnitude, double n) {
  const int bytes = facts(facts(t.dtype).in).bytes;
  if (!t.tensor_cores || bytes > 2 || t.arithmetic.order != Arithmetic::Order::any) return 0;
  const TensorCore& core =
      bytes == 1 ? tensor_core(90, TensorInstruction::wgmma, 1) : tensor_core(80, TensorInstruction::mma, 2);
  const bool promoted = bytes == 1 && !t.arithmetic.fast;
  const auto terms = static_cast<std::int64_t>(n);
  // partial sums of zero-mean products stay below 6 sqrt(sum p^2); of uniform factors that is 8 M / sqrt(n)
  const double weight = t.fill == Fill::real ? std::min(1.0, 8 / std::sqrt(n)) * magnitude : magnitude;
  const bool in_half = t.accumulate() == Format::f16;
  return tensor_bound(core, in_half ? Format::f16 : Format::f32,
                      promoted ? std::min(terms, kPromotion) : terms, weight);
}

// What the roundings of the sum amount to, by its order.
double roundings_of(const Tolerance& t, double value, double magnitude, double n) {
  const double u = t.unit();
  const Fill fill = as_summed(t);
  const bool few = fill == Fill::few;
  // where roundings add up, those of the product and of alpha count too
  const double plain = sum_of_roundings(fill, few ? n + 2 : n) * u * magnitude;
  const double doubled = u * std::fabs(value) + sum_of_doubled_roundings(fill, n) * u * u * magnitude;
  switch (t.arithmetic.order) {
    case Arithmetic::Order::pairwise:
      return std::min(plain, (2 * std::log2(n + 1) + 8) * u * magnitude);
    case Arithmetic::Order::compensated:
      return 2 * u * magnitude + doubled;  // Kahan: Higham (2002), eq. 4.8
    case Arithmetic::Order::doubled:
      return doubled;
    case Arithmetic::Order::any:
      break;
  }
  // each operand keeps twice the bits (2 u each), and the product of the two low parts is dropped (4 u): 8 u per product, which shows
  // where there are few terms; from four terms on the bound of the sum holds it
  if (t.arithmetic.corrected) return std::max(few ? plain + 8 * u * magnitude : plain, 12 * u * magnitude);
  return plain + tensor_share(t, magnitude, n);
}

// What two operands lose that are cut to the digits of their format, 2 u each.
double operand_roundings(const Arithmetic& a, double magnitude) {
  if (!is_floating(a.operand) || a.corrected) return 0;  // the magnitude may be infinite
  return 4 * facts(a.operand).unit * magnitude;
}

// What n terms lose where they underflow: as sums, or as operands of a format with less range than fp32.
double underflow_of(const Tolerance& t, double n) {
  const FormatFacts& operand = facts(t.arithmetic.operand);
  const bool less_range =
      is_floating(operand.format) && operand.min_exponent > facts(Format::f32).min_exponent;
  return n * (less_range ? operand.eta : t.eta());
}

}  // namespace

double sum_of_roundings(Fill fill, double n) {
  if (fill == Fill::few) return n;       // n u M for any n: Jeannerod and Rump (2013)
  const double walk = 4 * std::sqrt(n);  // measured: 1.0 to 1.5 sqrt(n) on positive data
  return may_grow(fill) ? walk : std::min(walk, 16.0);
}

Fill fill_of_one_sign(Fill fill) { return is_bitwise(fill) || fill == Fill::few ? fill : Fill::positive; }

double sum_bound(const Tolerance& t, double value, double magnitude, std::int64_t terms) {
  const double n = static_cast<double>(terms);
  const double flushed = t.arithmetic.flushes ? (n + 1) * t.smallest_normal() : 0;
  // integers are exact, in a declared accumulator up to its digits; integers scaled into the subnormals are, up to what is flushed
  const double unit = t.arithmetic.fast ? 0x1p-13 : t.unit();
  const bool holds = unit == facts(facts(t.dtype).accumulate).unit || magnitude * unit <= 1;
  if (is_bitwise(t.fill) && holds) return magnitude > 0 && magnitude < flushed ? flushed : 0;
  return operand_roundings(t.arithmetic, magnitude) + roundings_of(t, value, magnitude, n) +
         underflow_of(t, n) + flushed;
}

template <class T>
double affine_magnitude(double alpha, double products, double addend, std::int64_t terms) {
  const double n = static_cast<double>(terms), a = std::fabs(alpha);
  const double lost = std::max(0.0, a - 1) * n * kEta<T> / kUnit<T>;
  return a * products + lost + std::fabs(addend) * std::max(1.0, std::sqrt(n) / 4);
}
template double affine_magnitude<float>(double, double, double, std::int64_t);
template double affine_magnitude<double>(double, double, double, std::int64_t);

// A function of a sum. Let e = sum_bound(...) bound |s' - s|, and let f err by at most c ulp (2 c u relative):
//   f(s)              |f(s') - f(s)| + 2 c u |f(s)|, the first term at most e max |f'| between s - e and s + e
//   sqrt(s), s >= 0   min(e / sqrt(s), sqrt(e)) + u sqrt(s): correctly rounded; sqrt(e) holds where s may be 0
//   exp(s)            exp(s) (expm1(e) + 2 c u): an absolute error of s is a relative one of exp(s)
//   s / t             (e_s + |s / t| e_t) / (|t| - e_t) + u |s / t|, for |t| > e_t: the case must keep t from 0
// All to first order in u. Put what does not depend on the declared arithmetic into ReferenceArray::magnitude, and the rest into bound().

double sum_bound_of_one_sign(const Tolerance& t, double value, double magnitude, std::int64_t terms) {
  Tolerance drifting = t;
  drifting.fill = fill_of_one_sign(t.fill);
  return sum_bound(drifting, value, magnitude, terms);
}

double sum_bound_of_many_scales(const Tolerance& t, double value, double magnitude, std::int64_t terms) {
  Tolerance varied = t;
  if (t.fill == Fill::scaled) varied.fill = Fill::own;
  return sum_bound(varied, value, magnitude, terms);
}

Cost cost_of(const Work& work, Dtype dtype) {
  const DtypeFacts& d = facts(dtype);
  return {work.flop,
          facts(d.in).bytes * work.values_in + facts(d.out).bytes * work.values_out + work.index_bytes};
}

namespace {

// Whether the type's outputs show every factor of a case.
bool shows_factors(Dtype dtype, std::string_view params) {
  for (const std::string& item : split(params, ',')) {
    const char* const word = item.c_str() + item.find('=') + 1;
    char* end = nullptr;
    const double number = std::strtod(word, &end);
    if (end != word && *end == '\0' && number != std::floor(number) && !is_shown_by(facts(dtype).out, number))
      return false;
  }
  return true;
}

}  // namespace

void CaseList::add(Tier tier, std::string_view params, std::initializer_list<Fill> fills,
                   std::string_view why, std::initializer_list<Dtype> only) {
  for (const Dtype dtype : only.size() > 0 ? std::vector<Dtype>(only) : dtypes_) {
    if (!shows_factors(dtype, params)) continue;
    for (const Fill fill : fills) {
      Case c;
      c.op = op_;
      c.dtype = dtype;
      c.fill = fill;
      c.tier = tier;
      c.why = why;
      for (const std::string& item : split(params, ',')) {
        const std::size_t equals = item.find('=');
        c.params.emplace_back(item.substr(0, equals), item.substr(equals + 1));
      }
      cases_.push_back(std::move(c));
    }
  }
}

void CaseList::add_hostile(Tier tier, std::string_view params, std::uint64_t seeds, std::string_view why) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::size_t before = cases_.size();
    add(tier, params, {Fill::hostile}, why);
    for (std::size_t i = before; i < cases_.size(); ++i) cases_[i].seed = seed;
  }
}

}  // namespace plumb
