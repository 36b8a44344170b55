// Planted faults of gemv: each is a right kernel with one thing changed. `verify --mutants` must kill every one of them.
// Splits are fixed numbers and threads are told to yield, so that no fault hides on a machine of one core.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>

#include <omp.h>

#include "reference/ops/gemv.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Gemv);

constexpr std::int64_t kStep = 16, kSplits = 4;

template <class T>
T dot(const In<T>& in, std::int64_t i, std::int64_t begin, std::int64_t end) {
  T sum = 0;
  for (std::int64_t k = begin; k < end; ++k) sum += in.A(i, k) * in.x[k];
  return sum;
}

template <class T>
std::int64_t depth_of(const P<T>& p, const In<T>& in) {
  return p.alpha == T(0) ? 0 : in.A.cols;
}

template <class T>
void put(const P<T>& p, const Out<T>& out, std::int64_t i, T sum) {
  out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
}

PLUMB_FAULT(tail, "simd_tail_dropped", 14, "the last cols % 16 terms are not added",
            "a vectorised loop without its rest", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(in, i, 0, depth_of(p, in) / kStep * kStep));
}

// Products and parts of 2,048 terms in twice the precision; up to 12,288 terms the parts are kept in T.
template <class T>
void few_parts_kept(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  constexpr std::int64_t kPart = 2048, kMost = 12288;
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    double sum = 0;
    for (std::int64_t begin = 0; begin < depth; begin += kPart) {
      double part = 0;
      for (std::int64_t k = begin; k < std::min(depth, begin + kPart); ++k)
        part += static_cast<double>(in.A(i, k)) * static_cast<double>(in.x[k]);
      sum += depth <= kMost ? static_cast<double>(static_cast<T>(part)) : part;
    }
    const double addend = p.beta == T(0) ? 0 : static_cast<double>(p.beta) * static_cast<double>(out.y[i]);
    out.y[i] = static_cast<T>(static_cast<double>(p.alpha) * sum + addend);
  }
}
const RegisterMutant<Gemv, float, Space::host> few_parts_kept_m{
    "few_parts_of_a_doubled_sum_kept_in_float",
    few_parts_kept<float>,
    {0, "declared as summed in twice the precision, of which sums of 2,048 products keep half",
     "a second pass of its own for few blocks, with a buffer in the type of the result", kNumeric},
    Traits{}.computes_in(Arithmetic::doubled)};

PLUMB_FAULT(rows, "last_rows_never_written", 15, "rows / 16 blocks of rows are computed",
            "a grid of ROWS / BLOCK", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows / kStep * kStep; ++i) put(p, out, i, dot(in, i, 0, depth_of(p, in)));
}

PLUMB_FAULT(cols_for_ld, "columns_in_place_of_ld", 18,
            "A is indexed with its columns in place of its leading dimension",
            "kernels never run on a part of a larger matrix", kNumeric) {
  In<T> packed = in;
  packed.A.ld = in.A.cols;
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(packed, i, 0, depth_of(p, in)));
}

PLUMB_FAULT(beta_reads, "beta_zero_reads_y", 23, "y is multiplied by beta == 0, and NaN survives",
            "a library call on uninitialised y; newer OpenBLAS scales by 0 so", kNumeric | kRepeat) {
  for (std::int64_t i = 0; i < in.A.rows; ++i)
    out.y[i] = p.alpha * dot(in, i, 0, depth_of(p, in)) + p.beta * out.y[i];
}

PLUMB_FAULT(alpha_on_x, "alpha_scales_x", 0,
            "alpha multiplies x: where that underflows, 0 times an infinity is NaN",
            "two libraries do so, to save a multiplication for each row", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = p.beta == T(0) ? T(0) : p.beta * out.y[i];
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * (p.alpha * in.x[k]);
    out.y[i] = sum;
  }
}

