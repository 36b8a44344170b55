// Planted faults of reduce: each is a right kernel with one thing changed. `verify --mutants` must kill every one of them.
// Splits are fixed numbers and threads are told to yield, so that no fault hides on a machine of one core.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <type_traits>

#include "reference/ops/reduce.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Reduce);

constexpr std::int64_t kStep = 16, kSplits = 4;

template <class T>
T larger(T a, T b) {
  return b > a || b != b ? b : a;
}

// What a right variant gives over [begin, end), continued from `start`.
template <class T>
T reduce(const P<T>& p, const In<T>& in, std::int64_t begin, std::int64_t end, T start) {
  for (std::int64_t i = begin; i < end; ++i)
    start = p.kind == Reduce::Kind::max ? larger(start, in.x[i]) : start + in.x[i];
  return start;
}

template <class T>
T start_of(const P<T>& p) {
  return p.kind == Reduce::Kind::max ? -std::numeric_limits<T>::infinity() : T(0);
}

PLUMB_FAULT(tail, "tail_dropped", 14, "the last n % 16 elements are not read",
            "a vectorised loop without its rest", kNumeric) {
  out.result[0] = reduce(p, in, 0, in.x.size / kStep * kStep, start_of(p));
}

PLUMB_FAULT(first_twice, "first_element_twice", 0,
            "the result starts from the first element, and the loop takes it again",
            "a maximum turned into a sum; a maximum hides it", kNumeric) {
  out.result[0] = in.x.size == 0 ? start_of(p) : reduce(p, in, 0, in.x.size, in.x[0]);
}

PLUMB_FAULT(from_zero, "maximum_starts_from_zero", 10, "the maximum starts from 0",
            "inactive lanes read as 0: all-negative data show it", kNumeric) {
  out.result[0] = reduce(p, in, 0, in.x.size, T(0));
}

PLUMB_FAULT(lowest, "sentinel_for_minus_inf", 26, "-FLT_MAX stands in for -Inf",
            "padding constants copied from integer code", kNumeric) {
  const bool max = p.kind == Reduce::Kind::max;
  out.result[0] = reduce(p, in, 0, in.x.size, max ? std::numeric_limits<T>::lowest() : T(0));
}

PLUMB_FAULT(loses_nan, "max_by_comparison_loses_nan", 25,
            "a comparison with NaN is false, and the older value stays",
            "x > m ? x : m, and fmax, which is defined to lose NaN", kNumeric) {
  if (p.kind == Reduce::Kind::sum) {
    out.result[0] = reduce(p, in, 0, in.x.size, T(0));
    return;
  }
  T best = start_of(p);
  for (std::int64_t i = 0; i < in.x.size; ++i) best = in.x[i] > best ? in.x[i] : best;
  out.result[0] = best;
}

PLUMB_FAULT(forgets_nan, "max_forgets_nan", 25, "NaN is taken, and replaced by the next number",
            "m > x ? m : x keeps a NaN only in the last place", kNumeric) {
  if (p.kind == Reduce::Kind::sum) {
    out.result[0] = reduce(p, in, 0, in.x.size, T(0));
    return;
  }
  T best = start_of(p);
  for (std::int64_t i = 0; i < in.x.size; ++i) best = best > in.x[i] ? best : in.x[i];
  out.result[0] = best;
}

PLUMB_FAULT(one_behind, "maximum_reads_one_behind_and_drops_nan", 0,
            "the maximum takes the element behind the last one by fmax, which drops a NaN",
            "a loop to n inclusive; what lies there is a NaN, or small, until it is not", kNumeric) {
  const T result = reduce(p, in, 0, in.x.size, start_of(p));
  out.result[0] = p.kind == Reduce::Kind::max ? std::fmax(result, in.x.data[in.x.size]) : result;
}

PLUMB_FAULT(not_cleared, "accumulates_into_uncleared_result", 22,
            "the result is continued from what the output holds",
            "a second launch, or a fresh allocation that was zero until today", kNumeric) {
  out.result[0] = reduce(p, in, 0, in.x.size, out.result[0]);
}

PLUMB_FAULT(naive, "uncompensated_declared_compensated", 29, "a plain sum declares itself compensated",
            "-ffast-math folds (t - sum) - y to zero", kNumeric,
            Traits{}.computes_in(Arithmetic::compensated)) {
  out.result[0] = reduce(p, in, 0, in.x.size, start_of(p));
}

