// Half precision on the executor: conversions against definitions, arithmetic against wide integers, products and loads across a warp
// against the sums they stand for, and the faults that kernels of halves have.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/simt/language/half.hpp"
#include "gpu/tests/simt_support.hpp"

using namespace plumb::simt_test;
using plumb::simt::Brain;
using plumb::simt::FindingKind;
using plumb::simt::Half;
using plumb::simt::narrow;
using plumb::simt::Round;
using plumb::simt::widen;

static_assert(std::is_trivially_copyable<__half>::value &&
              std::is_trivially_default_constructible<__half2>::value);
static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4 &&
              alignof(__nv_bfloat162) == 4);

namespace {

constexpr Round kDirections[] = {Round::nearest, Round::zero, Round::down, Round::up};

template <class F>
constexpr unsigned infinity_code() {
  return ((1u << F::kExponent) - 1u) << F::kFraction;
}
// A code's value by the definition of the format.
template <class F>
double defined(unsigned code) {
  const int bias = (1 << (F::kExponent - 1)) - 1;
  const int field = static_cast<int>((code & 0x7fffu) >> F::kFraction);
  const int fraction = static_cast<int>(code & ((1u << F::kFraction) - 1u));
  const double sign = (code & 0x8000u) != 0 ? -1.0 : 1.0;
  if (field == (1 << F::kExponent) - 1) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (field == 0) return sign * std::ldexp(fraction, 1 - bias - F::kFraction);
  return sign * std::ldexp((1 << F::kFraction) + fraction, field - bias - F::kFraction);
}

template <class F>
void all_codes() {
  int wrong = 0;
  for (unsigned code = 0; code <= 0xffffu; ++code) {
    const auto bits = static_cast<unsigned short>(code);
    const double value = defined<F>(code);
    const float wide = widen<F>(bits);
    if (std::isnan(value)) {
      wrong += !std::isnan(wide) || narrow<F>(static_cast<double>(wide)) != 0x7fff;
    } else {
      wrong += static_cast<double>(wide) != value || std::signbit(wide) != ((code & 0x8000u) != 0);
      for (const Round r : kDirections) wrong += narrow<F>(value, r) != bits;
    }
  }
  CHECK(wrong == 0);
}

// Between each code and the next one up: the two neighbours, their middle, and doubles and floats beside each.
template <class F>
void all_ties() {
  int wrong = 0;
  for (unsigned code = 0; code < infinity_code<F>(); ++code) {
    const double low = defined<F>(code);
    const bool last = code + 1 == infinity_code<F>();
    const double high = last ? low + (low - defined<F>(code - 1)) : defined<F>(code + 1);
    const double middle = low + (high - low) / 2;
    const auto floats = [](double x, double to) {
      return static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(to)));
    };
    const double probes[] = {middle,
                             std::nextafter(middle, low),
                             std::nextafter(middle, high),
                             std::nextafter(low, high),
                             std::nextafter(high, low),
                             floats(middle, low),
                             floats(middle, high)};
    for (const double x : probes) {
      if (!(x > low && x < high)) continue;  // a subnormal bfloat16's middle is no float
      const unsigned near = x < middle ? code : x > middle ? code + 1 : code + code % 2;
      const unsigned above = code + 1;
      const unsigned want[][2] = {
          {near, near | 0x8000u}, {code, code | 0x8000u}, {code, above | 0x8000u}, {above, code | 0x8000u}};
      for (int r = 0; r < 4; ++r) {
        wrong += narrow<F>(x, kDirections[r]) != want[r][0];
        wrong += narrow<F>(-x, kDirections[r]) != want[r][1];
      }
    }
  }
  CHECK(wrong == 0);
}

__extension__ using Wide = __int128;

