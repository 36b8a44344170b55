#include "reference/arithmetic/bounded.hpp"

#include <array>
#include <bit>
#include <vector>

#include "reference/arithmetic/fp.hpp"

namespace plumb {

// Units are of rounding: 1 ulp is 2 of them at most. NVIDIA counts ulps from the correctly rounded result, which is half a ulp from the true
// one: 1 unit is added. A function counts about twice, since kernels have other libraries than these; exp 3 units more than once, for the
// exponentials by which an online softmax rescales its sum. CUDA: "CUDA C++ Programming Guide" of CUDA 13.0, section 17.1, tables 17 (fp32) and 18 (fp64), section 17.2, table 21
// (intrinsics). PTX: "PTX ISA" 9.1. glibc: the ulps of its tests on x86-64 (libm-test-ulps, "Known Maximum Errors" of its manual, section 19.7).
const Grant kGrants[6] = {
    {Function::divide, 4, 10, 0, 0, 0,
     "1/b and a (1/b), half a ulp each (IEEE 754), twice; __fdividef: 2 ulp (CUDA table 21)"},
    {Function::sqrt, 10, 10, 0, 0, 0,
     "sqrtf: 0 ulp, rsqrtf: 2 ulp, rsqrt: 1 ulp (CUDA tables 17, 18); rsqrt.approx.f32: 2^-22.9 (PTX "
     "9.7.3.17)"},
    {Function::exp, 8, 10, 0, 2, 4 * 1.173,
     "expf: 2 ulp, exp: 1 ulp (CUDA tables 17, 18); 1 ulp (glibc); __expf: 2 + 1.173 |x| ulp (CUDA table "
     "21)"},
    {Function::log, 4, 14, 2 * 3.5888e-7, 0, 0,  // 2^-21.41
     "logf, log: 1 ulp (CUDA tables 17, 18); 1 ulp (glibc); __logf: 2^-21.41 in [0.5, 2], else 3 ulp (CUDA "
     "table 21)"},
    {Function::tanh, 10, 16384, 0, 0, 0,
     "tanhf: 2 ulp, tanh: 1 ulp (CUDA tables 17, 18); 2 ulp (glibc); tanh.approx.f32: 2^-11 (PTX 9.7.3.22)"},
    {Function::erf, 10, 10, 0, 0, 0, "erff, erf: 2 ulp (CUDA tables 17, 18); 1 ulp (glibc)"}};

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Bounded kUnknown{0, 0, kInf};  // a number, of which nothing can be said

bool is_exactly(const Bounded& a, double number) { return a.value == number && a.low == 0 && a.error == 0; }

bool is_negative(const Bounded& a) { return a.value < 0 && std::isfinite(a.value); }

// The sum of two numbers of which the first is the larger one, as value and rest.
Bounded renormalised(double value, double low, double error) {
  const double sum = value + low;
  if (!std::isfinite(sum)) return {value, 0, error};
  return {sum, low - (sum - value), error};
}

Bounded plus(const Bounded& a, const Bounded& b) {
  const auto [sum, rest] = two_sum(a.value, b.value);
  if (!std::isfinite(sum)) return {sum, 0, 0};
  return renormalised(sum, rest + a.low + b.low, 0);
}

Bounded times(const Bounded& a, const Bounded& b) {
  const auto [product, rest] = two_product(a.value, b.value);
  if (!std::isfinite(product) || product == 0) return {product, 0, 0};
  return renormalised(product, rest + a.value * b.low + a.low * b.value, 0);
}

Bounded over(const Bounded& a, const Bounded& b) {
  const double quotient = a.value / b.value;
  if (!std::isfinite(quotient) || !std::isfinite(b.value)) return {quotient, 0, 0};
  const double rest = std::fma(-quotient, b.value, a.value) + a.low - quotient * b.low;
  return renormalised(quotient, rest / b.value, 0);
}

Bounded root(const Bounded& a) {
  const double r = std::sqrt(a.value);
  if (!(r > 0) || !std::isfinite(r)) return {r, 0, 0};
  return renormalised(r, (std::fma(-r, r, a.value) + a.low) / (2 * r), 0);
}

// A function in a double, to first order in the rest, or in the 80-bit format, whose 11 digits more are enough beside a bound of fp64.
template <class F>
Bounded function(bool wide, const Bounded& a, double slope, F&& f) {
  if (wide) {
    const long double y = f(static_cast<long double>(a.value) + static_cast<long double>(a.low));
    const auto value = static_cast<double>(y);
    if (!std::isfinite(value)) return {value, 0, 0};
    return {value, static_cast<double>(y - static_cast<long double>(value)), 0};
  }
  const double value = f(a.value);
  return std::isfinite(value) ? renormalised(value, a.low * slope, 0) : Bounded{value, 0, 0};
}

// Whether half of the terms that are not 0, or more, are equal to another one: they lose equal amounts.
bool repeats(const Bounded* terms, std::int64_t count, std::int64_t not_zero) {
  const std::size_t places = std::bit_ceil(static_cast<std::size_t>(count)) * 2;
  thread_local std::vector<std::uint64_t> seen;
  seen.assign(places, ~std::uint64_t{0});
  std::int64_t different = 0;
  for (std::int64_t k = 0; k < count && 2 * different <= not_zero; ++k) {
    if (terms[k].value == 0) continue;
    const auto bits = std::bit_cast<std::uint64_t>(terms[k].value);
    std::size_t at = (bits * 0x9e3779b97f4a7c15u >> 20) & (places - 1);
    while (seen[at] != ~std::uint64_t{0} && seen[at] != bits) at = (at + 1) & (places - 1);
    different += seen[at] != bits ? 1 : 0;
    seen[at] = bits;
  }
  return 2 * different <= not_zero;
}

// What the terms of a sum amount to.
struct Terms {
  double magnitude = 0;      // with their errors
  double squares = 0;        // of their values
  double largest = 0;        // partial sum, in the order of the terms
  double errors = 0;         // of the terms
  std::int64_t rounded = 0;  // terms that are not exactly 0: to add 0 rounds nothing
  bool integers = true;      // exact ones
};

}  // namespace

