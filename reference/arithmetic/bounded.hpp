// Values with a bound on the error of every evaluation: the arithmetic in which formulas are evaluated (docs/formulas.md derives each rule).
// The formula is evaluated here, never a kernel: the bound holds for any order of a sum, with FMA and without.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/core/format.hpp"

namespace plumb {

/// A real number in double-double, and a bound of |computed - value| for a variant that computes in the format of a Compute. The bound is
/// infinite where nothing can be said, such as of a division by a difference that cancels; kBeyond where every variant has an infinity, since
/// the number is beyond the format's range. A value that is NaN or infinite by the data has the bound 0: answers are compared with it by
/// their class.
struct Bounded {
  double value = 0, low = 0;  // their sum is the number; |low| <= u |value|
  double error = 0;           // the bound; relative to nothing
};

inline constexpr double kBeyond = std::numeric_limits<double>::max();

/// What a function call may err by, in units of rounding relative to its result, where nothing else is said. Unlike roundings these are
/// counted once: they are the largest that their sources have, with something to spare.
enum class Function : std::uint8_t { divide, sqrt, exp, log, tanh, erf };
struct Grant {
  Function function;
  double library;           // of a library's function in fp32 and fp64
  double fast;              // of the GPU's approximations in fp32
  double near_zero;         // of them, where the result is near 0: absolute
  double of_argument;       // units of the argument, by which that is off
  double fast_of_argument;  // the same of the GPU's approximations
  const char* source;       // of the numbers
};
/// One row per function, in the order of the enumeration.
extern const Grant kGrants[6];

/// Which functions a variant may call: a library's, or the GPU's approximations too (__expf, ex2.approx, rsqrt.approx, tanh.approx).
enum class Math : std::uint8_t { library, fast };

/// In what a variant computes, and the rules for it.
class Compute {
 public:
  explicit Compute(Format format, Math math = Math::library);

  [[nodiscard]] double unit() const { return unit_; }
  [[nodiscard]] double eta() const { return eta_; }
  /// A number of a program's source: exact, or rounded once.
  [[nodiscard]] Bounded constant(double) const;
  [[nodiscard]] Bounded add(const Bounded&, const Bounded&) const;
  [[nodiscard]] Bounded multiply(const Bounded&, const Bounded&) const;
  /// Infinite where the divisor's bound is more than a quarter of it, and where it is 0.
  [[nodiscard]] Bounded divide(const Bounded&, const Bounded&) const;
  [[nodiscard]] Bounded sqrt(const Bounded&) const;
  [[nodiscard]] Bounded exp(const Bounded&) const;
  [[nodiscard]] Bounded log(const Bounded&) const;
  [[nodiscard]] Bounded tanh(const Bounded&) const;
  [[nodiscard]] Bounded erf(const Bounded&) const;
  /// x, or slope times x where x is negative.
  [[nodiscard]] Bounded leaky_relu(const Bounded&, const Bounded& slope) const;
  /// As kept in a narrower format between two operations.
  [[nodiscard]] Bounded store(const Bounded&, Format) const;
  /// The sum of `count` terms. `products`: each of them is the product of two numbers, whose own rounding is counted with those of the
  /// additions; their `error` is what the errors of the two numbers make. `running`: it is n times a mean, which a variant may keep instead of
  /// the sum (Welford's recurrence): that rounds where a sum of integers is exact.
  [[nodiscard]] Bounded sum(const Bounded* terms, std::int64_t count, bool products,
                            bool running = false) const;
  /// x - max - log(sum of exp(x - max)) of a row, which models end in: `count` numbers of y.
  void log_softmax(const Bounded* row, std::int64_t count, Bounded* y) const;
  /// The product of two numbers as a term of sum(): without its rounding.
  [[nodiscard]] static Bounded product_term(const Bounded& a, const Bounded& b);

  /// A number as its operation leaves it: without a bound where it is beyond the range.
  [[nodiscard]] Bounded finished(Bounded) const;

 private:
  [[nodiscard]] static const Grant& grant(Function);
  [[nodiscard]] double granted(Function) const;
  [[nodiscard]] bool is_fast() const;
  [[nodiscard]] bool is_unknown(const Bounded& a) const;  // and not only beyond the range
  [[nodiscard]] bool overflows(const Bounded& a) const;
  Format format_;
  Math math_;
  double unit_, rounding_, eta_, largest_;
  bool wide_;  // functions are evaluated in more digits than a double has
};

[[nodiscard]] Bounded negated(const Bounded&);
[[nodiscard]] Bounded absolute(const Bounded&);
/// Larger and smaller of two; their bound is that of whichever may be it.
[[nodiscard]] Bounded larger(const Bounded&, const Bounded&);
[[nodiscard]] Bounded smaller(const Bounded&, const Bounded&);
/// 1 where a < b, or a <= b, else 0; the bound is 1 where errors leave it open.
[[nodiscard]] Bounded less(const Bounded& a, const Bounded& b, bool or_equal);
/// a where the condition holds, else b. Where errors leave the condition open both are legal.
[[nodiscard]] Bounded chosen(const Bounded& condition, const Bounded& a, const Bounded& b);

/// What a plain sum of `count` terms may lose beyond the random walk, in units of `unit`. A partial sum is a multiple of its own last place;
/// adding a term rounds the term to such a multiple, whatever the partial sum is. So equal terms err by the same amount each time, and few
/// different ones by little more than a few amounts: as far as these have one sign, they add up. `last_place` is that of the largest
/// partial sum; those of partial sums before it, or of what many threads hold, are smaller. So many parts that all terms together lose less
/// than 4 sqrt(n), the random walk's share, are not looked at. V: double, long double.
template <class V, class Term>
[[nodiscard]] double drift_of_sum(std::int64_t count, V last_place, V unit, Term&& term) {
  double drift = 0;
  V place = last_place;
  for (std::int64_t parts = 1; 16 * parts * parts <= count; parts *= 2, place /= 2) {
    V errors = 0, ties = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const V places = term(k) / place, beyond = places - std::floor(places);
      if (beyond == V(0.5))
        ties += V(0.5);  // which way, the partial sum decides, and often always in the same way
      else
        errors += beyond < V(0.5) ? -beyond : 1 - beyond;
    }
    drift = std::max(drift, static_cast<double>((std::fabs(errors) + ties) * place / unit));
  }
  return drift;
}

}  // namespace plumb
