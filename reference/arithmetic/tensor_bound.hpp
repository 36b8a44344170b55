// The derived bound of sums in tensor cores, from the table of what they keep.
#pragma once
#include "reference/arithmetic/tensor_cores.hpp"
#include "reference/core/format.hpp"

namespace plumb {

/// How far a sum of `depth` products, made in steps of that core, may be from the exact one: (T b 2^-F + T 2^-q) W with T = ceil(depth / b).
/// `weight`, W, is the sum of the magnitudes, or another bound of every partial sum. `sums`: f32, or f16, whose steps are rounded to nearest.
/// The accumulator begins at 0. Holds for finite results; subnormal ones are covered.
[[nodiscard]] constexpr double tensor_bound(const TensorCore& core, Format sums, std::int64_t depth,
                                            double weight) {
  const auto power = [](int bits) { return 1.0 / static_cast<double>(std::int64_t{1} << bits); };
  const std::int64_t steps = (depth + core.terms - 1) / core.terms;  // rounded up
  const double cut = static_cast<double>(core.terms) * power(core.fraction_bits);
  const bool rounded = sums == Format::f16;
  const double kept = power(rounded ? facts(Format::f16).digits : core.result_bits);
  const double least = facts(sums).smallest_normal;
  return static_cast<double>(steps) * (cut + kept) * (weight > least ? weight : least);
}

}  // namespace plumb