Compute::Compute(Format format, Math math)
    : format_(format),
      math_(math),
      unit_(facts(format).unit),
      rounding_(2 * unit_),
      eta_(math == Math::fast ? 2 * facts(format).smallest_normal : 2 * facts(format).eta),
      largest_(facts(format).largest),
      wide_(facts(format).digits > 32) {}

const Grant& Compute::grant(Function f) { return kGrants[static_cast<std::size_t>(f)]; }

double Compute::granted(Function f) const { return (is_fast() ? grant(f).fast : grant(f).library) * unit_; }

// The GPU's approximations are fp32's.
bool Compute::is_fast() const { return math_ == Math::fast && !wide_; }

bool Compute::is_unknown(const Bounded& a) const { return a.error == kInf && !overflows(a); }

bool Compute::overflows(const Bounded& a) const {
  return a.error >= kBeyond && std::fabs(a.value) >= largest_ / 2;
}

Bounded Compute::finished(Bounded a) const {
  if (!std::isfinite(a.value)) return {a.value, 0, 0};
  const double size = std::fabs(a.value);
  if (!(size + a.error <= largest_)) a.error = size - a.error > largest_ * (1 + unit_) ? kBeyond : kInf;
  return a;
}

Bounded Compute::constant(double c) const {
  return {c, 0, representable(format_, c) == c ? 0 : rounding_ * std::fabs(c)};
}

Bounded Compute::add(const Bounded& a, const Bounded& b) const {
  if (is_exactly(a, 0) && std::isfinite(b.value)) return b;  // rounds nothing
  if (is_exactly(b, 0) && std::isfinite(a.value)) return a;
  Bounded sum = plus(a, b);
  // what is beyond the range stays there unless something of the other sign is added
  const auto stays = [&](const Bounded& far, const Bounded& other) {
    return far.error == kBeyond && std::fabs(sum.value) >= std::fabs(far.value) &&
           std::fabs(other.value) >= other.error;
  };
  if (stays(a, b) || stays(b, a)) return {sum.value, 0, kBeyond};
  const double error = a.error + b.error;
  const bool exact = error == 0 && sum.low == 0 && representable(format_, sum.value) == sum.value;
  sum.error = exact ? 0 : error + rounding_ * (std::fabs(sum.value) + error);
  return finished(sum);
}

Bounded Compute::product_term(const Bounded& a, const Bounded& b) {
  Bounded product = times(a, b);
  if (a.error != 0 || b.error != 0)
    product.error = std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  return product;
}

Bounded Compute::multiply(const Bounded& a, const Bounded& b) const {
  Bounded product = product_term(a, b);
  const bool exact =
      product.error == 0 && product.low == 0 && representable(format_, product.value) == product.value;
  const bool of_one = is_exactly(absolute(a), 1) || is_exactly(absolute(b), 1);
  if (!exact && !of_one) product.error += rounding_ * (std::fabs(product.value) + product.error) + eta_;
  return finished(product);
}

