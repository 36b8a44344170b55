// Products of tensor cores on the executor: eight elements at once as tensor_step() makes each, and long sums of fp8 as the chip makes them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/simt/language/tensor_products.hpp"
#include "gpu/tests/kernels/tensor_sums.hpp"
#include "gpu/tests/simt_support.hpp"
#include "reference/arithmetic/tensor_bound.hpp"
#include "reference/core/random.hpp"

using namespace plumb;
using namespace plumb::simt_test;
using simt::Element;
using simt::Finding;
using simt::FindingKind;
using simt::TensorForm;
using simt::Total;

namespace {

struct Operands {
  Element element;
  Format format;
};
constexpr Operands kOperands[] = {{Element::tf32, Format::tf32},
                                  {Element::f16, Format::f16},
                                  {Element::bf16, Format::bf16},
                                  {Element::e4m3, Format::e4m3},
                                  {Element::e5m2, Format::e5m2}};

// Codes of `format` by kind: 0 any bits at all, 1 numbers of nearly one size, 2 subnormal numbers and zeros among others, 3 few specials.
std::uint32_t code(Format format, int kind, std::uint64_t random) {
  const FormatFacts& f = facts(format);
  const auto any = static_cast<std::uint32_t>(random >> 32 & ((std::uint64_t{1} << 8 * f.bytes) - 1));
  const double unit = static_cast<double>(random & 0xffffffu) * 0x1p-24;
  if (kind == 0 || (kind == 3 && unit < 0.02)) return any;
  const double value =
      kind == 2 ? std::ldexp(unit - 0.5, f.min_exponent / 2 + static_cast<int>(any % 8)) : 4 * unit - 2;
  std::uint64_t out = 0;
  encode(format, kind == 2 && any % 16 == 0 ? 0.0 : value, &out);
  return static_cast<std::uint32_t>(out);
}

// The elements of a product that differ from tensor_dot() of each.
int differing(const TensorCore& core, const Operands& o, Total total, int depth, int kind,
              std::uint64_t seed) {
  const int rows = 16, columns = 16, bytes = facts(o.format).bytes;
  const Format sums_of = total == Total::f16 ? Format::f16 : Format::f32;
  std::vector<unsigned char> a(static_cast<std::size_t>(rows * depth * bytes)), b(a.size());
  std::vector<TensorTerm> terms[2] = {std::vector<TensorTerm>(static_cast<std::size_t>(rows * depth)),
                                      std::vector<TensorTerm>(static_cast<std::size_t>(rows * depth))};
  for (int of_b = 0; of_b < 2; ++of_b) {
    for (int i = 0; i < rows * depth; ++i) {
      const std::uint32_t c = code(
          o.format, kind, random_bits(seed, static_cast<std::uint64_t>(of_b), static_cast<std::uint64_t>(i)));
      std::memcpy((of_b != 0 ? b : a).data() + i * bytes, &c, static_cast<std::size_t>(bytes));
      const int at = i / depth * depth + tensor_place(core, i % depth, depth);
      terms[of_b][static_cast<std::size_t>(at)] = tensor_term(core, o.format, c);
    }
  }
  std::vector<float> sums(rows * columns), want;
  for (int i = 0; i < rows * columns; ++i) {
    const std::uint32_t c = code(sums_of, kind, random_bits(seed, 2, static_cast<std::uint64_t>(i)));
    const float sum =
        sums_of == Format::f16 ? widen<Half>(static_cast<unsigned short>(c)) : detail::float_of_bits(c);
    sums[static_cast<std::size_t>(i)] = sum;
    want.push_back(tensor_dot(core, sums_of, &terms[0][static_cast<std::size_t>(i / columns * depth)],
                              &terms[1][static_cast<std::size_t>(i % columns * depth)], depth, sum));
  }
  simt::multiply(core, {core.instruction, o.element, o.element, total, rows, columns, depth}, a.data(),
                 b.data(), sums.data());
  int differ = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    differ += std::memcmp(&sums[i], &want[i], sizeof sums[i]) != 0 ? 1 : 0;
  return differ;
}

}  // namespace

TEST_CASE(
    "eight elements at once are what each is by itself, on every chip, of every type and kind of data") {
  std::uint64_t seed = 0;
  for (const TensorCore& core : kTensorCores) {
    for (const Operands& o : kOperands) {
      if (facts(o.format).bytes != core.operand_bytes) continue;
      for (const Total total : {Total::f32, Total::f16}) {
        if (total == Total::f16 && (o.format == Format::tf32 || o.format == Format::bf16)) continue;
        for (int i = 0; i < 48; ++i) {
          CAPTURE(core.chip);
          CAPTURE(facts(o.format).name);
          CAPTURE(i);
          const int depth = (i / 4 % 2 == 0 ? 32 : 16) / core.operand_bytes;
          CHECK(differing(core, o, total, depth, i % 4, ++seed) == 0);
        }
      }
    }
  }
}

