#include "verify/judge/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "reference/core/fp.hpp"

#ifdef __FAST_MATH__
#error "the judge must not be compiled with -ffast-math: it removes NaN checks"
#endif

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The expected value as the type can hold it: a reference beyond its range is that infinity.
double representable(Segment::Kind kind, double want) {
  return kind == Segment::Kind::f32 ? static_cast<double>(static_cast<float>(want)) : want;
}

// Distance of got from want; 0 when both are NaN or the same infinity, infinite when their classes differ.
double distance(Segment::Kind kind, double got, double want, double bound) {
  if (std::isfinite(got) && std::isfinite(want)) {
    // where the bound is 0 the answer is exact: compare with the reference rounded to the type
    return std::fabs(got - (bound == 0 ? representable(kind, want) : want));
  }
  const double shown = representable(kind, want);
  if (std::isnan(got) || std::isnan(shown)) return std::isnan(got) && std::isnan(shown) ? 0 : kInf;
  return got == shown ? 0 : kInf;
}

std::string draw_map(const std::vector<bool>& miss, std::int64_t rows, std::int64_t cols) {
  const std::int64_t lines = std::min<std::int64_t>(rows, 12), columns = std::min<std::int64_t>(cols, 48);
  std::string map;
  for (std::int64_t r = 0; r < lines; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int64_t bad = 0, all = 0;
      for (std::int64_t i = rows * r / lines; i < rows * (r + 1) / lines; ++i) {
        for (std::int64_t j = cols * c / columns; j < cols * (c + 1) / columns; ++j) {
          bad += miss[static_cast<std::size_t>(i * cols + j)] ? 1 : 0;
          ++all;
        }
      }
      map += bad == 0 ? '.' : bad == all ? '#' : '+';
    }
    map += '\n';
  }
  return map;
}

// The first explanation that fits every listed miss. It words a failure that is already certain, and decides nothing.
std::string guess(const Segment& s, const std::vector<double>& want, const std::vector<Miss>& misses, Poison poison) {
  if (misses.empty() || s.kind == Segment::Kind::i32) return {};
  const auto all = [&](auto&& fits) { return std::all_of(misses.begin(), misses.end(), fits); };
  const auto expected = [&](std::int64_t i) {
    return i >= 0 && i < static_cast<std::int64_t>(want.size()) ? want[static_cast<std::size_t>(i)] : NAN;
  };
  constexpr double kAlike = 0x1p-20;  // of rounding, whatever the type: a resemblance, not a bound
  const auto close = [](double a, double b) { return std::fabs(a - b) <= kAlike * (std::fabs(a) + std::fabs(b)) && b != 0; };
  const std::uint64_t bits = poison_bits(poison, s.element_bytes());
  double poison_value = 0;
  if (s.kind == Segment::Kind::f32) {
    float f;
    std::memcpy(&f, &bits, 4);
    poison_value = static_cast<double>(f);
  } else {
    std::memcpy(&poison_value, &bits, 8);
  }
  if (all([&](const Miss& m) { return std::isnan(poison_value) ? std::isnan(m.got) && std::isfinite(m.want) : m.got == poison_value; })) {
    return std::isnan(poison_value) ? "NaN, as the poison is: never written, or computed from something never written"
                                    : "the poison: never written";
  }
  if (all([](const Miss& m) { return std::isnan(m.want) && !std::isnan(m.got); })) return "a NaN was lost";
  if (all([](const Miss& m) { return m.got == 0; })) return "zero";
  if (all([&](const Miss& m) { return close(m.got, -m.want); })) return "the sign is flipped";
  if (all([&](const Miss& m) { return close(m.got, 2 * m.want); })) return "twice the reference: counted double, or added to itself";
  if (all([&](const Miss& m) { return close(m.got, expected(m.index + 1)); })) return "equals its right neighbour's reference";
  if (all([&](const Miss& m) { return close(m.got, expected(m.index - 1)); })) return "equals its left neighbour's reference";
  if (s.rows > 1 && all([&](const Miss& m) { return close(m.got, expected(m.index + s.cols)); })) return "equals the reference of the row below";
  if (s.rows > 1 && all([&](const Miss& m) { return close(m.got, expected(m.index - s.cols)); })) return "equals the reference of the row above";
  if (s.rows > 1 && s.rows == s.cols &&
      all([&](const Miss& m) { return close(m.got, expected(m.index % s.cols * s.cols + m.index / s.cols)); })) {
    return "transposed";
  }
  return {};
}

}  // namespace

std::uint64_t element_bits(const Segment& s, const std::byte* image, std::int64_t index) {
  const std::int64_t at = s.offset + (index / std::max<std::int64_t>(s.cols, 1) * s.ld + index % std::max<std::int64_t>(s.cols, 1)) *
                                         s.element_bytes();
  std::uint64_t bits = 0;
  std::memcpy(&bits, image + at, static_cast<std::size_t>(s.element_bytes()));
  return bits;
}

double element(const Segment& s, const std::byte* image, std::int64_t index) {
  const std::uint64_t bits = element_bits(s, image, index);
  switch (s.kind) {
    case Segment::Kind::f32: {
      float v;
      std::memcpy(&v, &bits, 4);
      return static_cast<double>(v);
    }
    case Segment::Kind::f64: {
      double v;
      std::memcpy(&v, &bits, 8);
      return v;
    }
    case Segment::Kind::i32: {
      std::int32_t v;
      std::memcpy(&v, &bits, 4);
      return v;
    }
  }
  return NAN;
}

Comparison compare(const Segment& s, const std::byte* image, const Expected& expected, Poison poison) {
  Comparison result;
  result.elements = s.elements();
  const ReferenceArray& reference = *expected.reference;
  std::vector<bool> missed(static_cast<std::size_t>(result.elements));
  NeumaierSum<double> ratio_sum, error_l1, want_l1, error_l2, want_l2;
  bool worst_is_miss = false;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double got = element(s, image, i), want = reference.value[k], bound = (*expected.bound)[k];
    const double err = distance(s.kind, got, want, bound);
    const double ratio = err == 0 ? 0 : bound > 0 ? err / bound : kInf;
    const bool miss = !(err <= bound);  // NaN is a miss
    if (std::isfinite(ratio)) ratio_sum.add(ratio);
    if (std::isfinite(err) && std::isfinite(want)) {
      error_l1.add(err), want_l1.add(std::fabs(want));
      error_l2.add(err * err), want_l2.add(want * want);
      const double scale = expected.unit * reference.magnitude[k];
      if (scale > 0) result.max_unit_ratio = std::max(result.max_unit_ratio, err / scale);
    }
    if (ratio > result.max_ratio || (miss && !worst_is_miss)) {
      result.max_ratio = std::max(ratio, result.max_ratio);
      result.worst = i;
      worst_is_miss = worst_is_miss || miss;
    }
    if (miss) {
      missed[k] = true;
      ++result.misses;
      if (result.first.size() < 10) result.first.push_back({i, got, want, err, bound, reference.terms[k]});
    }
  }
  if (result.elements > 0) result.mean_ratio = ratio_sum.value() / static_cast<double>(result.elements);
  if (want_l1.value() > 0) result.relative_l1 = error_l1.value() / want_l1.value();
  if (want_l2.value() > 0) result.relative_l2 = std::sqrt(error_l2.value() / want_l2.value());
  if (result.misses > 0) {
    result.map = draw_map(missed, s.rows, s.cols);
    result.guess = guess(s, reference.value, result.first, poison);
  }
  return result;
}

}  // namespace plumb
