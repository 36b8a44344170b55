// The elements of one array of an image: copied, compared for poison, named in messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "verify/image/image.hpp"
#include "verify/judge/compare.hpp"

namespace plumb {

/// The elements of an array one after another, without its padding.
struct Elements {
  std::shared_ptr<std::byte[]> data;
  std::int64_t bytes = 0;
  friend bool operator==(const Elements& a, const Elements& b);
  /// The bits of the element that begins at byte `at`, `element_bytes` (up to 8) long.
  [[nodiscard]] std::uint64_t bits(std::int64_t at, int element_bytes) const;
};

/// Those of segment `s` of `image`.
[[nodiscard]] Elements elements_of(const Segment& s, const std::byte* image);

/// Whether segment `s` of `image` holds these.
[[nodiscard]] bool holds(const Segment& s, const std::byte* image, const Elements& elements);

/// A hash of their bits, begun with `h` (FNV-1a over words of 4 bytes).
[[nodiscard]] std::uint64_t hash_of(const Elements&, std::uint64_t h);

/// Clears the marks, 1, of elements that do not hold the poison.
void clear_written(const Segment& s, const std::byte* image, Poison poison,
                   std::vector<std::uint8_t>& unwritten);

/// "y[17]" or "C(3, 4)".
[[nodiscard]] std::string place_of(const Segment& s, std::int64_t index);

/// "12x", or words where the bound is 0.
[[nodiscard]] std::string ratio_text(double ratio);

/// Place, value and expected value, error, bound, distance in units in the last place, and terms.
[[nodiscard]] std::string describe_miss(const Segment& s, const Miss& m);

}  // namespace plumb
