#include "reference/core/operator.hpp"

#include <algorithm>
#include <cmath>

#include "reference/core/text.hpp"

namespace plumb {

namespace {

// Fills whose partial sums may grow to the magnitude. A user's values may differ by any factor: after one large term every later addition
// rounds at its size.
bool may_grow(Fill fill) { return fill == Fill::positive || fill == Fill::own || fill == Fill::few; }

// What the roundings of a sum in twice the precision amount to, in units of u^2 M. Those of Dot2 are of errors that have added up so far:
// measured up to 0.07 n on positive data, 0.33 sqrt(n) where the partial sums stay small.
double sum_of_doubled_roundings(Fill fill, double n) { return 8 * (may_grow(fill) ? n : std::sqrt(n)); }

}  // namespace

double sum_of_roundings(Fill fill, double n) {
  if (fill == Fill::few) return n;       // n u M for any n: Jeannerod and Rump (2013)
  const double walk = 4 * std::sqrt(n);  // measured: 1.0 to 1.5 sqrt(n) on positive data
  return may_grow(fill) ? walk : std::min(walk, 16.0);
}

Fill fill_of_one_sign(Fill fill) { return is_bitwise(fill) || fill == Fill::few ? fill : Fill::positive; }

double sum_bound(const Tolerance& t, double value, double magnitude, std::int64_t terms) {
  const double n = static_cast<double>(terms), u = t.unit();
  if (is_bitwise(t.fill)) {
    // integers are exact; integers scaled into the subnormals are, up to what is flushed
    const double flushed = t.arithmetic == Arithmetic::flushed ? (n + 1) * t.smallest_normal() : 0;
    return magnitude > 0 && magnitude < flushed ? flushed : 0;
  }
  // where roundings add up, those of the product and of alpha count too
  const bool few = t.fill == Fill::few;
  const double native = sum_of_roundings(t.fill, few ? n + 2 : n) * u * magnitude;
  const double underflow = n * t.eta();
  const double doubled = u * std::fabs(value) + sum_of_doubled_roundings(t.fill, n) * u * u * magnitude;
  switch (t.arithmetic) {
    case Arithmetic::native:
    case Arithmetic::
        winograd:  // the operator passes the transform's magnitude and the length of its longest chain
    case Arithmetic::by_lse:
      return native + underflow;
    case Arithmetic::flushed:
      return native + underflow + (n + 1) * t.smallest_normal();
    // each operand keeps 22 bits (2 u each), and the product of the two low parts is dropped (4 u): 8 u per product, which shows
    // where there are few terms; from four terms on the fp32 bound holds it
    case Arithmetic::tf32x3:
      return std::max(few ? native + 8 * u * magnitude : native, 12 * u * magnitude) + underflow;
    case Arithmetic::pairwise:
      return std::min(native, (2 * std::log2(n + 1) + 8) * u * magnitude) + underflow;
    case Arithmetic::compensated:
      return 2 * u * magnitude + doubled + underflow;  // Kahan: Higham (2002), eq. 4.8
    case Arithmetic::doubled:
      return doubled + underflow;
    case Arithmetic::tf32:
      return 0x1p-9 * magnitude + native + underflow;  // two operands, truncated to 11 bits
    case Arithmetic::bf16:
      return 0x1p-6 * magnitude + native + underflow;  // two operands, truncated to 8 bits
    case Arithmetic::fp16:
      return 0x1p-9 * magnitude + native + n * 0x1p-24;  // two operands, 11 bits, fp16 underflow
  }
  return 0;
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

void CaseList::add(Tier tier, std::string_view params, std::initializer_list<Fill> fills,
                   std::string_view why, std::initializer_list<Dtype> dtypes) {
  for (const Dtype dtype : dtypes) {
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
