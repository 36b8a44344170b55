// Element by element against the oracle. One line of compare.cpp holds the whole policy: `!(err <= bound)` is a miss.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "reference/cases/operator.hpp"
#include "verify/image/image.hpp"

namespace plumb {

/// One element that missed its bound.
struct Miss {
  std::int64_t index = 0;  // row * cols + col
  double got = 0, want = 0, error = 0, bound = 0;
  std::int32_t terms = 0;
  std::uint64_t bits = 0;  // of what was got
  std::string why = {};    // where several answers are legal: why this is none of them
};

/// One output array against its oracle.
struct Comparison {
  std::int64_t elements = 0, misses = 0;
  double max_ratio =
      0;  // largest err / bound among finite pairs; infinite where the bound is 0 and err is not
  double mean_ratio = 0;
  // largest err / (u M): precision changes show here long before a failure. Elements whose rounding is mostly underflow are left out
  double max_unit_ratio = 0;
  double relative_l1 = 0, relative_l2 = 0;  // ||got - want|| / ||want|| over finite pairs, Neumaier sums
  std::int64_t worst = -1;
  std::vector<Miss> first;  // the first ten misses
  std::string map;          // characters: '.' no miss in the tile, '+' some, '#' all
  std::string guess;        // what the misses look like, or empty
};

/// The oracle of one array with its bounds, ready to be compared against.
struct Expected {
  const ReferenceArray* reference = nullptr;
  const LargeArray<double>* bound = nullptr;  // per element
  double unit = 0;                            // u of the type; 0 for integers
  double eta = 0;                             // its smallest subnormal: what one term can lose by underflow
  bool nan_in_data = false;                   // an input holds NaN
};

/// Compares the output segment `s` of `image` with what is expected. NaN is equal to NaN alone, an infinity to the same infinity;
/// a reference beyond the type's range may come out as that infinity. -0 is equal to +0, except in a copy (ReferenceArray::moved).
[[nodiscard]] Comparison compare(const Segment& s, const std::byte* image, const Expected& expected,
                                 Poison poison);

/// Element `index` of segment `s` as a double.
[[nodiscard]] double element(const Segment& s, const std::byte* image, std::int64_t index);
/// Its bit pattern.
[[nodiscard]] std::uint64_t element_bits(const Segment& s, const std::byte* image, std::int64_t index);

}  // namespace plumb
