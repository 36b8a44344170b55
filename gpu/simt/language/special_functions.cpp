// Functions that neither the C library nor C++ has in the form that CUDA asks for.
#include <cmath>
#include <limits>

#include "gpu/simt/language/math.hpp"

namespace plumb::simt {

// By Newton's method: on erf itself, and in the tail on the logarithm of erfc, which keeps its digits.

double inverse_erf(double p, double q) {
  if (!(q >= 0 && q <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (p < 0) return -inverse_erf(-p, 2 - q);
  if (q == 0) return std::numeric_limits<double>::infinity();
  constexpr double kSlope = 1.12837916709551257390;  // erf'(0)
  const bool tail = q < 0.5;
  double y = tail ? std::sqrt(-std::log(q)) : p / kSlope;
  for (int step = 0; step < 60; ++step) {
    const double slope = kSlope * std::exp(-y * y);
    const double by =
        tail ? -(std::log(std::erfc(y)) - std::log(q)) * std::erfc(y) / slope : (std::erf(y) - p) / slope;
    y -= by;
    if (!(std::fabs(by) > 1e-16 * std::fabs(y))) break;
  }
  return y;
}

double scaled_erfc(double x) {
  if (!(x >= 25)) {
    const double square = x * x;
    return std::exp(square) * (1 + std::fma(x, x, -square)) * std::erfc(x);  // the square's lost digits count
  }
  double sum = 1, term = 1;  // the asymptotic series
  for (int k = 1; std::fabs(term) > 1e-17; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return 0.56418958354775628695 * sum / x;
}

double bessel_i(int order, double x) {
  if (std::isnan(x)) return x;
  const double size = std::fabs(x);
  const double value =
      size > 713.98 ? std::numeric_limits<double>::infinity() : std::cyl_bessel_i(order, size);
  return order == 1 ? std::copysign(value, x) : value;
}

}  // namespace plumb::simt
