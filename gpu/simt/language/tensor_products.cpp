#include "gpu/simt/language/tensor_products.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// Vectors of the compiler's: instructions where the processor has them, plain code where not. By reference, since how they are passed depends on
// the processor.
constexpr int kProductLanes = 8;
using Ints = std::int32_t __attribute__((vector_size(32)));
using FourInts = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
using FourDoubles = double __attribute__((vector_size(32)));
using FourLongs = std::int64_t __attribute__((vector_size(32)));

constexpr int kExactTerms = 16;  // products of 27 bits that an Ints adds without overflow

// Eight columns of B, in the order of the steps.
struct Columns {
  Ints significand[kMostDepth], exponent[kMostDepth];
  bool numbers = true;  // all of them: neither infinities nor NaN
};

struct Step {
  const TensorCore& core;
  Format sums;
  int count;
};
// How far significands of `fraction` bits are shifted up before they are cut, and down with the cut.
int up(const Step& s, int fraction) { return std::max(0, s.core.fraction_bits - fraction); }
int down(const Step& s, int fraction) { return std::max(0, fraction - s.core.fraction_bits); }

// Sums before a step: significands without signs, exponents, signs as masks.
struct Before {
  Ints significand, exponent, sign;
};
[[gnu::always_inline]] inline void split(const float* sums, Before& out) {
  Ints bits;
  std::memcpy(&bits, sums, sizeof bits);
  const Ints field = bits >> 23 & 255;
  out.significand = (bits & 0x7fffff) | ((field != 0) & 0x800000);
  out.exponent = (field == 0 ? field + 1 : field) - 127;  // 128 beyond the numbers, and any of 0
  out.sign = bits >> 31;
}

[[gnu::always_inline]] inline void find_top(const Step& s, const TensorTerm* a, const Columns& b, int first,
                                            const Before& before, Ints& top) {
  const Ints none = {};
  const Ints least = none + facts(s.sums).min_exponent;
  top = before.exponent > least ? before.exponent : least;
  top = before.significand == 0 ? least - kBelowLeast : top;
#pragma GCC unroll 4
  for (int k = 0; k < s.count; ++k) {
    const Ints exponent = b.exponent[first + k] + a[k].exponent;
    top = exponent > top ? exponent : top;
  }
}

[[gnu::always_inline]] inline void cut(const Ints& magnitude, const Ints& sign, const Ints& places,
                                       Ints& out) {
  const Ints most = Ints{} + 31;
  out = (magnitude >> (places > most ? most : places) ^ sign) - sign;
}

// The products [from, to) of a step as they are cut, added.
[[gnu::always_inline]] inline void add_cut(const Step& s, const TensorTerm* a, const Columns& b, int first,
                                           int from, int to, const Ints& top, Ints& out) {
  const int up_products = up(s, 2 * kTermFraction), down_products = down(s, 2 * kTermFraction);
  Ints total = {};
#pragma GCC unroll 4
  for (int k = from; k < to; ++k) {
    const Ints product = b.significand[first + k] * (a[k].significand * (1 << up_products));
    const Ints sign = product >> 31;
    Ints term;
    cut((product ^ sign) - sign, sign, top - b.exponent[first + k] + (down_products - a[k].exponent), term);
    total += term;
  }
  out = total;
}

[[gnu::always_inline]] inline void half_of(const Ints& all, int half, FourInts& out) {
  std::memcpy(&out, reinterpret_cast<const char*>(&all) + half * sizeof out, sizeof out);
}

// Four elements' parts, added and scaled.
[[gnu::always_inline]] inline void scale(const Step& s, const Ints (&parts)[3], const Ints& top, int half,
                                         FourDoubles& value) {
  FourInts part, exponent;
  half_of(parts[0], half, part);
  value = __builtin_convertvector(part, FourDoubles);
  half_of(parts[2], half, part);
  value += __builtin_convertvector(part, FourDoubles);
  if (s.count > kExactTerms) {
    half_of(parts[1], half, part);
    value += __builtin_convertvector(part, FourDoubles);
  }
  half_of(top, half, exponent);
  const FourLongs bits = (__builtin_convertvector(exponent, FourLongs) + (1023 - s.core.fraction_bits)) << 52;
  FourDoubles power;
  std::memcpy(&power, &bits, sizeof power);
  value *= power;
}

