#include "reference/cases/fills.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/cases/special_values.hpp"
#include "reference/core/pieces.hpp"
#include "reference/core/random.hpp"

namespace plumb {
namespace {

double symmetric(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
  return 2 * random_unit(seed, stream, i) - 1 + 0x1p-54;  // never exactly 0 or -1
}

// Uniform in [-reach, reach].
int draw_exponent(std::uint64_t seed, std::uint64_t stream, std::int64_t at, int reach) {
  const auto all = static_cast<std::uint64_t>(2 * reach + 1);
  return static_cast<int>(random_below(seed, stream, static_cast<std::uint64_t>(at), all)) - reach;
}

// Integers of the fill wide need all digits of the format, up to 13.
int wide_digits(Format stored) { return std::min(13, facts(stored).digits); }

// The numbers by which the fill index names places: a prime below 2^23, or the largest below 2^digits.
std::uint64_t places_of(Format stored) {
  constexpr std::uint64_t kPrimes[] = {7, 13, 251, 2039, 8388593};
  std::uint64_t most = kPrimes[0];
  for (const std::uint64_t prime : kPrimes) {
    if (static_cast<double>(prime) < std::exp2(facts(stored).digits)) most = prime;
  }
  return most;
}

}  // namespace

int exponent_of_line(std::uint64_t seed, std::uint64_t stream, std::int64_t line, Format stored) {
  return draw_exponent(seed, stream, line, std::min(12, facts(stored).max_exponent / 3));
}

int exponent_of_term(std::uint64_t seed, std::int64_t term, Format stored) {
  constexpr std::uint64_t kTerms = 900;  // a stream of no operand: a term's exponent is the same in every one
  return draw_exponent(seed, kTerms, term, std::min(6, facts(stored).max_exponent / 6));
}

FewValues::FewValues(std::uint64_t seed, std::uint64_t stream)
    : seed_(seed),
      stream_(stream + 10),
      most_(static_cast<std::uint64_t>(2 * std::exp(random_unit(seed, stream_, 0) * std::log(30.5)))),
      shared_(random_below(seed, stream_, 1, 3) == 0),
      runs_(!shared_ && random_below(seed, stream_, 2, 2) == 0),
      negative_(random_below(seed, stream_, 3, 2) == 0) {}

double FewValues::at(std::int64_t line, std::int64_t place, std::int64_t length) const {
  const auto row = shared_ ? 0 : static_cast<std::uint64_t>(line);
  const std::uint64_t values = shared_ ? most_ : 1 + random_below(seed_, stream_ + 1, row, most_);
  const auto which =
      runs_ ? static_cast<std::uint64_t>(place) * values / static_cast<std::uint64_t>(length)
            : random_below(seed_, stream_ + 2, static_cast<std::uint64_t>(line * length + place), values);
  const double value = random_unit(seed_, stream_ + 3, row * 61 + which) * (4.0 / 3) - 1.0 / 3 + 0x1p-54;
  return negative_ ? -value : value;
}

template <class T>
void fill_values(T* data, std::int64_t rows, std::int64_t cols, Fill fill, Role role, std::uint64_t seed,
                 std::uint64_t stream, Format stored) {
  const FewValues few(seed, stream);
  const std::uint64_t wide = std::uint64_t{1} << wide_digits(stored), places = places_of(stored);
  const auto value = [&](std::int64_t i, std::int64_t j) -> double {
    const auto row = static_cast<std::uint64_t>(i), at = static_cast<std::uint64_t>(i * cols + j);
    switch (fill) {
      case Fill::exact:
        return static_cast<double>(random_below(seed, stream, at, 17)) - 8;
      case Fill::wide:
        return role == Role::left ? static_cast<double>(2 * random_below(seed, stream, at, wide) + 1) -
                                        static_cast<double>(wide)
                                  : static_cast<double>(random_below(seed, stream, at, 3)) - 1;
      case Fill::index:
        if (role == Role::left)
          return j == static_cast<std::int64_t>(
                          random_below(seed, stream + 7, row, static_cast<std::uint64_t>(cols)));
        return role == Role::right ? static_cast<double>(1 + at % places) : 0;
      case Fill::positive:
        return random_unit(seed, stream, at) + 0x1p-54;
      case Fill::scaled: {
        const bool right = role == Role::right;
        const int of_term = role == Role::addend ? 0 : exponent_of_term(seed, right ? i : j, stored);
        return std::ldexp(
            symmetric(seed, stream, at),
            exponent_of_line(seed, stream + 8, right ? j : i, stored) + (right ? -of_term : of_term));
      }
      case Fill::few:
        return role == Role::right ? few.at(j, i, rows) : few.at(i, j, cols);
      case Fill::real:
      case Fill::hostile:
      case Fill::own:
        return symmetric(seed, stream, at);
    }
    return 0;
  };
  constexpr std::int64_t kPiece = 1 << 16;  // elements
  const std::int64_t elements = rows * cols, pieces = (elements + kPiece - 1) / kPiece;
  for_each_piece(pieces, [&](std::int64_t piece) {
    const std::int64_t begin = piece * kPiece, end = std::min(elements, begin + kPiece);
    for (std::int64_t at = begin, i = begin / cols, j = begin % cols; at < end; ++at) {
      data[at] = static_cast<T>(value(i, j));
      if (++j == cols) j = 0, ++i;
    }
  });
  if (fill == Fill::hostile) place_specials(data, rows, cols, role, seed, stream, stored);
}

template <class T>
void make_subnormal(T* data, std::int64_t count, Format stored) {
  const int below = std::min(6, facts(stored).digits - 3);
  for (std::int64_t i = 0; i < count; ++i) data[i] = std::ldexp(data[i], facts(stored).min_exponent - below);
}

template <class T>
void make_equal(T* data, std::int64_t count) {
  if (count > 0) std::fill_n(data, count, data[0]);
}

template <class T>
void make_first_half_whole(T* data, std::int64_t count) {
  std::transform(data, data + count / 2, data, [](T v) { return std::round(8 * v); });
}

template <class T>
void make_cancelling(T* terms, std::int64_t count, Format stored) {
  if (count == 0) return;
  quantise(stored, terms, count);
  const std::int64_t half = (count - 1) / 2;
  for (std::int64_t i = 0; i < half; ++i) terms[half + i] = -terms[half - 1 - (i + half / 3) % half];
  const T rest = std::accumulate(terms + 2 * half, terms + count, T(0));  // of one or two
  if (rest != T(0)) return;
  const auto is_zero = [](T v) { return v == T(0); };
  const T* const other = std::find_if_not(terms, terms + half, is_zero);
  if (!is_zero(terms[2 * half]))
    terms[count - 1] = terms[2 * half];  // two that cancel each other
  else
    terms[count - 1] = other == terms + half ? T(1) : *other;
}

template void make_cancelling<float>(float*, std::int64_t, Format);
template void make_cancelling<double>(double*, std::int64_t, Format);
template void make_first_half_whole<float>(float*, std::int64_t);
template void make_first_half_whole<double>(double*, std::int64_t);
template void make_equal<float>(float*, std::int64_t);
template void make_equal<double>(double*, std::int64_t);
template void make_subnormal<float>(float*, std::int64_t, Format);
template void make_subnormal<double>(double*, std::int64_t, Format);
template void fill_values<float>(float*, std::int64_t, std::int64_t, Fill, Role, std::uint64_t, std::uint64_t,
                                 Format);
template void fill_values<double>(double*, std::int64_t, std::int64_t, Fill, Role, std::uint64_t,
                                  std::uint64_t, Format);

}  // namespace plumb
