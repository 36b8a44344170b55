#include "reference/arithmetic/cell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace plumb {
namespace {

// Half the distance from the number `size` >= 0 to its neighbour on the side of 0.
double half_below(const FormatFacts& f, double size) {
  const double above = spacing(f.format, size) / 2;
  std::uint64_t bits;
  __builtin_memcpy(&bits, &size, sizeof bits);
  const bool power = size > f.smallest_normal && bits << 12 == 0;  // no bit behind the leading one
  return power ? above / 2 : above;
}

}  // namespace

double distance_from_cell(Format format, double got, double value) {
  const FormatFacts& f = facts(format);
  const double beyond = f.largest + spacing(format, f.largest) / 2;
  if (std::isnan(got)) return f.infinity ? HUGE_VAL : std::max(0.0, beyond - std::fabs(value));
  if (got == 0) return std::max(0.0, std::fabs(value) - f.eta / 2);
  const double size = std::fabs(got), along = std::copysign(1.0, got) * value;  // value on got's side of 0
  if (std::isinf(got)) return std::max(0.0, beyond - along);
  const double low = size - half_below(f, size), high = size + spacing(format, size) / 2;
  return std::max({0.0, low - along, along - high});
}

}  // namespace plumb
