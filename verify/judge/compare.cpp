#include "verify/judge/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "reference/arithmetic/cell.hpp"
#include "reference/arithmetic/fp.hpp"
#include "reference/core/dtype.hpp"
#include "reference/core/pieces.hpp"

#ifdef __FAST_MATH__
#error "the judge must not be compiled with -ffast-math: it removes NaN checks"
#endif

namespace plumb {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Distance of a copy: bits decide, except those of a NaN.
double distance_of_copy(double got, double want) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  return got == want && std::signbit(got) == std::signbit(want) ? 0 : kInf;
}

// Distance of got from want: of want from got's cell where the format is narrow; as the format can hold it where the bound is 0 or where it is beyond its range; 0 when both are NaN or the same
// infinity, infinite when their classes differ.
double distance(Format kind, double got, double want, double bound) {
  if (bound > 0 && std::isfinite(want) && is_narrow(kind)) return distance_from_cell(kind, got, want);
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

// The first explanation that fits every listed miss. It is a hint for a person; no verdict depends on it.
std::string guess(const Segment& s, const LargeArray<double>& want, const std::vector<Miss>& misses,
                  Poison poison, bool nan_in_data) {
  if (misses.empty() || s.kind == Format::i32) return {};
  const auto all = [&](auto&& fits) { return std::all_of(misses.begin(), misses.end(), fits); };
  const auto expected = [&](std::int64_t i) {
    return i >= 0 && i < static_cast<std::int64_t>(want.size()) ? want[static_cast<std::size_t>(i)] : NAN;
  };
  constexpr double kAlike =
      0x1p-20;  // relative difference up to which two values count as alike; not a bound
  const auto close = [](double a, double b) {
    return std::fabs(a - b) <= kAlike * (std::fabs(a) + std::fabs(b)) && b != 0;
  };
  const std::uint64_t bits = poison_bits(poison, s.element_bytes());
  const double poison_value = decode(s.kind, &bits);
  if (all([&](const Miss& m) {
        return std::isnan(poison_value) ? std::isnan(m.got) && std::isfinite(m.want) : m.got == poison_value;
      })) {
    if (!std::isnan(poison_value)) return "the poison: never written";
    const std::uint64_t sign = std::uint64_t{1} << (8 * s.element_bytes() - 1);
    if (nan_in_data && !all([&](const Miss& m) { return (m.bits & ~sign) == bits; }))
      return "NaN, which operands of the case hold: it came where a factor of 0, or a choice, keeps it out";
    return "NaN, as the poison is: never written, or computed from something never written";
  }
  if (all([](const Miss& m) { return std::isnan(m.want) && !std::isnan(m.got); })) return "a NaN was lost";
  if (all([](const Miss& m) { return m.got == 0 && m.want == 0; })) return "the sign of a zero is lost";
  if (all([](const Miss& m) { return m.got == 0; })) return "zero";
  if (all([&](const Miss& m) { return close(m.got, -m.want); })) return "the sign is flipped";
  if (all([&](const Miss& m) { return close(m.got, 2 * m.want); }))
    return "twice the reference: counted double, or added to itself";
  if (all([&](const Miss& m) { return close(m.got, expected(m.index + 1)); }))
    return "equals its right neighbour's reference";
  if (all([&](const Miss& m) { return close(m.got, expected(m.index - 1)); }))
    return "equals its left neighbour's reference";
  if (s.rows > 1 && all([&](const Miss& m) { return close(m.got, expected(m.index + s.cols)); }))
    return "equals the reference of the row below";
  if (s.rows > 1 && all([&](const Miss& m) { return close(m.got, expected(m.index - s.cols)); }))
    return "equals the reference of the row above";
  if (s.rows > 1 && s.rows == s.cols && all([&](const Miss& m) {
        return close(m.got, expected(m.index % s.cols * s.cols + m.index / s.cols));
      })) {
    return "transposed";
  }
  return {};
}

std::uint64_t bits_at(const Segment& s, const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(s.element_bytes()));
  return bits;
}

constexpr std::size_t kFirst = 10;  // misses listed

// What a stretch of elements adds to a comparison. `Sum` is double within a stretch, of terms that are not negative and no more than
// kStretch: 1e-11 of what is printed with three digits; and compensated over all stretches.
template <class Sum>
struct Tally {
  Comparison found;
  Sum ratio{}, error_l1{}, want_l1{}, error_l2{}, want_l2{};
  bool worst_is_miss = false;