// The code nearest to n units of 2^unit, ties to even, found by halving over the codes: nothing of the code under test. n != 0.
template <class F>
unsigned nearest_code(Wide n, int unit) {
  const bool negative = n < 0;
  if (negative) n = -n;
  const auto scaled =
      [&](unsigned code) -> Wide {  // in the same units; whole for all codes that n can be near
    const int bias = (1 << (F::kExponent - 1)) - 1;
    const int field = static_cast<int>(code >> F::kFraction);
    const Wide fraction = static_cast<Wide>(code & ((1u << F::kFraction) - 1u));
    const int exponent = (field == 0 ? 1 : field) - bias - F::kFraction - unit;
    const Wide significand = field == 0 ? fraction : fraction + (Wide{1} << F::kFraction);
    if (exponent >= 0) return exponent > 115 ? Wide{1} << 126 : significand << exponent;
    return exponent < -100 ? 0 : significand >> -exponent;  // far below every n
  };
  unsigned low = 0, high = infinity_code<F>();
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (scaled(middle) <= n ? low : high) = middle;
  }
  const Wide below = n - scaled(low), above = scaled(high) - n;
  const unsigned code = below < above ? low : below > above ? high : low + low % 2;
  return code | (negative ? 0x8000u : 0u);
}

template <class F>
Wide in_units(unsigned code, int unit) {
  const double x = defined<F>(code);
  int exponent = 0;
  const auto significand = static_cast<long long>(std::ldexp(std::frexp(x, &exponent), 11));
  const int shift = exponent - 11 - unit;
  return shift >= 0 ? static_cast<Wide>(significand) * (Wide{1} << shift)
                    : static_cast<Wide>(significand) / (Wide{1} << -shift);
}

template <class T>
std::vector<T> lines(int count, int length, int pad, const std::function<double(int)>& value) {
  std::vector<T> out(static_cast<std::size_t>(count * (length + pad)), T(0));
  for (int i = 0; i < count * length; ++i)
    out[static_cast<std::size_t>(i / length * (length + pad) + i % length)] = T(static_cast<float>(value(i)));
  return out;
}

struct Random {
  explicit Random(unsigned seed) : state(seed) {}
  unsigned operator()() {
    return static_cast<unsigned>((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 33);
  }
  unsigned long long state;
};

unsigned short bits_of_half(float x) { return narrow<Half>(static_cast<double>(x)); }

}  // namespace

TEST_CASE("all 65536 codes of both formats widen to what the format defines, and narrow back") {
  all_codes<Half>();
  all_codes<Brain>();
}

TEST_CASE("between any two neighbours, rounding goes to nearest even, to zero, down and up") {
  all_ties<Half>();
  all_ties<Brain>();
}

TEST_CASE("values that are too large, too small or NaN narrow as CUDA defines") {
  CHECK(narrow<Half>(65519.0) == 0x7bff);
  CHECK(narrow<Half>(65520.0) == 0x7c00);
  CHECK(narrow<Half>(1e300, Round::zero) == 0x7bff);
  CHECK(narrow<Half>(-1e300, Round::up) == 0xfbff);
  CHECK(narrow<Half>(-1e300, Round::down) == 0xfc00);
  CHECK(narrow<Half>(1e-300, Round::up) == 1);
  CHECK(narrow<Half>(-1e-300) == 0x8000);
  CHECK(narrow<Half>(5e-324, Round::up) == 1);
  CHECK(narrow<Half>(-0.0) == 0x8000);
  CHECK(narrow<Half>(-std::nan("")) == 0x7fff);
  CHECK(narrow<Brain>(std::nan("")) == 0x7fff);
  CHECK(narrow<Brain>(static_cast<double>(std::numeric_limits<float>::max())) == 0x7f80);
  CHECK(narrow<Brain>(static_cast<double>(std::numeric_limits<float>::max()), Round::zero) == 0x7f7f);
  CHECK(__half_as_ushort(__float2half_rd(-2049.0f)) == bits_of_half(-2050.0f));
  CHECK(__half_as_ushort(__float2half_ru(-2049.0f)) == bits_of_half(-2048.0f));
  CHECK(__bfloat16_as_ushort(__float2bfloat16_rz(1.9999f)) == 0x3fff);
}