// A divisor beyond the range is infinite in a variant, or nearly: the quotient is then 0, or nearly. Of a division by 0, such as a mean of
// nothing, nothing is said: what variants make of it is a matter of taste.
Bounded Compute::divide(const Bounded& a, const Bounded& b) const {
  if (b.value == 0 && std::isfinite(a.value)) return kUnknown;
  Bounded quotient = over(a, b);
  const double size = std::fabs(b.value);
  if (overflows(b)) {
    quotient.error = std::fabs(quotient.value) + (std::fabs(a.value) + a.error) / (largest_ / 2) + eta_;
  } else if (b.error > size / 4) {
    return kUnknown;
  } else {
    quotient.error = (a.error + std::fabs(quotient.value) * b.error) / (size - b.error) +
                     granted(Function::divide) * std::fabs(quotient.value) + eta_;
  }
  return finished(quotient);
}

// A sum of squares is never negative: where it may be 0 its bound is what underflows. Any other number that may be negative has no root.
Bounded Compute::sqrt(const Bounded& a) const {
  Bounded r = root(a);
  if (is_negative(a) || (a.error > a.value && a.error > 0x1p20 * facts(format_).eta)) return kUnknown;
  const double left = r.value - std::sqrt(std::max(0.0, a.value - a.error));
  const double right = std::sqrt(a.value + a.error) - r.value;
  r.error = std::max(left, right) + granted(Function::sqrt) * r.value;
  return finished(r);
}

// exp2(x c), by which kernels compute it, rounds x c and c: the argument moves by a multiple of |x|.
Bounded Compute::exp(const Bounded& a) const {
  if (is_unknown(a)) return kUnknown;
  if (is_exactly(a, 0)) return {1, 0, 0};  // in every library
  const double value = std::exp(a.value);
  Bounded e = function(wide_, a, value, [](auto x) { return std::exp(x); });
  if (overflows(a) && a.value < 0) return {0, 0, eta_};
  const Grant& g = grant(Function::exp);
  const double moved =
      a.error + (is_fast() ? g.fast_of_argument : g.of_argument) * unit_ * std::fabs(a.value);
  const double times =
      moved < 0x1p-8 ? moved * (1 + moved) : std::expm1(moved);  // the first is larger, and fast
  e.error = e.value * (times + granted(Function::exp) * (1 + times)) + eta_;
  if (e.value == 0) e.error = std::isinf(a.value) ? 0 : eta_;
  return finished(e);
}

Bounded Compute::log(const Bounded& a) const {
  Bounded l = function(wide_, a, 1 / a.value, [](auto x) { return std::log(x); });
  if (is_negative(a) || (a.error > 0 && a.error >= a.value)) return kUnknown;
  const double moved = a.error > 0 ? -std::log1p(-a.error / a.value) : 0;
  l.error = moved + granted(Function::log) * (std::fabs(l.value) + moved);
  if (is_fast() && a.value + a.error >= 0.5 && a.value - a.error <= 2)
    l.error += grant(Function::log).near_zero;
  return finished(l);
}

Bounded Compute::tanh(const Bounded& a) const {
  if (is_unknown(a)) return kUnknown;
  const double nearest = std::max(0.0, std::fabs(a.value) - a.error);
  const auto slope = [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); };
  Bounded t = function(wide_, a, slope(a.value), [](auto x) { return std::tanh(x); });
  t.error = overflows(a) ? 0 : std::min(2.0, a.error * slope(nearest));
  t.error += granted(Function::tanh) * (std::fabs(t.value) + t.error) + eta_;
  return finished(t);
}

Bounded Compute::erf(const Bounded& a) const {
  if (is_unknown(a)) return kUnknown;
  constexpr double kTwoBySqrtPi = 1.1283791670955126;
  const double nearest = std::max(0.0, std::fabs(a.value) - a.error);
  const auto slope = [](double x) { return kTwoBySqrtPi * std::exp(-x * x); };
  Bounded f = function(wide_, a, slope(a.value), [](auto x) { return std::erf(x); });
  f.error = overflows(a) ? 0 : std::min(2.0, a.error * slope(nearest));
  f.error += granted(Function::erf) * (std::fabs(f.value) + f.error) + eta_;
  return finished(f);
}

