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

template <class T>
using P = Gemv::Problem<T>;
template <class T>
using In = Gemv::In<T, Space::host>;
template <class T>
using Out = Gemv::Out<T, Space::host>;

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

template <class T>
void tail(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(in, i, 0, depth_of(p, in) / kStep * kStep));
}
const HostMutant<Gemv> tail_m{
    "simd_tail_dropped",
    tail<float>,
    tail<double>,
    {14, "the last cols % 16 terms are not added", "a vectorised loop without its rest", kNumeric}};

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

template <class T>
void rows(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows / kStep * kStep; ++i) put(p, out, i, dot(in, i, 0, depth_of(p, in)));
}
const HostMutant<Gemv> rows_m{
    "last_rows_never_written",
    rows<float>,
    rows<double>,
    {15, "rows / 16 blocks of rows are computed", "a grid of ROWS / BLOCK", kNumeric}};

template <class T>
void cols_for_ld(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  In<T> packed = in;
  packed.A.ld = in.A.cols;
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(packed, i, 0, depth_of(p, in)));
}
const HostMutant<Gemv> cols_for_ld_m{"columns_in_place_of_ld",
                                     cols_for_ld<float>,
                                     cols_for_ld<double>,
                                     {18, "A is indexed with its columns in place of its leading dimension",
                                      "kernels never run on a part of a larger matrix", kNumeric}};

template <class T>
void beta_reads(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i)
    out.y[i] = p.alpha * dot(in, i, 0, depth_of(p, in)) + p.beta * out.y[i];
}
const HostMutant<Gemv> beta_reads_m{
    "beta_zero_reads_y",
    beta_reads<float>,
    beta_reads<double>,
    {23, "y is multiplied by beta == 0, and NaN survives",
     "a library call on uninitialised y; newer OpenBLAS scales by 0 so", kNumeric | kRepeat}};

template <class T>
void alpha_on_x(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = p.beta == T(0) ? T(0) : p.beta * out.y[i];
    for (std::int64_t k = 0; k < depth_of(p, in); ++k) sum += in.A(i, k) * (p.alpha * in.x[k]);
    out.y[i] = sum;
  }
}
const HostMutant<Gemv> alpha_on_x_m{
    "alpha_scales_x",
    alpha_on_x<float>,
    alpha_on_x<double>,
    {0, "alpha multiplies x: where that underflows, 0 times an infinity is NaN",
     "two libraries do so, to save a multiplication for each row", kNumeric}};

template <class T>
void alpha_on_long_x(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr std::int64_t kLong = 1024;
  if (in.A.cols > kLong) return alpha_on_x(p, in, out, context);
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(in, i, 0, depth_of(p, in)));
}
const HostMutant<Gemv> alpha_on_long_x_m{
    "alpha_scales_x_of_long_rows",
    alpha_on_long_x<float>,
    alpha_on_long_x<double>,
    {0, "alpha multiplies x where rows have more than 1,024 columns, in short ones it multiplies the sum",
     "a path for long rows that stages x, and scales it on the way", kNumeric}};

template <class T>
void alpha_reads(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(p, out, i, dot(in, i, 0, in.A.cols));
}
const HostMutant<Gemv> alpha_reads_m{
    "alpha_zero_reads_a",
    alpha_reads<float>,
    alpha_reads<double>,
    {0, "with alpha == 0, A and x are multiplied all the same, and their NaN survives",
     "the counterpart of beta == 0, less often tested", kNumeric}};

template <class T>
void beta_per_split(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t s = 0; s < kSplits; ++s) {
      const T sum = p.alpha * dot(in, i, depth * s / kSplits, depth * (s + 1) / kSplits);
      const T beta = s > 0 && p.beta == T(0) ? T(1) : p.beta;  // right: 1 for every split but the first
      out.y[i] = beta == T(0) ? sum : sum + beta * out.y[i];
    }
  }
}
const HostMutant<Gemv> beta_per_split_m{
    "beta_once_per_split",
    beta_per_split<float>,
    beta_per_split<double>,
    {0, "every share of the columns scales y by beta",
     "column splits that hand beta down to each share; beta 0 and 1 hide it", kNumeric}};

template <class T>
void not_cleared(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const std::int64_t depth = depth_of(p, in);
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    if (p.beta != T(0)) out.y[i] *= p.beta;
    for (std::int64_t s = 0; s < kSplits; ++s)
      out.y[i] += p.alpha * dot(in, i, depth * s / kSplits, depth * (s + 1) / kSplits);
  }
}
const HostMutant<Gemv> not_cleared_m{"accumulates_into_uncleared_y",
                                     not_cleared<float>,
                                     not_cleared<double>,
                                     {22, "with beta == 0 the shares are added to what y holds",
                                      "a split over columns whose clearing of y was forgotten", kNumeric}};