TEST_CASE("integers convert in the direction asked for, confined to their range") {
  CHECK(__half2int_rn(half(2.5f)) == 2);
  CHECK(__half2int_ru(half(2.25f)) == 3);
  CHECK(__half2int_rd(half(-2.25f)) == -3);
  CHECK(__half2int_rz(half(-2.75f)) == -2);
  CHECK(__half2int_rz(CUDART_NAN_FP16) == 0);
  CHECK(__half2uint_rz(half(-3.0f)) == 0u);
  CHECK(__half2short_rz(half(60000.0f)) == 32767);
  CHECK(__half2ll_rz(CUDART_INF_FP16) == std::numeric_limits<long long>::max());
  CHECK(__bfloat162ull_rn(__nv_bfloat16(1e30f)) == std::numeric_limits<unsigned long long>::max());
  CHECK(__bfloat162int_rz(__nv_bfloat16(-1e30f)) == std::numeric_limits<int>::min());
  CHECK(__half_as_ushort(__int2half_rn(2049)) == bits_of_half(2048.0f));
  CHECK(__half_as_ushort(__int2half_ru(2049)) == bits_of_half(2050.0f));
  CHECK(static_cast<float>(half(70000)) == HUGE_VALF);
  // One above a tie of bfloat16 that a double cannot tell from it.
  CHECK(__bfloat16_as_ushort(__ull2bfloat16_rn((1ull << 63) + (1ull << 55) + 1)) == 0x5f01);
  CHECK(__bfloat16_as_ushort(__ull2bfloat16_rn((1ull << 63) + (1ull << 55))) == 0x5f00);
  CHECK(__bfloat16_as_ushort(__nv_bfloat16(std::numeric_limits<long long>::min())) == 0xdf00);
}

TEST_CASE("sums, products and fused products of halves round once, as integers of 2^-48 say") {
  Random random(3);
  int wrong = 0;
  for (int i = 0; i < 1500000; ++i) {
    unsigned a = random() & 0xffffu, b = random() & 0xffffu, c = random() & 0xffffu;
    if (i % 3 == 1) {  // near a tie: a product beside a c that is far above or below it
      a = (a & 0x83ffu) | (random() % 6 << 10);
      b = (b & 0x83ffu) | (random() % 6 + 12) << 10;
    }
    if ((a & 0x7c00u) == 0x7c00u || (b & 0x7c00u) == 0x7c00u || (c & 0x7c00u) == 0x7c00u) continue;
    const half x = __ushort_as_half(static_cast<unsigned short>(a)),
               y = __ushort_as_half(static_cast<unsigned short>(b)),
               z = __ushort_as_half(static_cast<unsigned short>(c));
    const Wide p = in_units<Half>(a, -24) * in_units<Half>(b, -24), q = in_units<Half>(c, -48);
    if (p + q != 0) wrong += __half_as_ushort(__hfma(x, y, z)) != nearest_code<Half>(p + q, -48);
    if (p != 0) wrong += __half_as_ushort(x * y) != nearest_code<Half>(p, -48);
    const Wide sum = in_units<Half>(a, -24) + in_units<Half>(b, -24);
    const Wide difference = in_units<Half>(a, -24) - in_units<Half>(b, -24);
    if (sum != 0) wrong += __half_as_ushort(x + y) != nearest_code<Half>(sum, -24);
    if (difference != 0) wrong += __half_as_ushort(x - y) != nearest_code<Half>(difference, -24);
  }
  CHECK(wrong == 0);
  // 2^-20 below a tie, which a float sum rounds onto it.
  CHECK(__half_as_ushort(__hfma(half(0x1.004p0f), half(0x1.ff8p-1f), half(2050.0f))) ==
        bits_of_half(2050.0f));
  CHECK(__half_as_ushort(__hfma(half(1.0009765625f), half(2047.0f), half(0x1p-24f))) ==
        nearest_code<Half>((Wide{1025} * 2047 << 38) + (Wide{1} << 24), -48));
}

