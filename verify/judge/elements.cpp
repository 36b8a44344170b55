#include "verify/judge/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "reference/core/pieces.hpp"

namespace plumb {

bool operator==(const Elements& a, const Elements& b) {
  return a.bytes == b.bytes &&
         (a.data == b.data || a.bytes == 0 ||
          std::memcmp(a.data.get(), b.data.get(), static_cast<std::size_t>(a.bytes)) == 0);
}

std::uint64_t Elements::bits(std::int64_t at, int element_bytes) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data.get() + at, static_cast<std::size_t>(element_bytes));
  return bits;
}

std::uint64_t hash_of(const Elements& elements, std::uint64_t h) {
  for (std::int64_t at = 0; at < elements.bytes; at += 4) {
    const auto left = static_cast<int>(std::min<std::int64_t>(elements.bytes - at, 4));
    h = (h ^ elements.bits(at, left)) * 0x100000001b3u;
  }
  return h;
}

Elements elements_of(const Segment& s, const std::byte* image) {
  const std::int64_t element = s.element_bytes(), stretches = (s.elements() + kStretch - 1) / kStretch;
  Elements elements{
      std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(s.elements() * element)]),
      s.elements() * element};
  for_each_piece(stretches, [&](std::int64_t n) {
    for_each_run(s, n * kStretch, std::min(s.elements(), (n + 1) * kStretch),
                 [&](std::int64_t i, std::int64_t j, std::int64_t count) {
                   std::memcpy(elements.data.get() + (i * s.cols + j) * element, image + s.place(i, j),
                               static_cast<std::size_t>(count * element));
                 });
  });
  return elements;
}

bool holds(const Segment& s, const std::byte* image, const Elements& elements) {
  const std::int64_t element = s.element_bytes();
  if (elements.bytes != s.elements() * element) return false;
  bool same = true;
  for_each_run(s, 0, s.elements(), [&](std::int64_t i, std::int64_t j, std::int64_t count) {
    same = same && std::memcmp(elements.data.get() + (i * s.cols + j) * element, image + s.place(i, j),
                               static_cast<std::size_t>(count * element)) == 0;
  });
  return same;
}

void clear_written(const Segment& s, const std::byte* image, Poison poison,
                   std::vector<std::uint8_t>& unwritten) {
  if (std::find(unwritten.begin(), unwritten.end(), 1) == unwritten.end()) return;
  const std::uint64_t held = poison_bits(poison, s.element_bytes());
  const auto holds_poison = [&](const std::byte* at) {
    return std::memcmp(at, &held, static_cast<std::size_t>(s.element_bytes())) == 0;
  };
  const std::int64_t pieces = (s.elements() + kStretch - 1) / kStretch;
  for_each_piece(pieces, [&](std::int64_t piece) {
    const std::int64_t begin = piece * kStretch, end = std::min(s.elements(), begin + kStretch);
    for_each_element(s, image, begin, end, [&](std::int64_t i, const std::byte* at) {
      if (!holds_poison(at)) unwritten[static_cast<std::size_t>(i)] = 0;
    });
  });
}

std::string place_of(const Segment& s, std::int64_t index) {
  if (s.rows == 1) return fmt::format("{}[{}]", s.name, index);
  return fmt::format("{}({}, {})", s.name, index / s.cols, index % s.cols);
}

std::string ratio_text(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.3g}x", ratio) : "infinite (the bound is 0)";
}

std::string describe_miss(const Segment& s, const Miss& m) {
  // as many digits as tell two numbers of the format apart
  const int digits = static_cast<int>(facts(s.kind).digits * std::log10(2.0)) + 1;
  if (!m.why.empty()) return fmt::format("{}: got {:.{}g}, {}", place_of(s, m.index), m.got, digits, m.why);
  std::string text =
      fmt::format("{}: got {:.{}g}, want {:.{}g}", place_of(s, m.index), m.got, digits, m.want, digits);
  if (std::isfinite(m.error)) {
    const double want = representable(s.kind, m.want);
    const double ulp = std::fabs(m.got - want) / spacing(s.kind, want);
    text += fmt::format(", |err| {:.2g} > bound {:.2g}", m.error, m.bound);
    if (m.bound > 0) text += fmt::format(" ({})", ratio_text(m.error / m.bound));
    if (is_floating(s.kind)) text += fmt::format(", {:.3g} ulp", ulp);
  } else {
    text += ", of another class";
  }
  return text + fmt::format(", {} terms", m.terms);
}

}  // namespace plumb
