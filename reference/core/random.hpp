// Counter-based random numbers: value = f(seed, stream, index). Any element can be made alone, in any order, by any thread,
// and a seed in a repro line is all it takes to see the same data again.
#pragma once
#include <cstdint>

namespace plumb {

/// Every bit of the result depends on every bit of z, and no two z have one result. Source: the finaliser of Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014 (variant 13 constants).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// 64 well mixed bits for (seed, stream, index): mixed() once per key word.
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream,
                                                  std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
  return mixed(mixed(mixed(seed + kGolden) + stream * kGolden + 1) + index * kGolden);
}

/// Uniform in [0, 1), 53 bits.
[[nodiscard]] constexpr double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/// Uniform integer in [0, n); n > 0. Multiply-shift: the bias is below n * 2^-64.
[[nodiscard]] constexpr std::uint64_t random_below(std::uint64_t seed, std::uint64_t stream,
                                                   std::uint64_t index, std::uint64_t n) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random_bits(seed, stream, index)) * n) >>
                                    64);
}

}  // namespace plumb