// Four fp32 sums, cut to the core's bits. `alone` is set where that does not do: they are subnormal, or nearly, or come to 0 from below it.
[[gnu::always_inline]] inline void hand_on(const Step& s, const FourDoubles& value, float* sums,
                                           FourInts& alone) {
  FourLongs bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= ~((std::int64_t{1} << (52 - s.core.result_bits)) - 1);
  FourDoubles kept;
  std::memcpy(&kept, &bits, sizeof kept);
  const FourFloats result = __builtin_convertvector(kept, FourFloats);
  std::memcpy(sums, &result, sizeof result);
  FourInts codes;
  std::memcpy(&codes, &result, sizeof codes);
  alone |= ((codes & 0x7fffffff) < 0x01000000) & (codes != 0);
}

// Elements that are beyond the numbers or subnormal, one after another.
void step_alone(const Step& s, const TensorTerm* a, const Columns& b, int first, const float* before,
                const std::int32_t* alone, float* sums) {
  const auto lane_of = [](const Ints& from, int lane) {
    std::int32_t lanes[kProductLanes];
    std::memcpy(lanes, &from, sizeof lanes);
    return lanes[lane];
  };
  TensorTerm column[kMostDepth];
  for (int lane = 0; lane < kProductLanes; ++lane) {
    if (alone[lane] == 0) continue;
    for (int k = 0; k < s.count; ++k)
      column[k] = {lane_of(b.significand[first + k], lane), lane_of(b.exponent[first + k], lane)};
    sums[lane] = tensor_step(s.core, s.sums, a, column, s.count, before[lane]);
  }
}

// One step of eight elements of a row: tensor_step() of each.
[[gnu::always_inline]] inline void step_eight(const Step& s, const TensorTerm* a, const Columns& b, int first,
                                              float* sums) {
  float numbers[kProductLanes];
  std::memcpy(numbers, sums, sizeof numbers);
  Before before;
  split(sums, before);
  Ints top, parts[3];
  find_top(s, a, b, first, before, top);
  const Ints beyond = (top >= kBeyondProducts) | (before.exponent == 128);
  add_cut(s, a, b, first, 0, std::min(s.count, kExactTerms), top, parts[0]);
  if (s.count > kExactTerms) add_cut(s, a, b, first, kExactTerms, s.count, top, parts[1]);
  cut(before.significand << up(s, kSumFraction), before.sign, top - before.exponent + down(s, kSumFraction),
      parts[2]);
  FourInts alone[2];
  for (int half = 0; half < 2; ++half) {
    FourDoubles value;
    scale(s, parts, top, half, value);
    half_of(beyond, half, alone[half]);
    if (s.sums == Format::f16) {
      for (int i = 0; i < 4; ++i) sums[4 * half + i] = widen<Half>(narrow<Half>(value[i])) + 0.0f;
    } else {
      hand_on(s, value, sums + 4 * half, alone[half]);
    }
  }
  const FourInts either = alone[0] | alone[1];
  std::uint64_t any[2];
  std::memcpy(any, &either, sizeof any);
  if ((any[0] | any[1]) == 0) return;
  std::int32_t lanes[kProductLanes];
  std::memcpy(lanes, alone, sizeof lanes);
  step_alone(s, a, b, first, numbers, lanes, sums);
}

Format format_of(Total total) { return total == Total::f16 ? Format::f16 : Format::f32; }

template <class F, int Unused = 0>
void split_codes(const unsigned char* codes, int depth, TensorTerm* out) {
  for (int k = 0; k < depth; ++k) {
    typename F::Bits code;
    std::memcpy(&code, codes + static_cast<std::size_t>(k) * sizeof code, sizeof code);
    out[k] = detail::term_of<F, kTermFraction>(static_cast<std::uint32_t>(code) >> Unused);
  }
}

// Rows of codes as terms, in the order of the steps: tensor_term() of each.
void split_row(const TensorCore& core, Element element, const unsigned char* codes, int depth,
               TensorTerm* out) {
  if (core.as_f16) {
    const Format format = element == Element::e4m3 ? Format::e4m3 : Format::e5m2;
    for (int k = 0; k < depth; ++k) out[tensor_place(core, k, depth)] = tensor_term(core, format, codes[k]);
    return;
  }
  switch (element) {
    case Element::tf32:
      return split_codes<detail::Tf32, 13>(codes, depth, out);
    case Element::bf16:
      return split_codes<Brain>(codes, depth, out);
    case Element::e4m3:
      return split_codes<E4m3>(codes, depth, out);
    case Element::e5m2:
      return split_codes<E5m2>(codes, depth, out);
    default:
      return split_codes<Half>(codes, depth, out);
  }
}

