// Planted faults of log_softmax: each is a right kernel with one thing changed. `verify --mutants` must kill
// every one of them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <type_traits>

#include "reference/ops/log_softmax.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(LogSoftmax);

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();

// f(x, y, cols) for every row
template <class T, class F>
void each_row(const In<T>& in, const Out<T>& out, F&& f) {
  for (std::int64_t i = 0; i < in.x.rows; ++i)
    f(in.x.data + i * in.x.ld, out.y.data + i * out.y.ld, in.x.cols);
}

template <class T>
T maximum(const T* x, std::int64_t cols, T start = -kInf<T>) {
  for (std::int64_t j = 0; j < cols; ++j) start = x[j] > start ? x[j] : start;
  return start;
}

template <class T, class Exp>
T sum_of(const T* x, std::int64_t cols, T max, Exp&& exponential) {
  T sum = 0;
  for (std::int64_t j = 0; j < cols; ++j) sum += exponential(x[j] - max);
  return sum;
}

template <class T>
T library_exp(T d) {
  return std::exp(d);
}

template <class T>
void write(const T* x, T* y, std::int64_t cols, T max, T log_sum) {
  for (std::int64_t j = 0; j < cols; ++j) y[j] = x[j] - max - log_sum;
}

PLUMB_FAULT(max_from_zero, "maximum_starts_at_zero", 10,
            "the maximum of all-negative rows is 0: every exponential of a row far below underflows",
            "a shuffle from an inactive lane, which reads 0; an accumulator left at its default", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols, T(0));
    write(x, y, cols, max, std::log(sum_of(x, cols, max, library_exp<T>)));
  });
}

PLUMB_FAULT(sentinel, "sentinel_is_a_number", 26,
            "padding and start are -FLT_MAX: in a row of -Inf the padding is the maximum and sums up",
            "masked attention rows", kNumeric) {
  constexpr T kLowest = std::numeric_limits<T>::lowest();
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols, kLowest);
    T sum = 0;
    for (std::int64_t j = 0; j < (cols + 7) / 8 * 8; ++j) sum += std::exp((j < cols ? x[j] : kLowest) - max);
    write(x, y, cols, max, std::log(sum));
  });
}

PLUMB_FAULT(online_minus_inf, "online_minus_inf_minus_inf", 26,
            "before the first finite entry -Inf - -Inf makes the running sum NaN for good",
            "online softmax over masked rows", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    T max = -kInf<T>, sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) {
      const T next = x[j] > max ? x[j] : max;
      sum = sum * std::exp(max - next) + std::exp(x[j] - next);
      max = next;
    }
    if (max == kInf<T>) max = std::numeric_limits<T>::quiet_NaN();
    write(x, y, cols, max, std::log(sum));
  });
}

PLUMB_FAULT(online_plus_inf, "online_plus_inf", 0,
            "a new maximum counts as exp(0) = 1 even when it is +Inf: the other entries become -Inf, not NaN",
            "met while writing cpu/03_online", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    T max = -kInf<T>, sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) {
      if (x[j] == -kInf<T>) continue;
      if (x[j] > max) {
        sum = sum * std::exp(max - x[j]) + T(1);
        max = x[j];
      } else {
        sum += std::exp(x[j] - max);
      }
    }
    if (max == -kInf<T>) max = std::numeric_limits<T>::quiet_NaN();
    write(x, y, cols, max, std::log(sum));
  });
}

PLUMB_FAULT(log_of_softmax, "log_of_softmax", 27,
            "log(softmax(x)): -Inf where the exponential underflows, and small answers lose their bits",
            "two layers of a framework, one after the other", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols), sum = sum_of(x, cols, max, library_exp<T>);
    for (std::int64_t j = 0; j < cols; ++j) y[j] = std::log(std::exp(x[j] - max) / sum);
  });
}

PLUMB_FAULT(no_maximum, "no_maximum_subtracted", 27, "exp(x) itself is summed: overflow from 89 on in fp32",
            "networks whose logits stay small", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    write(x, y, cols, T(0), std::log(sum_of(x, cols, T(0), library_exp<T>)));
  });
}

PLUMB_FAULT(max_plus_log, "maximum_plus_log_first", 0,
            "x - (max + log sum): far from zero the logarithm drowns in the maximum", "PyTorch issue 11752",
            kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols), total = max + std::log(sum_of(x, cols, max, library_exp<T>));
    for (std::int64_t j = 0; j < cols; ++j) y[j] = x[j] - total;
  });
}

PLUMB_FAULT(nan_skipped, "nan_left_out_of_the_sum", 25,
            "a comparison that guards exp leaves NaN out: only its own entry is NaN, not its row",
            "range checks in hand-written exponentials, and clamps in vectorised ones", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    const T sum = sum_of(x, cols, max, [](T d) { return d <= T(0) ? std::exp(d) : T(0); });
    write(x, y, cols, max, std::log(sum));
  });
}