PLUMB_FAULT(alpha_on_long_x, "alpha_scales_x_of_long_rows", 0,
            "alpha multiplies x where rows have more than 1,024 columns, in short ones it multiplies the sum",
            "a path for long rows that stages x, and scales it on the way", kNumeric) {
  constexpr std::int64_t kLong = 1024;
  if (in.A.cols > kLong) return alpha_on_x(p, in, out, context);
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(in, i, 0, depth_of(p, in)));
}

PLUMB_FAULT(alpha_reads, "alpha_zero_reads_a", 0,
            "with alpha == 0, A and x are multiplied all the same, and their NaN survives",
            "the counterpart of beta == 0, less often tested", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(in, i, 0, in.A.cols));
}

PLUMB_FAULT(beta_per_split, "beta_once_per_split", 0, "every share of the columns scales y by beta",
            "column splits that hand beta down to each share; beta 0 and 1 hide it", kNumeric) {
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t s = 0; s < kSplits; ++s) {
      const T sum = p.alpha * dot(in, i, depth * s / kSplits, depth * (s + 1) / kSplits);
      const T beta = s > 0 && p.beta == T(0) ? T(1) : p.beta;  // right: 1 for every split but the first
      out.y[i] = beta == T(0) ? sum : sum + beta * out.y[i];
    }
  }
}

PLUMB_FAULT(not_cleared, "accumulates_into_uncleared_y", 22,
            "with beta == 0 the shares are added to what y holds",
            "a split over columns whose clearing of y was forgotten", kNumeric) {
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    if (p.beta != T(0)) out.y[i] *= p.beta;
    for (std::int64_t s = 0; s < kSplits; ++s)
      out.y[i] += p.alpha * dot(in, i, depth * s / kSplits, depth * (s + 1) / kSplits);
  }
}

PLUMB_FAULT(plain_add, "column_split_without_reduction", 42,
            "threads add their share of the columns to the same y", "the missing reduction clause",
            kNumeric | kRepeat | kRace, Traits{}.not_reproducible()) {
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, T(0));
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t s = 0; s < kSplits; ++s) {
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      const T part = p.alpha * dot(in, i, depth * s / kSplits, depth * (s + 1) / kSplits);
      const T old = out.y[i];
      std::this_thread::yield();  // opens the window: a lost update shows in every run, not in one of twenty
      out.y[i] = old + part;
    }
  }
}

PLUMB_FAULT(threads_once, "threads_counted_once", 0,
            "how many threads share the rows is asked for at the first call alone",
            "a pool's size kept beside the pool, and a caller that takes some threads away",
            kNumeric | kRepeat) {
  static const int threads = omp_get_max_threads();
#pragma omp parallel
  {
    const std::int64_t rows = in.A.rows, t = omp_get_thread_num();
    for (std::int64_t i = rows * t / threads; i < std::min(rows, rows * (t + 1) / threads); ++i)
      put(p, out, i, dot(in, i, 0, depth_of(p, in)));
  }
}

PLUMB_FAULT(beta_over_alpha, "beta_over_alpha", 0,
            "alpha (A x + (beta / alpha) y), where alpha is a power of two and the quotient finite",
            "one multiplication a row saved where it seems to be exact", kNumeric) {
  int exponent = 0;
  const T ratio = p.beta / p.alpha;
  const bool exact =
      std::fabs(std::frexp(p.alpha, &exponent)) == T(0.5) && std::isfinite(ratio) && ratio != 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const T sum = dot(in, i, 0, depth_of(p, in));
    exact ? void(out.y[i] = p.alpha * (sum + ratio * out.y[i])) : put(p, out, i, sum);
  }
}

PLUMB_FAULT(alpha_on_shorter, "alpha_worked_into_the_shorter_side", 0,
            "where there are four times as many rows as columns, alpha scales x",
            "a multiplication for each column in place of one for each row", kNumeric) {
  const bool tall = in.A.rows >= 4 * in.A.cols;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k)
      sum += in.A(i, k) * (tall ? p.alpha * in.x[k] : in.x[k]);
    out.y[i] = (tall ? sum : p.alpha * sum) + (p.beta == T(0) ? T(0) : p.beta * out.y[i]);
  }
}