// The logarithm of a sum of exponentials moves by no more than the largest of what its terms' exponents move by, however far that is.
void Compute::log_softmax(const Bounded* row, std::int64_t count, Bounded* y) const {
  double most = -kInf, largest = 0;
  for (std::int64_t j = 0; j < count; ++j)
    most = std::max(most, row[j].value), largest = std::max(largest, row[j].error);
  std::vector<Bounded> powers;
  for (std::int64_t j = 0; j < count; ++j)
    y[j] = add({row[j].value, row[j].low, 0}, {-most, 0, 0}), powers.push_back(exp(y[j]));
  const Bounded rest = negated(log(sum(powers.data(), count, false)));
  for (std::int64_t j = 0; j < count; ++j) {
    y[j] = add(y[j], rest);
    y[j].error += row[j].error + largest;
  }
}

Bounded Compute::leaky_relu(const Bounded& a, const Bounded& slope) const {
  const Bounded scaled = multiply(a, slope);
  Bounded result = a.value < 0 ? scaled : a;
  if (std::fabs(a.value) <= a.error) result.error = std::max(a.error, scaled.error);
  return result;
}

Bounded Compute::store(const Bounded& a, Format format) const {
  const FormatFacts& f = facts(format);
  Bounded stored = a;
  if (std::fabs(a.value) > f.largest) stored.error = kInf;
  stored.error += 2 * (f.unit * (std::fabs(a.value) + a.error) + f.eta);
  return finished(stored);
}

Bounded Compute::sum(const Bounded* terms, std::int64_t count, bool products, bool running) const {
  Terms t;
  double value = 0, low = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const Bounded& x = terms[k];
    const double size = std::fabs(x.value);
    const auto [sum, rest] = two_sum(value, x.value);
    value = sum, low += rest + x.low;
    t.magnitude += size + x.error, t.errors += x.error, t.squares += x.value * x.value;
    t.largest = std::max(t.largest, std::fabs(sum));
    t.rounded += x.value != 0 || x.error != 0 ? 1 : 0;
    t.integers = t.integers && x.error == 0 && x.value == std::nearbyint(x.value);
  }
  Bounded total = std::isfinite(value) ? renormalised(value, low, 0) : Bounded{value, 0, 0};
  if (!running && t.integers && t.magnitude < 1 / unit_) return total;  // every partial sum is exact
  const double n = static_cast<double>(products ? t.rounded : std::max<std::int64_t>(t.rounded, 1) - 1);
  // the worst case, and a few more: kernels take a factor of the sum into its terms
  double roundings = (n + std::min(n, 4.0)) * t.magnitude;
  if (n > 4 && std::isfinite(t.magnitude) && !repeats(terms, count, t.rounded)) {
    // what partial sums come to: those of terms of either sign stay small
    const double partial = std::min(t.magnitude, t.largest + t.errors + 3.5 * std::sqrt(t.squares));
    const double place = 2 * unit_ * std::exp2(std::floor(std::log2(partial)));
    const double drift =
        partial > 0 ? drift_of_sum(count, place, unit_, [&](std::int64_t k) { return terms[k].value; }) : 0;
    roundings = std::min(roundings, 4 * std::sqrt(n) * partial + drift);
  }
  total.error = t.errors + unit_ * roundings + (products ? n * eta_ : 0);
  return finished(total);
}

Bounded negated(const Bounded& a) { return {-a.value, -a.low, a.error}; }
Bounded absolute(const Bounded& a) {
  return a.value < 0 ? negated(a) : Bounded{std::fabs(a.value), a.low, a.error};
}

Bounded larger(const Bounded& a, const Bounded& b) {
  if (std::isnan(a.value) || std::isnan(b.value)) return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  const bool first = a.value > b.value || (a.value == b.value && a.low >= b.low);
  const Bounded& win = first ? a : b;
  const Bounded& lose = first ? b : a;
  const bool open = lose.value + lose.error >= win.value - win.error;
  return {win.value, win.low, open ? std::max(win.error, lose.error) : win.error};
}
Bounded smaller(const Bounded& a, const Bounded& b) { return negated(larger(negated(a), negated(b))); }

Bounded less(const Bounded& a, const Bounded& b, bool or_equal) {
  const double error = a.error + b.error, distance = a.value - b.value;
  const bool holds = or_equal ? a.value <= b.value : a.value < b.value;
  return {holds ? 1.0 : 0.0, 0, error > 0 && std::fabs(distance) <= error ? 1.0 : 0.0};
}

Bounded chosen(const Bounded& condition, const Bounded& a, const Bounded& b) {
  Bounded result = condition.value != 0 ? a : b;
  if (condition.error > 0) result.error = std::max(a.error, b.error) + std::fabs(a.value - b.value);
  return result;
}

}  // namespace plumb