TEST_CASE("sums, products and fused products of bfloat16 round once, as wide integers say") {
  Random random(5);
  int wrong = 0;
  for (int i = 0; i < 1500000; ++i) {
    const auto code = [&](unsigned spread) {
      return (random() & 0x807fu) | (127u - spread + random() % (2 * spread + 1)) << 7;
    };
    const unsigned a = code(10), b = code(10), c = code(20);
    const auto x = __ushort_as_bfloat16(static_cast<unsigned short>(a)),
               y = __ushort_as_bfloat16(static_cast<unsigned short>(b)),
               z = __ushort_as_bfloat16(static_cast<unsigned short>(c));
    const Wide p = in_units<Brain>(a, -21) * in_units<Brain>(b, -21), q = in_units<Brain>(c, -42);
    if (p + q != 0) wrong += __bfloat16_as_ushort(__hfma(x, y, z)) != nearest_code<Brain>(p + q, -42);
    wrong += __bfloat16_as_ushort(x * y) != nearest_code<Brain>(p, -42);
    const Wide sum = in_units<Brain>(a, -42) + in_units<Brain>(c, -42);
    if (sum != 0) wrong += __bfloat16_as_ushort(x + z) != nearest_code<Brain>(sum, -42);
  }
  CHECK(wrong == 0);
  // On a tie, and beside it by a trace that a double cannot hold.
  const __nv_bfloat16 odd(0x1.02p60f), even(0x1.04p60f), one(1.0f), trace(0x1p-60f);
  const auto fused_bits = [](__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return __bfloat16_as_ushort(__hfma(a, b, c));
  };
  CHECK(fused_bits(odd, one, __nv_bfloat16(0x1p52f)) == 0x5d82);
  CHECK(fused_bits(even, one, __nv_bfloat16(0x1p52f)) == 0x5d82);
  // 129 * 192 and 131 * 192 in units of 2^-14 are ties, of an odd place and an even one.
  const __nv_bfloat16 half_again(0x1.8p0f), low(0x1.02p0f), high(0x1.06p0f);
  CHECK(fused_bits(low, half_again, trace) == 0x3fc2);
  CHECK(fused_bits(low, half_again, -trace) == 0x3fc1);
  CHECK(fused_bits(high, half_again, trace) == 0x3fc5);
  CHECK(fused_bits(high, half_again, -trace) == 0x3fc4);
}