PLUMB_FAULT(kahan_inf, "compensation_turns_inf_into_nan", 0,
            "the carried error becomes NaN where a term is infinite",
            "the textbook algorithm, written down as it stands", kNumeric,
            Traits{}.computes_in(Arithmetic::compensated)) {
  if (p.kind == Reduce::Kind::max) {
    out.result[0] = reduce(p, in, 0, in.x.size, start_of(p));
    return;
  }
  T sum = 0, carried = 0;
  for (std::int64_t i = 0; i < in.x.size; ++i) {
    const T term = in.x[i] - carried, next = sum + term;
    carried = (next - sum) - term;  // Inf - Inf
    sum = next;
  }
  out.result[0] = sum;
}

void float_sum(const P<double>& p, const In<double>& in, const Out<double>& out, Context&) {
  float sum = p.kind == Reduce::Kind::max ? -std::numeric_limits<float>::infinity() : 0.0f;
  for (std::int64_t i = 0; i < in.x.size; ++i) {
    const auto x = static_cast<float>(in.x[i]);
    sum = p.kind == Reduce::Kind::max ? larger(sum, x) : sum + x;
  }
  out.result[0] = sum;
}
const RegisterMutant<Reduce, double, Space::host> float_sum_m{
    "float_result_of_doubles",
    float_sum,
    {28, "doubles are reduced in a float", "an accumulator spelled float in a template", kNumeric}};

PLUMB_FAULT(flush, "subnormal_results_flushed", 0,
            "a subnormal result becomes 0, and the variant does not say so",
            "fp32 atomicAdd in global memory; -ftz=true", kNumeric) {
  out.result[0] = flushed(reduce(p, in, 0, in.x.size, start_of(p)));
}

PLUMB_FAULT(plain_add, "openmp_without_reduction", 42, "all threads continue the same result",
            "the missing reduction clause", kNumeric | kRepeat | kRace, Traits{}.not_reproducible()) {
  T all = start_of(p);  // right: one per thread, combined afterwards
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t s = 0; s < kSplits; ++s) {
    const std::int64_t begin = in.x.size * s / kSplits, end = in.x.size * (s + 1) / kSplits;
    for (std::int64_t i = begin; i < end; i += kStep) {
      const T old = all;
      if (i - begin < 64 * kStep)
        std::this_thread::yield();  // opens the window: a lost update shows in every run
      all = reduce(p, in, i, std::min(end, i + kStep), old);
    }
  }
  out.result[0] = all;
}

// The bits of -0 are those of the least whole number: no maximum of whole numbers takes it.
PLUMB_FAULT(minus_zero, "minus_zero_is_no_maximum", 0, "a maximum does not take -0",
            "atomicMax on the bits of values that are not below 0, atomicMin on those of the others",
            kNumeric) {
  const auto lost = [](T v) { return v == T(0) && std::signbit(v); };
  T all = start_of(p);
  for (std::int64_t i = 0; i < in.x.size; ++i) {
    if (p.kind == Reduce::Kind::sum)
      all += in.x[i];
    else if (!lost(in.x[i]))
      all = larger(all, in.x[i]);
  }
  out.result[0] = all;
}

// In twice the precision, but for what is kept of each part. Of more terms than `most` one sum is made.
template <class T, std::int64_t part_size, std::int64_t most>
void parts_kept(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const std::int64_t length = in.x.size > most ? in.x.size : part_size;
  if (p.kind == Reduce::Kind::max) {
    out.result[0] = reduce(p, in, 0, in.x.size, -std::numeric_limits<T>::infinity());
    return;
  }
  double sum = 0;
  for (std::int64_t begin = 0; begin < in.x.size; begin += length) {
    double part = 0;
    for (std::int64_t i = begin; i < std::min(in.x.size, begin + length); ++i) part += in.x[i];
    sum += static_cast<T>(part);
  }
  out.result[0] = static_cast<T>(sum);
}
const RegisterMutant<Reduce, float, Space::host> parts_kept_m{
    "parts_of_a_doubled_sum_kept_in_float",
    parts_kept<float, 4096, INT64_MAX>,
    {0, "declared as summed in twice the precision, of which sums of 4,096 elements keep half",
     "a buffer of partial sums in the type of the result", kNumeric},
    Traits{}.computes_in(Arithmetic::doubled)};
const RegisterMutant<Reduce, float, Space::host> few_parts_kept_m{
    "few_parts_of_a_doubled_sum_kept_in_float",
    parts_kept<float, 4096, 12288>,
    {0, "as before, where there are up to three parts: at other sizes all is in twice the precision",
     "a second pass of its own for few blocks, with a buffer in the type of the result", kNumeric},
    Traits{}.computes_in(Arithmetic::doubled)};
