// fp32 sums of products of narrow numbers beside their bound: docs/bounds.md, "Narrow outputs".
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/arithmetic/fp.hpp"
#include "reference/cases/operator.hpp"
#include "reference/core/random.hpp"

using namespace plumb;

namespace {

enum class Draw : std::uint8_t { positive, zero_mean, around_100 };

double draw(Draw how, std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
  if (how == Draw::positive) return random_unit(seed, stream, i);
  if (how == Draw::zero_mean) return 2 * random_unit(seed, stream, i) - 1;
  double sum = 0;  // of twelve uniform numbers: variance 1
  for (std::uint64_t k = 0; k < 12; ++k) sum += random_unit(seed, stream + k, i);
  return 100 + sum - 6;
}

std::vector<float> products(Format format, Draw how, std::uint64_t seed, std::int64_t terms) {
  std::vector<float> all;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(terms); ++i)
    all.push_back(static_cast<float>(representable(format, draw(how, seed, 100, i)) *
                                     representable(format, draw(how, seed, 200, i))));
  return all;
}

float in_lanes(const std::vector<float>& terms, std::size_t lanes) {
  std::vector<float> sums(lanes);
  for (std::size_t i = 0; i < terms.size(); ++i) sums[i % lanes] += terms[i];
  float sum = 0;
  for (const float s : sums) sum += s;
  return sum;
}

// The largest error over bound of some orders, for one draw.
double worst_ratio(const std::vector<float>& terms, Fill fill, Dtype dtype) {
  NeumaierSum<double> exact, magnitude;
  for (const float t : terms)
    exact.add(static_cast<double>(t)), magnitude.add(std::fabs(static_cast<double>(t)));
  const double bound = sum_bound({fill, Arithmetic::native, dtype}, exact.value(), magnitude.value(),
                                 static_cast<std::int64_t>(terms.size()));
  std::vector<float> reversed(terms.rbegin(), terms.rend());
  double worst = 0;
  for (const float sum : {in_lanes(terms, 1), in_lanes(reversed, 1), in_lanes(terms, 8), in_lanes(terms, 32)})
    worst = std::max(worst, std::fabs(static_cast<double>(sum) - exact.value()) / bound);
  return worst;
}

}  // namespace

TEST_CASE("fp32 sums of narrow products stay within the bound, repeated terms within that of few values") {
  constexpr Dtype kTypes[] = {Dtype::f16, Dtype::bf16, Dtype::e4m3_bf16, Dtype::e5m2_bf16};
  for (const Dtype dtype : kTypes) {
    CAPTURE(facts(dtype).name);
    for (const std::int64_t terms : {3, 64, 1024, 16384}) {
      for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const auto of = [&](Draw how, Fill fill) {
          return worst_ratio(products(facts(dtype).in, how, seed, terms), fill, dtype);
        };
        CHECK(of(Draw::positive, Fill::positive) < 1);
        CHECK(of(Draw::zero_mean, Fill::real) < 1);
        CHECK(of(Draw::around_100, Fill::few) < 1);
      }
    }
  }
}

TEST_CASE("numbers around 100 in bf16 leave the random walk, which is why equal terms are counted") {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    worst = std::max(worst, worst_ratio(products(Format::bf16, Draw::around_100, seed, 65536), Fill::positive,
                                        Dtype::bf16));
  CHECK(worst > 1);
}

TEST_CASE("on a device narrow sums are granted what tensor cores cut, wider ones are not") {
  const auto bound = [](Dtype dtype, Arithmetic a, bool device, Fill fill = Fill::positive) {
    return sum_bound({fill, a, dtype, device}, 1, 1, 4096);
  };
  const double lanes = bound(Dtype::bf16, Arithmetic::native, false);
  CHECK(bound(Dtype::bf16, Arithmetic::native, true) ==
        doctest::Approx(lanes + 512 * (8 * 0x1p-24 + 0x1p-23)));
  CHECK(bound(Dtype::f32, Arithmetic::native, true) == bound(Dtype::f32, Arithmetic::native, false));
  CHECK(bound(Dtype::bf16, Arithmetic::compensated, true) ==
        bound(Dtype::bf16, Arithmetic::compensated, false));
  // 8-bit products: in parts of 128 terms, or all of them in 13 bits
  CHECK(bound(Dtype::e4m3_bf16, Arithmetic::native, true) == doctest::Approx(lanes + 4 * 33 * 0x1p-13));
  CHECK(bound(Dtype::e4m3_bf16, Arithmetic::fp8_fast, true) == doctest::Approx(lanes + 128 * 33 * 0x1p-13));
  // integers are exact in 13 bits up to 2^13
  const auto exact = [](double magnitude) {
    return sum_bound({Fill::exact, Arithmetic::fp8_fast, Dtype::e4m3_bf16, true}, 0, magnitude, 200);
  };
  CHECK(exact(8192) == 0);
  CHECK(exact(8193) > 0);
}