TEST_CASE("quotients of halves and square roots round once") {
  Random random(7);
  int wrong = 0;
  for (int i = 0; i < 300000; ++i) {
    const auto a = static_cast<unsigned short>(random() % 0x7c00u),
               b = static_cast<unsigned short>(1 + random() % 0x7bffu);
    const __float128 x = static_cast<__float128>(widen<Half>(a)), y = static_cast<__float128>(widen<Half>(b));
    const unsigned got = __half_as_ushort(__hdiv(__ushort_as_half(a), __ushort_as_half(b)));
    if (got >= 0x7c00u) {
      wrong += x < 65520 * y;
      continue;
    }
    // |q - a/b| is at most half the gap on either side, times b so that nothing is divided
    const __float128 low = got == 0 ? -widen<Half>(1) : widen<Half>(static_cast<unsigned short>(got - 1));
    const __float128 high =
        got == 0x7bff ? __float128{65536} : __float128{widen<Half>(static_cast<unsigned short>(got + 1))};
    const __float128 here = widen<Half>(static_cast<unsigned short>(got));
    const __float128 from = (low + here) / 2 * y, to = (here + high) / 2 * y;
    wrong += got % 2 == 0 ? x < from || x > to : x <= from || x >= to;
    const unsigned root = __half_as_ushort(hsqrt(__ushort_as_half(a)));
    const __float128 r = widen<Half>(static_cast<unsigned short>(root));
    const __float128 up = (r + widen<Half>(static_cast<unsigned short>(root + 1))) / 2;
    wrong += x >= up * up;
    if (root > 0) {
      const __float128 down = (r + widen<Half>(static_cast<unsigned short>(root - 1))) / 2;
      wrong += x <= down * down;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("comparisons, extremes and saturation treat NaN and zeros of either sign as PTX defines") {
  const half nan = CUDART_NAN_FP16, one(1.0f), two(2.0f), zero(0.0f), minus = CUDART_NEG_ZERO_FP16;
  CHECK(__hlt(one, two));
  CHECK_FALSE(__hlt(nan, two));
  CHECK(__hltu(nan, two));
  CHECK(__heq(zero, minus));
  CHECK_FALSE(__hne(nan, nan));
  CHECK(__hneu(nan, nan));
  CHECK((nan != nan));
  CHECK_FALSE((nan == nan));
  CHECK(__half_as_ushort(__hmax(nan, one)) == 0x3c00);
  CHECK(__half_as_ushort(__hmin(one, nan)) == 0x3c00);
  CHECK(__half_as_ushort(__hmax_nan(one, nan)) == 0x7fff);
  CHECK(__half_as_ushort(__hmax(__ushort_as_half(0xfe01), __ushort_as_half(0x7e01))) == 0x7fff);
  CHECK(__half_as_ushort(__hmax(minus, zero)) == 0);
  CHECK(__half_as_ushort(__hmax(zero, minus)) == 0);
  CHECK(__half_as_ushort(__hmin(zero, minus)) == 0x8000);
  CHECK(__half_as_ushort(__hmin(minus, zero)) == 0x8000);
  CHECK(__half_as_ushort(__hadd_sat(one, two)) == 0x3c00);
  CHECK(__half_as_ushort(__hadd_sat(nan, two)) == 0);
  CHECK(__half_as_ushort(__hfma_relu(one, __hneg(two), one)) == 0);
  CHECK(__half_as_ushort(nan + one) == 0x7fff);
  CHECK(__hisinf(CUDART_INF_FP16) == 1);
  CHECK(__hisinf(__hneg(CUDART_INF_FP16)) == -1);
  CHECK(__hisnan(nan));
  const half2 pair(one, nan);
  CHECK(__half_as_ushort(__low2half(__heq2(pair, pair))) == 0x3c00);
  CHECK(__half_as_ushort(__high2half(__heq2(pair, pair))) == 0);
  CHECK(__heq2_mask(pair, pair) == 0xffffu);
  CHECK_FALSE(__hbeq2(pair, pair));
  CHECK(__hbequ2(pair, pair));
  CHECK(__half22float2(__lowhigh2highlow(half2(one, two))).x == 2.0f);
  CHECK(static_cast<float>(hrcp(half(4.0f))) == 0.25f);
  CHECK(static_cast<float>(hrsqrt(half(16.0f))) == 0.25f);
  CHECK(static_cast<float>(hexp2(half(-3.0f))) == 0.125f);
  CHECK(static_cast<float>(hlog2(half(0.125f))) == -3.0f);
  CHECK(static_cast<float>(hexp(half(0.0f))) == 1.0f);
  CHECK(static_cast<float>(hrint(half(2.5f))) == 2.0f);
  CHECK(static_cast<float>(h2floor(half2(one, half(-1.5f))).y) == -2.0f);
  half x = one;
  x += 2.0f;
  x *= two;
  CHECK(static_cast<double>(x) == 6.0);
  CHECK(static_cast<int>(-x++) == -6);
  CHECK((x > two));
}

TEST_CASE("halves shuffle, add atomically and convert in PTX") {
  std::vector<unsigned short> in(32), brain(32), total(1), brains(1);
  std::vector<unsigned> out(32 * 12), pairs(1);
  for (unsigned i = 0; i < 32; ++i) {
    in[i] = bits_of_half(1.0f + static_cast<float>(i) / 32);
    brain[i] = narrow<Brain>(1.0 + i / 32.0);
  }
  Run run(1);
  plumb::simt::add_array("brain", brain.data(), 64, true, false);
  plumb::simt::add_array("total", total.data(), 2, true, true);
  plumb::simt::add_array("pairs", pairs.data(), 4, true, true);
  plumb::simt::add_array("brains", brains.data(), 2, true, true);
  half_algebra(run.input(in), brain.data(), run.output(out), total.data(), pairs.data(), brains.data());
  expect_none();
  CHECK(total[0] == bits_of_half(32.0f));
  CHECK(pairs[0] == (bits_of_half(64.0f) << 16 | bits_of_half(32.0f)));
  CHECK(brains[0] == narrow<Brain>(32.0));
  for (unsigned t = 0; t < 32; ++t) {
    CAPTURE(t);
    const unsigned* v = &out[t * 12];
    const double x = 1.0 + t / 32.0;
    CHECK(v[0] == (in[t ^ 1u] ^ 0x8000u));
    CHECK(v[1] == in[t ^ 1u]);
    CHECK(v[2] == narrow<Half>(x * x + x));
    CHECK(v[3] == narrow<Brain>(x * x + x));
    if (t == 0) CHECK(v[4] == in[31]);
    CHECK(v[5] == bits_of_half(static_cast<float>(x) * 1.0003f));
    CHECK(v[6] == narrow<Brain>(static_cast<double>(static_cast<float>(x) * 1.0003f)));
    CHECK(v[7] == (static_cast<unsigned>(in[t]) << 16 | 0x4000u));
    CHECK(v[8] == (0x40000000u | narrow<Brain>(x)));
    float truncated;
    std::memcpy(&truncated, &v[9], 4);
    CHECK(truncated ==
          widen<Half>(narrow<Half>(static_cast<double>(static_cast<float>(x) * 1.9996f), Round::zero)));
    CHECK(v[10] == (bits_of_half(4.0f) << 16 | bits_of_half(9.0f)));
    CHECK(v[11] == narrow<Half>(widen<Half>(narrow<Half>(x * x)) - x));
  }
}

TEST_CASE("a tree of halves without its barriers is a race, and so is a pair written by both of its owners") {
  std::vector<unsigned short> in(256, bits_of_half(0.25f)), out(1);
  twin(
      "half", "half sum", "half sum",
      [&](Form f, Run& run) { half_sum(f, 256, run.input(in), run.output(out)); },
      [&] { return out[0] == bits_of_half(64.0f); });
  std::vector<unsigned short> pairs(64);
  twin(
      "half", "half pair", "half pair", [&](Form f, Run& run) { half_pairs(f, 64, run.output(pairs)); },
      [&] { return pairs[63] == bits_of_half(63.0f); });
}

TEST_CASE("pairs and eights of halves load in one access, and must be aligned for it") {
  std::vector<unsigned short> in(8 * 32 + 8), out(8 * 32);  // on the heap, aligned to 16 bytes
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = bits_of_half(static_cast<float>(i));
  const auto go = [&](int offset, int halves) {
    Run run;
    half_wide(run.input(in), run.output(out), 32, offset, halves);
    return Run::findings();
  };
  auto findings = go(0, 8);
  CHECK_MESSAGE(findings.empty(), all_of(findings));
  CHECK(out[255] == bits_of_half(510.0f));
  findings = go(2, 2);
  CHECK_MESSAGE(findings.empty(), all_of(findings));
  CHECK(out[63] == bits_of_half(65.0f));
#if !defined(__clang__)  // where copies of whole vectors are not looked at
  CHECK(reports(go(1, 2), FindingKind::misaligned, line_of("half", "half2 load")));
  CHECK(reports(go(4, 8), FindingKind::misaligned, line_of("half", "eight halves")));
#endif
  if (checked()) CHECK(reports(go(16, 8), FindingKind::out_of_bounds, line_of("half", "eight halves")));
}

TEST_CASE("words and halves cast into each other hold each other's bits") {
  std::vector<float> in(64);
  std::iota(in.begin(), in.end(), 1.0f);
  std::vector<unsigned> out(128);
  Run run(1);
  half_punned(run.input(in), run.output(out));
  expect_none();
  const auto pair = [](float x, float y) {
    return static_cast<unsigned>(bits_of_half(y)) << 16 | bits_of_half(x);
  };
  for (std::size_t t = 0; t < 32; ++t) {
    const float x = in[2 * t], y = in[2 * t + 1];
    CHECK(out[4 * t] == pair(x + 4 * y, y));
    unsigned mixed = bits_of_half(1 - y);
    for (int i = 0; i < 4; ++i) mixed ^= pair(x + static_cast<float>(i), x);
    CHECK(out[4 * t + 1] == mixed);
    CHECK(out[4 * t + 2] == pair(2 * (x + 2 * y), 2 * y));
    CHECK(out[4 * t + 3] == pair(3 * (x + 3 * y), 3 * y));
  }
}

TEST_CASE("products of halves across a warp equal the product by hand where all elements differ") {
  for (const int k : {8, 16}) {
    for (const HalfProduct what : {HalfProduct::f16, HalfProduct::bf16, HalfProduct::f16_in_f16}) {
      CAPTURE(k);
      CAPTURE(static_cast<int>(what));
      const bool small = what == HalfProduct::f16_in_f16;
      const auto bits = [&](double x) {
        return what == HalfProduct::bf16 ? narrow<Brain>(x) : narrow<Half>(x);
      };
      std::vector<unsigned short> a(static_cast<std::size_t>(16 * k)), b(static_cast<std::size_t>(8 * k));
      // Whole numbers below 256 are exact in all formats; the sums stay exact in float.
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = bits(static_cast<double>(i) / (small ? 256 : 1));
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = bits(static_cast<double>(i + 1) / (small ? 128 : 1));
      std::vector<float> c(128);
      Run run(2);
      plumb::simt::add_array("b", b.data(), b.size() * 2, true, false);
      half_product(what, k, run.input(a), b.data(), run.output(c));
      expect_none();
      for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 8; ++j) {
          double want = 1 + j % 2 + i / 8 * 2;
          for (int d = 0; d < k; ++d)
            want += static_cast<double>(i * k + d) * static_cast<double>(d * 8 + j + 1) / (small ? 32768 : 1);
          if (small) want = static_cast<double>(widen<Half>(narrow<Half>(want)));
          CHECK(static_cast<double>(c[static_cast<std::size_t>(i * 8 + j)]) == want);
        }
      }
    }
  }
}

TEST_CASE("ldmatrix gives each lane its pair of each matrix, or of its transpose") {
  std::vector<unsigned short> in(32 * 8);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned short>(1000 + i);
  for (const int count : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        std::vector<unsigned> out(static_cast<std::size_t>(32 * count));
        Run run(seed);
        matrix_rows(RowFault::none, count, transposed, run.input(in), run.output(out));
        expect_none();
        for (int lane = 0; lane < 32; ++lane) {
          for (int m = 0; m < count; ++m) {
            const auto at = [&](int row, int col) {
              return static_cast<unsigned>(1000 + m * 64 + row * 8 + col);
            };
            const int p = lane / 4, q = lane % 4 * 2;
            const unsigned want = transposed ? at(q, p) | at(q + 1, p) << 16 : at(p, q) | at(p, q + 1) << 16;
            CHECK(out[static_cast<std::size_t>(lane * count + m)] == want);
          }
        }
      }
    }
  }
}