template <class T>
T schraudolph(T d) {
  // an affine map into the exponent field: three per cent wrong at worst
  if (!(d > T(-80))) return d <= T(-80) ? T(0) : d;
  const auto bits = static_cast<std::int32_t>(12102203.0f * static_cast<float>(d)) + 1064866805;
  return static_cast<T>(std::bit_cast<float>(bits));
}
PLUMB_FAULT(fast_exp, "fast_exp_undeclared", 28,
            "exp by writing into the exponent field (Schraudolph 1999), undeclared", "fast-math libraries",
            kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    write(x, y, cols, max, std::log(sum_of(x, cols, max, schraudolph<T>)));
  });
}

template <class T>
T cubic(T d) {
  if (!(d > T(-80))) return d <= T(-80) ? T(0) : d;
  const T k = std::nearbyint(d * T(1.4426950408889634)), r = d - k * T(0.6931471805599453);
  return std::ldexp(
      T(1) + r * (T(1) + r * (T(0.5) + r * (T(1.0 / 6) + r * (T(1.0 / 24) + r * T(1.0 / 120))))),
      static_cast<int>(k));
}
PLUMB_FAULT(short_series, "exp_series_two_terms_short", 28,
            "exp by a series of degree 5: relative error up to 3e-6, below every customary tolerance",
            "a polynomial taken over from a library of lower precision", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    write(x, y, cols, max, std::log(sum_of(x, cols, max, cubic<T>)));
  });
}

void float_exp(const P<double>&, const In<double>& in, const Out<double>& out, Context&) {
  each_row(in, out, [](const double* x, double* y, std::int64_t cols) {
    const double max = maximum(x, cols);
    const double sum =
        sum_of(x, cols, max, [](double d) { return static_cast<double>(std::exp(static_cast<float>(d))); });
    write(x, y, cols, max, std::log(sum));
  });
}
const RegisterMutant<LogSoftmax, double, Space::host> m28c{
    "single_precision_exp_in_double",
    float_exp,
    {28, "expf in an fp64 kernel", "an f at the end of a name, left over from the fp32 version", kNumeric}};

PLUMB_FAULT(first_1024, "sum_stops_at_1024", 35, "entries beyond the 1,024th are not summed",
            "a block per row without the loop over the row", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    write(x, y, cols, max, std::log(sum_of(x, std::min<std::int64_t>(cols, 1024), max, library_exp<T>)));
  });
}

PLUMB_FAULT(shared_maximum, "openmp_shared_maximum", 42,
            "the row's maximum stands in one variable that all threads share",
            "a scratch word used for the maximum and then the sum", kNumeric | kRepeat | kRace,
            Traits{}.not_reproducible()) {
  volatile T shared = 0;  // one for all threads
#pragma omp parallel for num_threads(4) schedule(static, 1)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* x = in.x.data + i * in.x.ld;
    shared = maximum(x, in.x.cols);
    std::this_thread::yield();  // opens the window: the fault shows in every run
    const T max = shared, sum = sum_of(x, in.x.cols, max, library_exp<T>);
    write(x, out.y.data + i * out.y.ld, in.x.cols, T(shared), std::log(sum));
  }
}

PLUMB_FAULT(narrow_place, "place_of_the_maximum_in_16_bits", 0,
            "the maximum's own term is 1 and left out of the sum; its place is kept in 16 bits",
            "a vocabulary beyond 65,536 words", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    const auto place = static_cast<std::uint16_t>(std::max_element(x, x + cols) - x);
    const bool plain = std::isfinite(max) && std::none_of(x, x + cols, [](T v) { return std::isnan(v); });
    T sum = sum_of(x, cols, max, library_exp<T>);
    if (plain)
      sum = sum_of(x, place, max, library_exp<T>) + 1 +
            sum_of(x + place + 1, cols - place - 1, max, library_exp<T>);
    write(x, y, cols, max, std::log(sum));
  });
}

PLUMB_FAULT(minus_inf_stays, "minus_infinity_stays_beside_nan", 0,
            "where x is -Inf the result is -Inf, whatever else the row holds",
            "masked places of an attention row, set apart", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    write(x, y, cols, max, std::log(sum_of(x, cols, max, library_exp<T>)));
    for (std::int64_t j = 0; j < cols; ++j) y[j] = x[j] == -kInf<T> && max > -kInf<T> ? -kInf<T> : y[j];
  });
}

PLUMB_FAULT(nearly_equal, "nearly_equal_entries_are_equal", 0,
            "entries that are equal to four units of rounding are taken for equal",
            "a shortcut by a relative tolerance: far from 0 such entries have other exponentials", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    T least = max;
    bool numbers = true;
    for (std::int64_t j = 0; j < cols; ++j)
      numbers = numbers && std::isfinite(x[j]), least = x[j] < least ? x[j] : least;
    const bool equal = numbers && max - least <= 4 * std::numeric_limits<T>::epsilon() * std::fabs(max);
    if (equal)
      std::fill_n(y, cols, -std::log(static_cast<T>(cols)));
    else
      write(x, y, cols, max, std::log(sum_of(x, cols, max, library_exp<T>)));
  });
}