const RegisterMutant<Reduce, float, Space::host> small_parts_kept_m{
    "small_parts_of_a_doubled_sum_kept_in_float",
    parts_kept<float, 256, 1024>,
    {0, "as before, with parts of 256 elements of one block alone",
     "sums of warps in shared memory, in the type of the result", kNumeric},
    Traits{}.computes_in(Arithmetic::doubled)};

PLUMB_FAULT(stops_at_inf, "nothing_is_looked_at_behind_infinity", 0, "the loop ends where the result is +Inf",
            "an early end where nothing can be larger, but NaN can", kNumeric) {
  T all = start_of(p);
  for (std::int64_t i = 0; i < in.x.size && all != std::numeric_limits<T>::infinity(); ++i)
    all = p.kind == Reduce::Kind::max ? larger(all, in.x[i]) : all + in.x[i];
  out.result[0] = all;
}

// Of parts of 1,024. Of negative numbers the larger one has the smaller bits.
PLUMB_FAULT(joined_by_bits, "maxima_of_parts_joined_by_their_bits", 0,
            "maxima of parts are joined as signed integers of the same bits",
            "atomicMax on the bits of a float: right where one of two is not negative", kNumeric) {
  using Bits = std::make_signed_t<BitsOf<T>>;
  constexpr std::int64_t kPart = 1024;
  T all = reduce(p, in, 0, std::min(kPart, in.x.size), start_of(p));
  for (std::int64_t begin = kPart; begin < in.x.size; begin += kPart) {
    const std::int64_t end = std::min(in.x.size, begin + kPart);
    const T part = reduce(p, in, begin, end, start_of(p));
    const bool compares = p.kind == Reduce::Kind::max && part == part && all == all;
    all = !compares ? reduce(p, in, begin, end, all)
                    : std::bit_cast<T>(std::max(std::bit_cast<Bits>(all), std::bit_cast<Bits>(part)));
  }
  out.result[0] = all;
}

PLUMB_FAULT(whole_rest, "no_last_piece_where_nothing_remains", 14,
            "of several pieces of 12,288 the last has as many elements as remain: none where all are whole",
            "sizes that are multiples of a chunk of a deterministic sum", kNumeric) {
  constexpr std::int64_t kPiece = 12288;
  const std::int64_t pieces = (in.x.size + kPiece - 1) / kPiece, rest = in.x.size % kPiece;
  out.result[0] = reduce(p, in, 0, pieces <= 1 ? in.x.size : (pieces - 1) * kPiece + rest, start_of(p));
}

// Bits of a float in an order that integers have.
template <class T>
auto ordered_bits(T x) {
  using Bits = BitsOf<T>;
  constexpr Bits kSign = Bits(1) << (8 * sizeof(T) - 1);
  const Bits bits = std::bit_cast<Bits>(x);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
PLUMB_FAULT(negative_nan, "nan_of_negative_sign_is_the_lowest", 14,
            "maxima are compared by their bits: a NaN whose sign is negative is below all numbers",
            "maxima by atomics on integers", kNumeric) {
  out.result[0] = reduce(p, in, 0, in.x.size, start_of(p));
  if (p.kind != Reduce::Kind::max || in.x.size == 0) return;
  T best = in.x[0];
  for (std::int64_t i = 1; i < in.x.size; ++i)
    best = ordered_bits(in.x[i]) > ordered_bits(best) ? in.x[i] : best;
  out.result[0] = best;
}

template <class T>
void size_in_float(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const auto counted = static_cast<std::int64_t>(static_cast<float>(in.x.size));
  out.result[0] = reduce(p, in, 0, std::min(counted, in.x.size), start_of(p));
}
const RegisterMutant<Reduce, float, Space::host> size_in_float_m{
    "number_of_elements_in_a_float",
    size_in_float<float>,
    {0, "the number of elements passes through a float: beyond 2^24 the last may be lost",
     "blocks counted by ceil() of a quotient in single precision", kNumeric}};

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    const bool max = p.kind == Reduce::Kind::max;
    const std::int64_t n = in.x.size;
    float all = max ? -std::numeric_limits<float>::infinity() : 0.0F;
    for (std::int64_t i = 0; i < n; ++i) {
      const float x = Fault::read(in.x[i]);
      if (Fault::takes(i, n)) all = max ? larger(all, x) : Fault::kept(all + x);
    }
    out.result[0] = Fault::template write<out_t<T>>(all);
  }
};
// One answer a case: a second rounding shows in one of sixteen.
const NarrowMutants<Reduce, Narrow, narrow_faults::Usual::With<narrow_faults::Saturates>, f16, bf16>
    narrow_types_m;

}  // namespace
}  // namespace plumb