TEST_CASE("a product by cp.async, ldmatrix and mma is correct, and is a race without its second barrier") {
  const int k = 80;
  std::vector<unsigned short> a(static_cast<std::size_t>(32 * k)), b(static_cast<std::size_t>(k * 16));
  const auto a_at = [](int i) { return i * 7 % 61 - 30; };
  const auto b_at = [](int i) { return i * 5 % 53 - 26; };
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = bits_of_half(static_cast<float>(a_at(static_cast<int>(i))));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = bits_of_half(static_cast<float>(b_at(static_cast<int>(i))));
  std::vector<float> c(32 * 16);
  twin(
      "half", "gemm copy", "gemm load",
      [&](Form f, Run& run) {
        plumb::simt::add_array("b", b.data(), b.size() * 2, true, false);
        half_gemm(f, run.input(a), b.data(), run.output(c), k);
      },
      [&] {
        int wrong = 0;
        for (int i = 0; i < 32; ++i) {
          for (int j = 0; j < 16; ++j) {
            int want = 0;
            for (int d = 0; d < k; ++d) want += a_at(i * k + d) * b_at(d * 16 + j);
            wrong += c[static_cast<std::size_t>(i * 16 + j)] != static_cast<float>(want);
          }
        }
        return wrong == 0;
      });
}