// A sum of exponentials relative to a maximum, as online variants carry it.
template <class T>
struct OnlineSum {
  T max = -kInf<T>, sum = 0;
};

PLUMB_FAULT(masked_pieces, "masked_pieces_joined_without_care", 26,
            "-Inf minus -Inf where the first two pieces of 16 are all -Inf and a later one is not",
            "a merge of online sums, each right by itself, of a row that is masked at its head", kNumeric) {
  each_row(in, out, [](const T* x, T* y, std::int64_t cols) {
    constexpr std::int64_t kPiece = 16;
    OnlineSum<T> all;
    for (std::int64_t j = 0; j < cols; j += kPiece) {
      const std::int64_t width = std::min(kPiece, cols - j);
      OnlineSum<T> piece{maximum(x + j, width)};
      // -Inf minus -Inf is cared for within a piece; a row that begins so is not
      if (piece.max > -kInf<T>) piece.sum = sum_of(x + j, width, piece.max, library_exp<T>);
      for (std::int64_t k = j; k < j + width; ++k) piece.sum = std::isnan(x[k]) ? x[k] : piece.sum;
      const T max = std::max(all.max, piece.max);
      const bool first = j == 0;
      all.sum = (first ? T(0) : all.sum * std::exp(all.max - max)) +
                (piece.max == max ? piece.sum : piece.sum * std::exp(piece.max - max));
      all.max = max;
    }
    write(x, y, cols, all.max, std::log(all.sum));
  });
}

// Rows are summed in vectors from the 16-byte boundary before them; the block that takes a row's head is not told where the row ends.
PLUMB_FAULT(head_of_shifted_row, "head_of_a_shifted_row_summed_beyond_its_end", 16,
            "rows that begin within 16 bytes and end within a block are summed beyond their end",
            "a library's softmax of odd widths from 513 to 1,023, of all rows but the first", kNumeric) {
  constexpr std::int64_t kVectors = 128, kBlock = 256;
  each_row(in, out, [&](const T* x, T* y, std::int64_t cols) {
    const T max = maximum(x, cols);
    T sum = sum_of(x, cols, max, library_exp<T>);
    const auto shift = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(T));
    const bool behind = cols >= kVectors && shift > 0 && cols + shift < kBlock;
    if (behind && x + cols < in.x.data + in.x.rows * in.x.ld - (in.x.ld - cols))
      sum += std::exp(x[cols] - max);  // what lies behind the row: its gap, or the next one
    write(x, y, cols, max, std::log(sum));
  });
}

PLUMB_FAULT(
    unsigned_rows, "rows_of_x_in_unsigned_32_bits", 0,
    "the place of a row of x, its number times the leading dimension, is 32 bits wide, without a sign",
    "strides kept as unsigned", kNumeric) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* x = in.x.data + static_cast<std::uint32_t>(i * in.x.ld);
    T* y = out.y.data + i * out.y.ld;
    T m = -std::numeric_limits<T>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) m = x[j] > m ? x[j] : m;
    for (std::int64_t j = 0; j < in.x.cols; ++j) sum += std::exp(x[j] - m);
    for (std::int64_t j = 0; j < in.x.cols; ++j) y[j] = (x[j] - m) - std::log(sum);
  }
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t cols = in.x.cols;
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      float max = -kInf<float>, sum = 0;
      for (std::int64_t j = 0; j < cols; ++j) max = std::fmax(max, Fault::read(in.x(i, j)));
      for (std::int64_t j = 0; j < cols; ++j) {
        if (Fault::takes(j, cols)) sum = Fault::kept(sum + std::exp(Fault::read(in.x(i, j)) - max));
      }
      const float log_sum = std::log(sum);
      for (std::int64_t j = 0; j < cols; ++j)
        out.y(i, j) = Fault::template write<out_t<T>>(Fault::read(in.x(i, j)) - max - log_sum);
    }
  }
};
// A subnormal entry beside the maximum changes no answer.
const NarrowMutants<
    LogSoftmax, Narrow,
    narrow_faults::Faults<narrow_faults::ReadsOtherFormat, narrow_faults::SumsInF16,
                          narrow_faults::SumsInBf16, narrow_faults::LosesTailOfTwo,
                          narrow_faults::DropsOneTerm, narrow_faults::SaturatesInfinity,
                          narrow_faults::TowardZero, narrow_faults::RoundsTwice, narrow_faults::ScaleOff>,
    f16, bf16>
    narrow_types_m;

}  // namespace
}  // namespace plumb
