// The inverse of the error function, by Newton's method: on erf itself, and in the tail on the logarithm of erfc, which keeps its digits.
#include <cmath>
#include <limits>

#include "gpu/simt/language/device_api.hpp"

namespace plumb::simt {

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

}  // namespace plumb::simt