PLUMB_FAULT(equal_scalars, "equal_scalars_taken_out", 0,
            "where alpha is beta, the sum and y are added before they are scaled, and may be too large then",
            "one multiplication a row saved", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const T sum = dot(in, i, 0, depth_of(p, in));
    const bool equal = p.alpha == p.beta && p.alpha != T(0);
    equal ? void(out.y[i] = p.alpha * (sum + out.y[i])) : put(p, out, i, sum);
  }
}

PLUMB_FAULT(flushed_beta, "beta_below_the_normal_numbers", 0,
            "a beta below the smallest normal number is zero",
            "scalars that are read with subnormals flushed", kNumeric) {
  const P<T> other{p.alpha, flushed(p.beta)};
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(other, out, i, dot(in, i, 0, depth_of(p, in)));
}

PLUMB_FAULT(zeros_of_x, "zeros_of_x_skipped_by_blocks", 0,
            "a block of 16 zeros of x is passed over, and NaN and infinities of A that it faces with it",
            "activations of a sparse layer, skipped where they are quiet", kNumeric) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const std::int64_t depth = depth_of(p, in);
    T sum = 0;
    for (std::int64_t begin = 0; begin < depth; begin += kStep) {
      const std::int64_t end = std::min(begin + kStep, depth);
      const bool nothing = end - begin == kStep && std::all_of(in.x.data + begin, in.x.data + end,
                                                               [](T value) { return value == T(0); });
      if (!nothing) sum += dot(in, i, begin, end);
    }
    put(p, out, i, sum);
  }
}

PLUMB_FAULT(team_asked_for, "parts_for_the_team_that_was_asked_for", 14,
            "rows are cut into as many parts as threads were asked for, and the team has fewer",
            "a call within the caller's own parallel region", kNumeric) {
  const int wanted = omp_get_max_threads();
#pragma omp parallel num_threads(wanted)
  {
    const std::int64_t t = omp_get_thread_num();
    for (std::int64_t i = in.A.rows * t / wanted; i < in.A.rows * (t + 1) / wanted; ++i)
      put(p, out, i, dot(in, i, 0, depth_of(p, in)));
  }
}

PLUMB_FAULT(
    alpha_in_x, "alpha_worked_into_x_of_vectors", 0,
    "alpha is multiplied into x where rows of A are whole vectors on 16 bytes, and into the sum elsewhere",
    "x is staged for the path of vectors, and scaled while it is", kNumeric) {
  constexpr std::int64_t kBytes = 16, kSize = sizeof(T);
  const bool vectors = reinterpret_cast<std::uintptr_t>(in.A.data) % kBytes == 0 &&
                       in.A.ld * kSize % kBytes == 0 && in.A.cols * kSize % kBytes == 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; vectors && k < depth_of(p, in); ++k) sum += in.A(i, k) * (p.alpha * in.x[k]);
    if (!vectors) sum = p.alpha * dot(in, i, 0, depth_of(p, in));
    out.y[i] = p.beta == T(0) ? sum : sum + p.beta * out.y[i];
  }
}

PLUMB_FAULT(nearly_one, "alpha_near_one_is_one", 0, "an alpha within 1e-5 of 1 is 1",
            "scalars compared with a tolerance", kNumeric) {
  P<T> taken = p;
  if (std::fabs(p.alpha - T(1)) < T(1e-5)) taken.alpha = 1;
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(taken, out, i, dot(in, i, 0, depth_of(p, in)));
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t depth = p.alpha == 0 ? 0 : in.A.cols;
    for (std::int64_t i = 0; i < in.A.rows; ++i) {
      float sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        if (Fault::takes(k, depth)) sum = Fault::kept(sum + Fault::read(in.A(i, k)) * Fault::read(in.x[k]));
      }
      const float before = p.beta == 0 ? 0 : p.beta * value(out.y[i]);
      out.y[i] = Fault::template write<out_t<T>>(p.alpha * sum + before);
    }
  }
};
const NarrowMutants<Gemv, Narrow, narrow_faults::All, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