void split_columns(const TensorCore& core, const TensorForm& form, const unsigned char* codes, Columns& out) {
  TensorTerm row[kMostDepth];
  const int row_bytes = form.depth * bytes_of(form.b);
  out.numbers = true;
  for (int lane = 0; lane < kProductLanes; ++lane) {
    split_row(core, form.b, codes + lane * row_bytes, form.depth, row);
    for (int k = 0; k < form.depth; ++k) {
      std::memcpy(reinterpret_cast<char*>(&out.significand[k]) + 4 * lane, &row[k].significand, 4);
      std::memcpy(reinterpret_cast<char*>(&out.exponent[k]) + 4 * lane, &row[k].exponent, 4);
      out.numbers = out.numbers && row[k].exponent != kBeyond;
    }
  }
}

// Where a row of A is 0, as in a tile's padding, a sum of the full precision stays as it is.
bool stay(const TensorCore& core, const TensorForm& form, const TensorTerm* a, const Columns& b,
          float* sums) {
  if (core.result_bits != kSumFraction || !b.numbers) return false;
  for (int k = 0; k < form.depth; ++k) {
    if (a[k].exponent != kNothing) return false;
  }
  for (int lane = 0; lane < kProductLanes; ++lane)
    sums[lane] = sums[lane] != sums[lane] ? detail::float_of_bits(kTensorNan) : sums[lane] + 0.0f;
  return true;
}

[[gnu::always_inline]] inline void multiply_row(const TensorCore& core, const TensorForm& form,
                                                const TensorTerm* a, const Columns& b, float* sums) {
  if (stay(core, form, a, b, sums)) return;
  float before[kProductLanes];
  std::memcpy(before, sums, sizeof before);
  if (core.as_f16) std::memset(sums, 0, sizeof before);
  const int terms = tensor_step_terms(core, form.depth);
  const Format sums_of = format_of(form.total);
  for (int k = 0; k < form.depth; k += terms)
    step_eight({core, sums_of, std::min(terms, form.depth - k)}, a + k, b, k, sums);
  if (!core.as_f16) return;
  for (int lane = 0; lane < kProductLanes; ++lane)
    sums[lane] = tensor_total(core, sums_of, before[lane], sums[lane]);
}

[[gnu::always_inline]] inline void multiply_rows(const TensorCore& core, const TensorForm& form,
                                                 const TensorTerm* a, const Columns& b, float* sums) {
  for (int row = 0; row < form.rows; ++row)
    multiply_row(core, form, a + row * form.depth, b, sums + row * form.columns);
}
void multiply_steps_by_calls(const TensorCore& core, const TensorForm& form, const TensorTerm* a,
                             const Columns& b, float* sums) {
  multiply_rows(core, form, a, b, sums);
}
#if defined(__x86_64__)
// The same numbers by an instruction for eight of them.
[[gnu::target("avx2,fma")]] void multiply_steps_by_instructions(const TensorCore& core,
                                                                const TensorForm& form, const TensorTerm* a,
                                                                const Columns& b, float* sums) {
  multiply_rows(core, form, a, b, sums);
}
auto* chosen() {
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? &multiply_steps_by_instructions
                                                                         : &multiply_steps_by_calls;
}
#else
auto* chosen() { return &multiply_steps_by_calls; }
#endif

}  // namespace

void multiply(const TensorCore& core, const TensorForm& form, const unsigned char* a, const unsigned char* b,
              float* sums) {
  static auto* const multiply_eight = chosen();
  TensorTerm terms[kMostTerms];
  for (int row = 0; row < form.rows; ++row)
    split_row(core, form.a, a + row * form.depth * bytes_of(form.a), form.depth, terms + row * form.depth);
  for (int i = 0; form.negate && i < form.rows * form.depth; ++i)
    terms[i].significand = -terms[i].significand;
  Columns columns;
  for (int column = 0; column < form.columns; column += kProductLanes) {
    split_columns(core, form, b + column * form.depth * bytes_of(form.b), columns);
    multiply_eight(core, form, terms, columns, sums + column);
  }
}

void tensor_product(const TensorForm& form, const unsigned char* a, const unsigned char* b, float* sums) {
  const int chip = current().run.chip->chip;
  multiply(tensor_core(chip, form.instruction, bytes_of(form.a)), form, a, b, sums);
}

}  // namespace plumb::simt