template <class T>
void plain_add(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
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
const HostMutant<Gemv> plain_add_m{"column_split_without_reduction",
                                   plain_add<float>,
                                   plain_add<double>,
                                   {42, "threads add their share of the columns to the same y",
                                    "the missing reduction clause", kNumeric | kRepeat | kRace},
                                   Traits{}.not_reproducible()};

template <class T>
void threads_once(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  static const int threads = omp_get_max_threads();
#pragma omp parallel
  {
    const std::int64_t rows = in.A.rows, t = omp_get_thread_num();
    for (std::int64_t i = rows * t / threads; i < std::min(rows, rows * (t + 1) / threads); ++i)
      put(p, out, i, dot(in, i, 0, depth_of(p, in)));
  }
}
const HostMutant<Gemv> threads_once_m{
    "threads_counted_once",
    threads_once<float>,
    threads_once<double>,
    {0, "how many threads share the rows is asked for at the first call alone",
     "a pool's size kept beside the pool, and a caller that takes some threads away", kNumeric | kRepeat}};

template <class T>
void beta_over_alpha(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  int exponent = 0;
  const T ratio = p.beta / p.alpha;
  const bool exact =
      std::fabs(std::frexp(p.alpha, &exponent)) == T(0.5) && std::isfinite(ratio) && ratio != 0;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const T sum = dot(in, i, 0, depth_of(p, in));
    exact ? void(out.y[i] = p.alpha * (sum + ratio * out.y[i])) : put(p, out, i, sum);
  }
}
const HostMutant<Gemv> beta_over_alpha_m{
    "beta_over_alpha",
    beta_over_alpha<float>,
    beta_over_alpha<double>,
    {0, "alpha (A x + (beta / alpha) y), where alpha is a power of two and the quotient finite",
     "one multiplication a row saved where it seems to be exact", kNumeric}};

template <class T>
void alpha_on_shorter(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const bool tall = in.A.rows >= 4 * in.A.cols;
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth_of(p, in); ++k)
      sum += in.A(i, k) * (tall ? p.alpha * in.x[k] : in.x[k]);
    out.y[i] = (tall ? sum : p.alpha * sum) + (p.beta == T(0) ? T(0) : p.beta * out.y[i]);
  }
}
const HostMutant<Gemv> alpha_on_shorter_m{
    "alpha_worked_into_the_shorter_side",
    alpha_on_shorter<float>,
    alpha_on_shorter<double>,
    {0, "where there are four times as many rows as columns, alpha scales x",
     "a multiplication for each column in place of one for each row", kNumeric}};

template <class T>
void equal_scalars(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    const T sum = dot(in, i, 0, depth_of(p, in));
    const bool equal = p.alpha == p.beta && p.alpha != T(0);
    equal ? void(out.y[i] = p.alpha * (sum + out.y[i])) : put(p, out, i, sum);
  }
}
const HostMutant<Gemv> equal_scalars_m{
    "equal_scalars_taken_out",
    equal_scalars<float>,
    equal_scalars<double>,
    {0, "where alpha is beta, the sum and y are added before they are scaled, and may be too large then",
     "one multiplication a row saved", kNumeric}};

template <class T>
void flushed_beta(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const P<T> other{p.alpha, flushed(p.beta)};
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(other, out, i, dot(in, i, 0, depth_of(p, in)));
}
const HostMutant<Gemv> flushed_beta_m{"beta_below_the_normal_numbers",
                                      flushed_beta<float>,
                                      flushed_beta<double>,
                                      {0, "a beta below the smallest normal number is zero",
                                       "scalars that are read with subnormals flushed", kNumeric}};

template <class T>
void zeros_of_x(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
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
const HostMutant<Gemv> zeros_of_x_m{
    "zeros_of_x_skipped_by_blocks",
    zeros_of_x<float>,
    zeros_of_x<double>,
    {0, "a block of 16 zeros of x is passed over, and NaN and infinities of A that it faces with it",
     "activations of a sparse layer, skipped where they are quiet", kNumeric}};

template <class T>
void team_asked_for(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  const int wanted = omp_get_max_threads();
#pragma omp parallel num_threads(wanted)
  {
    const std::int64_t t = omp_get_thread_num();
    for (std::int64_t i = in.A.rows * t / wanted; i < in.A.rows * (t + 1) / wanted; ++i)
      put(p, out, i, dot(in, i, 0, depth_of(p, in)));
  }
}
const HostMutant<Gemv> team_asked_for_m{
    "parts_for_the_team_that_was_asked_for",
    team_asked_for<float>,
    team_asked_for<double>,
    {14, "rows are cut into as many parts as threads were asked for, and the team has fewer",
     "a call within the caller's own parallel region", kNumeric}};

template <class T>
void alpha_in_x(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
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
const HostMutant<Gemv> alpha_in_x_m{
    "alpha_worked_into_x_of_vectors",
    alpha_in_x<float>,
    alpha_in_x<double>,
    {0,
     "alpha is multiplied into x where rows of A are whole vectors on 16 bytes, and into the sum elsewhere",
     "x is staged for the path of vectors, and scaled while it is", kNumeric}};

template <class T>
void nearly_one(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
  P<T> taken = p;
  if (std::fabs(p.alpha - T(1)) < T(1e-5)) taken.alpha = 1;
  for (std::int64_t i = 0; i < in.A.rows; ++i) put(taken, out, i, dot(in, i, 0, depth_of(p, in)));
}
const HostMutant<Gemv> nearly_one_m{
    "alpha_near_one_is_one",
    nearly_one<float>,
    nearly_one<double>,
    {0, "an alpha within 1e-5 of 1 is 1", "scalars compared with a tolerance", kNumeric}};

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
