// The sums of tensor cores: one step against vectors made by hand, what must be exact, and the derived bound of longer sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/arithmetic/tensor_bound.hpp"
#include "reference/arithmetic/tensor_step.hpp"
#include "reference/core/random.hpp"

using namespace plumb;

namespace {

constexpr auto kMma = TensorInstruction::mma, kWgmma = TensorInstruction::wgmma;

struct Product {
  double a, b;
};

std::uint32_t code_of(Format format, double value) {
  std::uint64_t code = 0;
  encode(format, value, &code);
  return static_cast<std::uint32_t>(code);
}

// One step of `products`, of values that `format` holds.
float step(const TensorCore& core, Format format, Format sums, const std::vector<Product>& products,
           float c) {
  std::vector<TensorTerm> a, b;
  for (const Product& p : products) {
    REQUIRE((std::isnan(p.a) || representable(format, p.a) == p.a));
    REQUIRE((std::isnan(p.b) || representable(format, p.b) == p.b));
    a.push_back(tensor_term(core, format, code_of(format, p.a)));
    b.push_back(tensor_term(core, format, code_of(format, p.b)));
  }
  return tensor_step(core, sums, a.data(), b.data(), static_cast<int>(products.size()), c);
}
std::uint32_t bits(float x) { return detail::bits_of_float(x); }

std::vector<Product> times(int count, double a, double b) {
  return std::vector<Product>(static_cast<std::size_t>(count), Product{a, b});
}
std::vector<Product> joined(std::vector<Product> x, const std::vector<Product>& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("terms are cut to the chip's bits behind the largest exponent, toward zero") {
  const TensorCore &hopper = tensor_core(90, kMma, 2), &ampere = tensor_core(80, kMma, 2),
                   &volta = tensor_core(70, kMma, 2);
  const auto of = [](const TensorCore& core, const std::vector<Product>& p, float c) {
    return step(core, Format::f16, Format::f32, p, c);
  };
  CHECK(of(hopper, times(8, 0x1p-13, 0x1p-13), 1) == 1);             // 2^-26 each
  CHECK(of(hopper, times(8, 0x1p-12, 0x1p-13), 1) == 1 + 0x1p-22f);  // 2^-25
  CHECK(of(ampere, times(8, 0x1p-12, 0x1p-13), 1) == 1);
  CHECK(of(ampere, times(8, 0x1p-12, 0x1p-12), 1) == 1 + 0x1p-21f);  // 2^-24
  CHECK(of(volta, times(4, 0x1p-12, 0x1p-12), 1) == 1);
  CHECK(of(volta, times(4, 0x1p-11, 0x1p-12), 1) == 1 + 0x1p-21f);
  // of either sign, and what the result keeps: 23 bits
  CHECK(of(hopper, times(8, -0x1p-13, 0x1p-13), 1) == 1);
  CHECK(of(hopper, {{0x1p-12, 0x1p-12}}, 1) == 1);
  CHECK(of(hopper, {{-0x1p-12, 0x1p-12}}, -1) == -1);
  CHECK(of(hopper, {{0x1.8p-12, 0x1p-11}}, -1) == -(1 - 0x1.8p-23f));
  CHECK(of(hopper, {{-0x1p-12, 0x1p-12}}, 1) == 1 - 0x1p-24f);
}

TEST_CASE("what a cancellation leaves has lost what was cut before") {
  const TensorCore& core = tensor_core(90, kMma, 2);
  CHECK(bits(step(core, Format::f16, Format::f32, {{1, 1}, {0x1p-13, 0x1p-13}}, -1)) == 0);
  CHECK(step(core, Format::f16, Format::f32, {{1, 1}, {0x1p-12, 0x1p-13}}, -1) == 0x1p-25f);
  CHECK(step(core, Format::f16, Format::f32, {{0x1p-13, 0x1p-13}}, 0) == 0x1p-26f);
}

TEST_CASE("a product has the sum of its factors' exponents, and is not normalised") {
  const TensorCore& core = tensor_core(90, kMma, 2);
  // 2.25 has the exponent 0 here: 2^-25 is kept eight times
  CHECK(step(core, Format::f16, Format::f32, joined({{1.5, 1.5}}, times(8, 0x1p-12, 0x1p-13)), 0) ==
        2.25f + 0x1p-22f);
  // a subnormal operand has the exponent -14: 2^-40 is below 2^(-14 - 25)
  CHECK(step(core, Format::f16, Format::f32, {{0x1p-24, 1}, {0x1p-20, 0x1p-20}}, 0) == 0x1p-24f);
  CHECK(step(core, Format::f16, Format::f32, {{0x1p-24, 1}}, 0) == 0x1p-24f);
  CHECK(step(core, Format::bf16, Format::f32, {{0x1p-133, 1}}, 0) == 0x1p-133f);
  // 0 has none: neither as a factor nor as the sum
  CHECK(step(core, Format::f16, Format::f32, {{0, 0x1p15}, {0x1p-20, 0x1p-20}}, 0) == 0x1p-40f);
  CHECK(step(core, Format::bf16, Format::f32, times(4, 0x1p-75, 0x1p-76), 0) == 0x1p-149f);
}

TEST_CASE("infinities, NaN, zeros and overflow") {
  const TensorCore& core = tensor_core(90, kMma, 2);
  const auto of = [&](const std::vector<Product>& p, float c, Format sums = Format::f32) {
    return bits(step(core, Format::f16, sums, p, c));
  };
  const float infinity = static_cast<float>(kInfinity);
  CHECK(of({{kInfinity, 2}}, 1) == 0x7f800000);
  CHECK(of({{kInfinity, -2}}, 1) == 0xff800000);
  CHECK(of({{1, 1}}, -infinity) == 0xff800000);
  CHECK(of({{kInfinity, 0}}, 1) == kTensorNan);
  CHECK(of({{kInfinity, 1}, {kInfinity, -1}}, 1) == kTensorNan);
  CHECK(of({{kInfinity, 1}}, -infinity) == kTensorNan);
  CHECK(of({{kNone, 0}}, 1) == kTensorNan);
  CHECK(of({{1, 1}}, detail::float_of_bits(0xffc00001)) == kTensorNan);  // no payload, no sign
  CHECK(of({{-0.0, 1}, {0.0, -1}}, -0.0f) == 0);
  CHECK(of({{1, 1}}, -1) == 0);
  CHECK(bits(step(core, Format::bf16, Format::f32, {{0x1p127, 1}, {0x1p127, 1}}, 0)) == 0x7f800000);
  CHECK(bits(step(core, Format::bf16, Format::f32, {{-0x1.fep127, 1}, {-0x1.fep119, 1}}, 0)) == 0xff7fff00);
  CHECK(bits(step(core, Format::bf16, Format::f32, {{0x1p-133, -0x1p-20}}, 0)) == 0);  // not -0
  // e4m3 has no infinity: 448 is a number beside its NaN
  const TensorCore& fp8 = tensor_core(90, kWgmma, 1);
  CHECK(step(fp8, Format::e4m3, Format::f32, {{448, 1}}, 0) == 448);
  CHECK(bits(step(fp8, Format::e4m3, Format::f32, {{kNone, 0}}, 0)) == kTensorNan);
  CHECK(bits(step(fp8, Format::e5m2, Format::f32, {{kInfinity, 1}}, 0)) == 0x7f800000);
}

TEST_CASE("f16 sums are rounded to nearest even, once for each step") {
  const TensorCore& core = tensor_core(90, kMma, 2);
  const auto of = [&](const std::vector<Product>& p, float c) {
    return step(core, Format::f16, Format::f16, p, c);
  };
  CHECK(of({{0x1p-11, 1}}, 1) == 1);
  CHECK(of({{0x1p-11, 1}}, 1 + 0x1p-10f) == 1 + 0x1p-9f);
  CHECK(of({{0x1.8p-11, 1}}, 1) == 1 + 0x1p-10f);
  CHECK(of({{15, 1}}, 65504) == 65504);
  CHECK(bits(of({{16, 1}}, 65504)) == 0x7f800000);
  CHECK(of({{0x1p-20, 0x1p-5}}, 0) == 0);  // half of the smallest
  CHECK(of({{0x1.8p-20, 0x1p-5}}, 0) == 0x1p-24f);
  CHECK(bits(of({{-0x1p-20, 0x1p-5}}, 0)) == 0);  // not -0
}

TEST_CASE("Hopper's wgmma of fp8 keeps 13 bits of terms and of sums") {
  const TensorCore& fast = tensor_core(90, kWgmma, 1);
  CHECK(fast.terms == 32);
  CHECK(step(fast, Format::e4m3, Format::f32, times(32, 0x1p-7, 0x1p-7), 1) == 1);  // 2^-14 each
  CHECK(step(fast, Format::e4m3, Format::f32, times(32, 0x1p-6, 0x1p-7), 1) == 1 + 0x1p-8f);
  CHECK(step(fast, Format::e4m3, Format::f32, {{0x1p-7, 0x1p-7}}, 1 + 0x1p-20f) == 1);  // the sum is cut, too
  CHECK(step(fast, Format::e4m3, Format::f32, {{0x1p-7, 0x1p-7}}, 0) == 0x1p-14f);
}

TEST_CASE("products below the sum's least exponent are cut as an H200 cuts them") {
  struct Element {
    TensorInstruction instruction;
    Format format;
    std::uint32_t want;  // bits of the sum that came out; the sum before is 0
    std::vector<std::uint32_t> a, b;
  };
  const Element elements[] = {
      {kMma,
       Format::bf16,
       0x26ec,
       {0x144b, 0x17af, 0x1d44, 0x16f9, 0x169f, 0x154f, 0x0, 0x9682, 0x9448, 0x8062, 0x1726, 0x1bc7, 0x0,
        0x96fe, 0x14bc, 0x94c4},
       {0x807f, 0x1eb2, 0x12d0, 0x1645, 0x9970, 0x9c72, 0xa68c, 0x15f3, 0x2386, 0x157b, 0x18ac, 0x1e9c,
        0x9b62, 0x14df, 0x0, 0xa5fc}},
      {kMma,
       Format::bf16,
       0x800004e6,
       {0xa4c0, 0x15b1, 0x148a, 0x9ce8, 0x9467, 0x1320, 0xa5a7, 0x93c7},
       {0x14d1, 0x1, 0x9707, 0x8001, 0x987c, 0x7c, 0x1, 0x1443}},
      {kMma,
       Format::tf32,
       0x2545,
       {0x975ae4b7, 0x16ae06e2, 0x162e3563, 0x931631af, 0x15b69fcc, 0x9357e980, 0x95342be7, 0x9c283dbc},
       {0x9827e4b8, 0x1eec7f8e, 0x12e25010, 0x2417754f, 0x19052460, 0x9d70deff, 0xa5d610d1, 0x1b2891b2}},
      {kMma,
       Format::tf32,
       0xfa4a,
       {0x157da580, 0x9322009b, 0x23bb9734, 0x80002c2a},
       {0x26fdee29, 0x9f795110, 0x94d72ba7, 0x13125bad}},
      {TensorInstruction::wmma,
       Format::bf16,
       0x5812,
       {0x2006, 0x9cb9, 0x1644, 0x9884, 0x9c97, 0x231a, 0x9e9c, 0x15b8, 0x7f, 0x1b93, 0x93d2, 0x1c0b, 0x1848,
        0x12c5, 0x9377, 0x9d59},
       {0x9559, 0x9e9e, 0x25a8, 0x9c00, 0x9eb4, 0x148e, 0x974c, 0x9a1d, 0x2443, 0x9fff, 0x9b40, 0x9ae2,
        0x807f, 0x2188, 0xa5d4, 0x1e3f}},
      {TensorInstruction::wmma,
       Format::tf32,
       0x80000be0,
       {0x99789035, 0x23200872, 0x9427605a, 0x9a253cfe, 0x999e4a3d, 0x991cb606, 0x1ae44f93, 0x20cf01c6},
       {0x7fe6e2, 0x97180c62, 0x9942a30f, 0x94010fa2, 0x803392df, 0x93ccc44a, 0x1266, 0x60d}},
      {kWgmma,
       Format::bf16,
       0x80017d8d,
       {0x1499, 0x9524, 0x132d, 0x807f, 0x9ddf, 0x9ab1, 0x146f, 0xa65a, 0x8000, 0x26ad, 0x1eb6, 0x98bc, 0x0,
        0x9bab, 0x16a7, 0xa033},
       {0xa20c, 0x12ef, 0x7f, 0x935f, 0x8000, 0x24, 0x1dbb, 0x1391, 0xa2f4, 0x0, 0x1c68, 0x974d, 0x98f6,
        0x9361, 0xa4b3, 0x1c7f}},
      {kWgmma,
       Format::tf32,
       0x80000291,
       {0x96c1bcaa, 0x16da, 0x7fe558, 0x3b4c, 0x22d45e32, 0x17ca4171, 0x52, 0x1f0c},
       {0x1b526ce5, 0xa655f674, 0x9d403120, 0x807ff630, 0x96466408, 0x9ab71e20, 0x234d58dc, 0x1d01fd60}},
      {kWgmma,
       Format::f16,
       0x6,
       {0x3ff, 0x83ff, 0x1153, 0x4d, 0x8261, 0x87ed, 0x289, 0x9a0d, 0x86de, 0x82c2, 0x15c, 0xb6c, 0x8000,
        0x81ff, 0x3ff, 0x8331},
       {0x139, 0x4ad, 0x8c16, 0x7ce, 0x89f4, 0x1dd, 0x29a, 0x0, 0x8f41, 0x8598, 0x2ae, 0x15c7, 0x2bf, 0x87ea,
        0x8298, 0x9b66}},
  };
  for (const Element& e : elements) {
    const bool half = e.format == Format::f16;  // and so is its sum
    const TensorCore& core = tensor_core(90, e.instruction, e.format == Format::tf32 ? 4 : 2);
    std::vector<TensorTerm> a, b;
    for (const std::uint32_t code : e.a) a.push_back(tensor_term(core, e.format, code));
    for (const std::uint32_t code : e.b) b.push_back(tensor_term(core, e.format, code));
    const float sum =
        tensor_dot(core, half ? Format::f16 : Format::f32, a.data(), b.data(), static_cast<int>(a.size()), 0);
    CHECK((half ? code_of(Format::f16, sum) : bits(sum)) == e.want);
  }
}

TEST_CASE("mma.sync of fp8 on Hopper is two products of f16 and an addition") {
  const TensorCore& core = tensor_core(90, kMma, 1);
  REQUIRE(core.as_f16);
  std::vector<TensorTerm> a(32), b(32);
  const auto sum = [&](const std::vector<Product>& p, float c, Format sums = Format::f32) {
    for (int k = 0; k < 32; ++k) {
      const auto at = static_cast<std::size_t>(tensor_place(core, k, 32));
      a[at] = tensor_term(core, Format::e4m3, code_of(Format::e4m3, p[static_cast<std::size_t>(k)].a));
      b[at] = tensor_term(core, Format::e4m3, code_of(Format::e4m3, p[static_cast<std::size_t>(k)].b));
    }
    return tensor_dot(core, sums, a.data(), b.data(), 32, c);
  };
  CHECK(sum(times(32, 0x1p-7, 0x1p-7), 1) == 1 + 0x1p-9f);
  // 3 * 2^-18 is one and a half places of 64: the addition rounds it to nearest even
  CHECK(sum(joined(times(3, 0x1p-9, 0x1p-9), times(29, 0, 0)), 64) == 64 + 0x1p-16f);
  // the first two of each four elements come first
  std::vector<Product> p = times(32, 0, 0);
  p[2] = {256, 256}, p[3] = {-256, 256}, p[4] = {0x1p-9, 0x1p-9};
  CHECK(sum(p, 0) == 0);  // 2^-18 is there first, and is cut beside 2^16
  std::swap(p[2], p[5]), std::swap(p[3], p[8]), std::swap(p[4], p[6]);
  CHECK(sum(p, 0) == 0x1p-18f);
}

namespace {

struct Drawn {
  std::vector<TensorTerm> a, b;
  std::vector<double> products;
};

// `depth` products, in the order of the steps of instructions of `of_instruction`.
Drawn draw(const TensorCore& core, Format format, int depth, int of_instruction, bool positive,
           std::uint64_t seed) {
  Drawn d;
  d.a.resize(static_cast<std::size_t>(depth)), d.b = d.a;
  for (int k = 0; k < depth; ++k) {
    const auto operand = [&](std::uint64_t stream, TensorTerm& to) {
      const auto index = static_cast<std::uint64_t>(k);
      const double unit = random_unit(seed, stream, index);
      const double value = representable(format, positive ? unit : 2 * unit - 1);
      to = tensor_term(core, format, code_of(format, value));
      return value;
    };
    const int first = k / of_instruction * of_instruction;
    const auto at = static_cast<std::size_t>(first + tensor_place(core, k - first, of_instruction));
    const double x = operand(1, d.a[at]), y = operand(2, d.b[at]);
    d.products.push_back(x * y);
  }
  return d;
}

std::vector<Format> formats_of(int bytes) {
  if (bytes == 4) return {Format::tf32};
  if (bytes == 2) return {Format::f16, Format::bf16};
  return {Format::e4m3, Format::e5m2};
}

float chained(const TensorCore& core, Format sums, const Drawn& d, int of_instruction) {
  float c = 0;
  const int depth = static_cast<int>(d.a.size());
  for (int k = 0; k < depth; k += of_instruction)
    c = tensor_dot(core, sums, d.a.data() + k, d.b.data() + k, std::min(of_instruction, depth - k), c);
  return c;
}

}  // namespace

TEST_CASE("no sum of drawn products is beyond the derived bound, nor far below it") {
  double highest = 0;
  std::uint64_t seed = 0;
  for (const TensorCore& core : kTensorCores) {
    for (const Format format : formats_of(core.operand_bytes)) {
      for (const Format sums : {Format::f32, Format::f16}) {
        if (sums == Format::f16 && (format == Format::bf16 || format == Format::tf32)) continue;
        for (const int depth : {32, 512, 4096}) {
          for (int again = 0; again < 12; ++again) {
            const bool positive = again % 2 == 0;
            const int of_instruction = std::min(depth, 32 / core.operand_bytes);
            const Drawn d = draw(core, format, depth, of_instruction, positive, ++seed);
            double exact = 0, magnitude = 0, squares = 0;
            for (const double p : d.products) exact += p, magnitude += std::fabs(p), squares += p * p;
            const double weight = positive ? magnitude : std::min(magnitude, 6 * std::sqrt(squares));
            const double error =
                std::fabs(static_cast<double>(chained(core, sums, d, of_instruction)) - exact);
            const double bound = tensor_bound(core, sums, depth, weight);
            CAPTURE(core.chip);
            CAPTURE(facts(format).name);
            CAPTURE(depth);
            CAPTURE(positive);
            CHECK(error <= bound);
            if (core.fraction_bits == 13 && positive) highest = std::max(highest, error / bound);
          }
        }
      }
    }
  }
  CHECK(highest > 0.05);
}

TEST_CASE(
    "integers whose sums the accumulator holds are added exactly; order, swap and sign change nothing") {
  for (const TensorCore& core : kTensorCores) {
    for (const Format format : formats_of(core.operand_bytes)) {
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(core.chip);
        CAPTURE(seed);
        std::vector<TensorTerm> a, b, back_a, back_b, less;
        double want = static_cast<double>(random_below(seed, 3, 0, 64)) - 32;
        const auto c = static_cast<float>(want);
        for (int k = 0; k < core.terms; ++k) {
          const auto draw_one = [&](std::uint64_t stream) {
            return static_cast<double>(random_below(seed, stream, static_cast<std::uint64_t>(k), 9)) - 4;
          };
          const double x = representable(format, draw_one(1)), y = representable(format, draw_one(2));
          want += x * y;
          a.push_back(tensor_term(core, format, code_of(format, x)));
          b.push_back(tensor_term(core, format, code_of(format, y)));
          less.push_back(tensor_term(core, format, code_of(format, -x)));
        }
        back_a.assign(a.rbegin(), a.rend()), back_b.assign(b.rbegin(), b.rend());
        const auto of = [&](const std::vector<TensorTerm>& x, const std::vector<TensorTerm>& y,
                            float before) {
          return static_cast<double>(tensor_step(core, Format::f32, x.data(), y.data(), core.terms, before));
        };
        CHECK(of(a, b, c) == want);
        CHECK(of(b, a, c) == want);
        CHECK(of(back_a, back_b, c) == want);
        CHECK(of(less, b, -c) == -want);
      }
    }
  }
}

TEST_CASE("a chip has its row of the table, and an unknown one the worst") {
  CHECK(tensor_core(86, kMma, 2).fraction_bits == 24);
  CHECK(tensor_core(100, kMma, 2).fraction_bits == 25);
  CHECK(tensor_core(100, kMma, 1).as_f16);
  CHECK(!tensor_core(120, kMma, 1).as_f16);
  CHECK(tensor_core(89, kMma, 1).result_bits == 13);
  CHECK(tensor_core(75, kMma, 4).chip == 80);  // the first that has it
  CHECK(tensor_core(90, TensorInstruction::wmma, 4).terms == 4);
  const TensorCore any = any_tensor_core(kMma, 2);
  CHECK(any.fraction_bits == 23);
  CHECK(any.terms == 4);
  CHECK(tensor_bound(tensor_core(90, kWgmma, 1), Format::f32, 4096, 1) == 128 * (32 * 0x1p-13 + 0x1p-13));
  CHECK(tensor_bound(tensor_core(90, kWgmma, 2), Format::f32, 17, 2) == 2 * 2 * (16 * 0x1p-25 + 0x1p-23));
  CHECK(tensor_bound(tensor_core(90, kMma, 2), Format::f16, 16, 1) == 16 * 0x1p-25 + 0x1p-11);
}