  void count(std::int64_t index, double err, double want, double bound, double scale, bool miss) {
    const double r = err == 0 ? 0 : bound > 0 ? err / bound : kInf;
    if (std::isfinite(r)) ratio += r;
    if (std::isfinite(err) && std::isfinite(want)) {
      error_l1 += err, want_l1 += std::fabs(want);
      error_l2 += err * err, want_l2 += want * want;
      if (err > 0 && scale > 0) found.max_unit_ratio = std::max(found.max_unit_ratio, err / scale);
    }
    found.misses += miss ? 1 : 0;
    note_worst(index, r, miss);
  }

  // `next` is of the elements after these.
  void join(const Tally<double>& next) {
    ratio.add(next.ratio);
    error_l1.add(next.error_l1), want_l1.add(next.want_l1);
    error_l2.add(next.error_l2), want_l2.add(next.want_l2);
    found.max_unit_ratio = std::max(found.max_unit_ratio, next.found.max_unit_ratio);
    found.misses += next.found.misses;
    if (next.found.worst >= 0) note_worst(next.found.worst, next.found.max_ratio, next.worst_is_miss);
    for (const Miss& m : next.found.first) {
      if (found.first.size() < kFirst) found.first.push_back(m);
    }
  }

  void note_worst(std::int64_t index, double r, bool miss) {
    if (!(r > found.max_ratio || (miss && !worst_is_miss))) return;
    found.max_ratio = std::max(r, found.max_ratio);
    found.worst = index;
    worst_is_miss = worst_is_miss || miss;
  }
};

}  // namespace

std::uint64_t element_bits(const Segment& s, const std::byte* image, std::int64_t index) {
  std::uint64_t bits = 0;
  for_each_element(s, image, index, index + 1,
                   [&](std::int64_t, const std::byte* at) { bits = bits_at(s, at); });
  return bits;
}

double element(const Segment& s, const std::byte* image, std::int64_t index) {
  double value = NAN;
  for_each_element(s, image, index, index + 1,
                   [&](std::int64_t, const std::byte* at) { value = decode(s.kind, at); });
  return value;
}

Comparison compare(const Segment& s, const std::byte* image, const Expected& expected, Poison poison) {
  const ReferenceArray& reference = *expected.reference;
  const std::int64_t elements = s.elements(), stretches = (elements + kStretch - 1) / kStretch;
  std::vector<bool> missed(static_cast<std::size_t>(elements));
  std::vector<Tally<double>> tallies(static_cast<std::size_t>(stretches));
  for_each_piece(stretches, [&](std::int64_t stretch) {
    Tally<double> tally;
    const std::int64_t begin = stretch * kStretch, end = std::min(elements, begin + kStretch);
    for_each_element(s, image, begin, end, [&](std::int64_t i, const std::byte* at) {
      const auto k = static_cast<std::size_t>(i);
      const double got = decode(s.kind, at), want = reference.value[k], bound = (*expected.bound)[k];
      const double err = reference.moved ? distance_of_copy(got, want) : distance(s.kind, got, want, bound);
      const bool miss = !(err <= bound);  // NaN is a miss
      double scale = 0;
      // few elements have an error; for the others the product of subnormals would take longer than all the rest
      if (err > 0) {
        const double rounding = expected.unit * reference.magnitude[k];
        scale = rounding <= expected.eta * reference.terms[k] ? 0 : rounding;
      }
      tally.count(i, err, want, bound, scale, miss);
      if (!miss) return;
      missed[k] = true;
      if (tally.found.first.size() < kFirst)
        tally.found.first.push_back({i, got, want, err, bound, reference.terms[k], bits_at(s, at)});
    });
    tallies[static_cast<std::size_t>(stretch)] = std::move(tally);
  });
  Tally<NeumaierSum<double>> all;
  for (const Tally<double>& tally : tallies) all.join(tally);
  Comparison result = std::move(all.found);
  result.elements = elements;
  if (elements > 0) result.mean_ratio = all.ratio.value() / static_cast<double>(elements);
  if (all.want_l1.value() > 0) result.relative_l1 = all.error_l1.value() / all.want_l1.value();
  if (all.want_l2.value() > 0) result.relative_l2 = std::sqrt(all.error_l2.value() / all.want_l2.value());
  if (result.misses > 0) {
    result.map = draw_map(missed, s.rows, s.cols);
    result.guess = guess(s, reference.value, result.first, poison, expected.nan_in_data);
  }
  return result;
}

}  // namespace plumb