TEST_CASE("ldmatrix reads as the lane whose row it is: races, bounds and alignment") {
  const std::vector<unsigned short> in(32 * 8, 1);
  std::vector<unsigned> out(32 * 4);
  const int read = line_of("half", "rows read") - 3, written = line_of("half", "rows written");
  const auto go = [&](RowFault fault, std::uint64_t seed) {
    Run run(seed);
    matrix_rows(fault, 4, false, run.input(in), run.output(out));
    return Run::findings();
  };
  const auto names = [&](const std::vector<plumb::simt::Finding>& findings, FindingKind kind, int other) {
    for (int line = read; line < read + 4; ++line) {  // of the statement
      if (reports(findings, kind, line, other)) return true;
    }
    return false;
  };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    CHECK(names(go(RowFault::misaligned, seed), FindingKind::misaligned, 0));
    if (!checked()) continue;
    const auto race = go(RowFault::no_barrier, seed);
    CHECK_MESSAGE(names(race, FindingKind::race, written), all_of(race));
    const auto beyond = go(RowFault::beyond, seed);
    CHECK_MESSAGE(names(beyond, FindingKind::out_of_bounds, 0), all_of(beyond));
  }
}

namespace {

struct WarpShape {
  WarpProduct what;
  int m, n, k;
};

template <class T, class C>
void check_warp_product(const WarpShape& s, double a_scale, double b_scale, double shift) {
  for (int layouts = 0; layouts < 8; ++layouts) {
    CAPTURE(static_cast<int>(s.what));
    CAPTURE(layouts);
    const bool a_cols = (layouts & 1) != 0, b_cols = (layouts & 2) != 0, c_cols = (layouts & 4) != 0;
    const int pad = 16 / static_cast<int>(sizeof(T));
    const auto a_at = [&](int i) { return (i - shift) * a_scale; };
    const auto b_at = [&](int i) { return ((i * 5) % (s.n * s.k) % 199 - shift) * b_scale; };
    const auto c_at = [](int i) { return static_cast<double>(i % 61); };
    auto a = lines<T>(a_cols ? s.k : s.m, a_cols ? s.m : s.k, pad, a_at);
    auto b = lines<T>(b_cols ? s.n : s.k, b_cols ? s.k : s.n, pad, b_at);
    auto c = lines<C>(c_cols ? s.n : s.m, c_cols ? s.m : s.n, 16, c_at);
    Run run(3);
    plumb::simt::add_array("b", b.data(), b.size() * sizeof(T), true, false);
    plumb::simt::add_array("c", c.data(), c.size() * sizeof(C), true, true);
    warp_product(s.what, a_cols, b_cols, c_cols, run.input(a), b.data(), c.data());
    expect_none();
    int wrong = 0;
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < s.n; ++j) {
        const int e = c_cols ? j * s.m + i : i * s.n + j, line = c_cols ? s.m : s.n;
        double want = c_at(e) + 2;
        for (int d = 0; d < s.k; ++d)
          want += a_at(a_cols ? d * s.m + i : i * s.k + d) * b_at(b_cols ? j * s.k + d : d * s.n + j);
        if (std::is_same<C, half>::value) want = static_cast<double>(widen<Half>(narrow<Half>(want)));
        wrong += static_cast<double>(static_cast<float>(
                     c[static_cast<std::size_t>(e / line * (line + 16) + e % line)])) != want;
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("wmma multiplies in every shape, type and layout it offers") {
  check_warp_product<half, float>({WarpProduct::f16_f32, 16, 16, 16}, 1, 1, 100);
  check_warp_product<half, half>({WarpProduct::f16_f16, 16, 16, 16}, 1.0 / 64, 1.0 / 32, 0);
  check_warp_product<half, float>({WarpProduct::f16_tall, 32, 8, 16}, 1, 1, 100);
  check_warp_product<half, float>({WarpProduct::f16_wide, 8, 32, 16}, 1, 1, 100);
  check_warp_product<__nv_bfloat16, float>({WarpProduct::bf16, 16, 16, 16}, 1, 1, 0);
  check_warp_product<float, float>({WarpProduct::tf32, 16, 16, 8}, 1, 1, 50);
  check_warp_product<double, double>({WarpProduct::f64, 8, 8, 4}, 1, 1, 10);
  check_warp_product<signed char, int>({WarpProduct::s8, 16, 16, 16}, 1, 1, 128);
}

TEST_CASE(
    "a tile loaded by wmma before the warp has synchronised is a race; all lanes must take part, tiles must "
    "be aligned") {
  std::vector<unsigned short> in(264), out(264);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = bits_of_half(static_cast<float>(i));
  twin(
      "half", "tile written", "tile loaded",
      [&](Form f, Run& run) { warp_tile(f, run.input(in), run.output(out)); },
      [&] { return out[1] == bits_of_half(32.0f) && out[16] == bits_of_half(2.0f); });
  {
    Run run;
    warp_tile_absent(run.output(out));
    CHECK(reports(Run::findings(), FindingKind::trap, line_of("half", "store without a lane")));
  }
  Run run;
  warp_tile_misaligned(run.input(in), run.output(out), 1);
  CHECK(reports(Run::findings(), FindingKind::misaligned, line_of("half", "tile at an odd place")));
}