namespace {

constexpr int kDepth = 4096;

struct Fp8Data {
  std::vector<unsigned char> a = std::vector<unsigned char>(64 * kDepth),
                             b = std::vector<unsigned char>(16 * kDepth);
  std::vector<float> c = std::vector<float>(64 * 16, 0.0f);
  Fp8Data() {  // 1 to 1.875
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<unsigned char>(0x38 + random_below(1, 0, i, 8));
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<unsigned char>(0x38 + random_below(1, 1, i, 8));
  }
  double exact(int row, int column) const {  // and so is the sum in fp32: 6 bits behind the point, below 2^14
    double sum = 0;
    for (int k = 0; k < kDepth; ++k)
      sum += static_cast<double>(widen<E4m3>(a[static_cast<std::size_t>(row * kDepth + k)])) *
             static_cast<double>(widen<E4m3>(b[static_cast<std::size_t>(column * kDepth + k)]));
    return sum;
  }
  std::vector<Finding> run(Fp8Sum how, int chip) {
    simt::Options options;
    options.chip = chip;
    options.check = checked();
    simt::begin_run(options);
    simt::add_array("a", a.data(), a.size(), true, false);
    simt::add_array("b", b.data(), b.size(), true, false);
    simt::add_array("c", c.data(), c.size() * sizeof(float), true, true);
    fp8_sums(how, a.data(), b.data(), kDepth, c.data());
    return simt::end_run();
  }
  // The elements of rows x columns that are not the core's, and the least and most that one is too small, in parts of the exact sum.
  struct Loss {
    int differ = 0;
    double least = 1, most = 0;
  };
  Loss loss(const TensorCore& core, int rows, int columns) const {
    Loss out;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        float want = 0;
        for (int first = 0; first < kDepth; first += 32) {
          TensorTerm x[32], y[32];
          for (int k = 0; k < 32; ++k) {
            const int to = tensor_place(core, k, 32);
            x[to] = tensor_term(core, Format::e4m3, a[static_cast<std::size_t>(row * kDepth + first + k)]);
            y[to] = tensor_term(core, Format::e4m3, b[static_cast<std::size_t>(column * kDepth + first + k)]);
          }
          want = tensor_dot(core, Format::f32, x, y, 32, want);
        }
        const float sum = c[static_cast<std::size_t>(row * 16 + column)];
        out.differ += sum == want ? 0 : 1;
        const double right = exact(row, column), lost = (right - static_cast<double>(sum)) / right;
        out.least = std::min(out.least, lost), out.most = std::max(out.most, lost);
      }
    }
    return out;
  }
};

}  // namespace

TEST_CASE("4096 positive products of e4m3: Hopper's wgmma loses what an fp32 sum keeps") {
  Fp8Data data;
  const TensorCore& fast = tensor_core(90, TensorInstruction::wgmma, 1);
  const auto findings = data.run(Fp8Sum::by_wgmma, 90);
  CHECK_MESSAGE(findings.empty(), all_of(findings));
  const Fp8Data::Loss loss = data.loss(fast, 64, 16);
  CHECK(loss.differ == 0);
  CHECK(loss.least > 0x1p-9);  // of every sum, more than one part in 512
  CHECK(loss.most <= tensor_bound(fast, Format::f32, kDepth, 1));
}

TEST_CASE(
    "4096 positive products of e4m3 by mma.sync: nothing is lost on Hopper, much on sm_89, and sm_80 has no "
    "such product") {
  Fp8Data data;
  CHECK(data.run(Fp8Sum::by_mma, 90).empty());
  const Fp8Data::Loss hopper = data.loss(tensor_core(90, TensorInstruction::mma, 1), 16, 8);
  CHECK(hopper.differ == 0);
  CHECK(hopper.most == 0);
  CHECK(data.run(Fp8Sum::by_mma, 89).empty());
  const Fp8Data::Loss ada = data.loss(tensor_core(89, TensorInstruction::mma, 1), 16, 8);
  CHECK(ada.differ == 0);
  CHECK(ada.least > 0x1p-9);
  const auto refused = data.run(Fp8Sum::by_mma, 80);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].kind == FindingKind::trap);
  CHECK(refused[0].text == "mma.sync (e4m3) on sm_80: sm_89 was the first to have it");
}
