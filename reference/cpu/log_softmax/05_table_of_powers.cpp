// log_softmax, host 05: powers of two from a table in a register, short rows in lanes, long rows shared by threads.
//
// Change    exp takes 2^(i / kLanes) from a vector register, so that its polynomial has 3 terms in place of 7 (8 for 13 in fp64). Of
//           rows shorter than kShort a lane has a row, and no reduction goes over lanes. Where threads outnumber rows they share them.
//           Below kAlone entries no other thread is woken.
// Limits    about 10 arithmetic instructions per vector of entries.
// Fails at  processors without a shuffle by a register (before AVX2): the table is read entry by entry.
// Source    P. T. P. Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15
//           (1989).
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/cpu/simd.hpp"
#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kAlone = 1 << 13;  // entries
constexpr std::int64_t kPiece = 1 << 12;  // entries of a row that a thread has at least
template <class T>
constexpr std::int64_t kShort = 4 * kLanes<T>;  // columns
constexpr int kSums = 4;                        // side by side, so that no vector waits for the one before
template <class T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

// kHigh has so few bits that k * kHigh is exact for every k that occurs. kMagic rounds to an integer when added, and leaves it in the low
// bits. Below kLeast the result is a subnormal or 0, which does not change a sum of at least 1.
template <class T>
struct Exp;
template <>
struct Exp<float> {
  using Int = std::int32_t;
  static constexpr float kHigh = 0x1.62ep-1f, kLow = 0x1.0bfbe8p-15f, kMagic = 0x1.8p23f, kLeast = -87.0f;
  static constexpr int kMantissa = 23;
  static constexpr double kError = 0x1p-26;
};
template <>
struct Exp<double> {
  using Int = std::int64_t;
  static constexpr double kHigh = 0x1.62e42feep-1, kLow = 0x1.a39ef35793c76p-33, kMagic = 0x1.8p52,
                          kLeast = -708.0;
  static constexpr int kMantissa = 52;
  static constexpr double kError = 0x1p-55;
};

/// The degree from which the rest of the series of exp is below kError, for |r| <= log(2) / (2 kLanes).
template <class T>
constexpr int degree() {
  const double r = 0.34657359027997264 / kLanes<T>;
  double term = r;
  int n = 1;
  while (term > Exp<T>::kError) term *= r / ++n;
  return n - 1;
}

template <class T>
constexpr T inverse_factorial(int n) {
  double factorial = 1;  // 13! < 2^53 is exact
  for (int i = 2; i <= n; ++i) factorial *= i;
  return static_cast<T>(1 / factorial);
}

/// 2^(i / kLanes) in lane i.
template <class T>
Vector<T> powers() {
  Vector<T> table{};
  for (int i = 0; i < kLanes<T>; ++i) table[i] = std::exp2(static_cast<T>(i) / kLanes<T>);
  return table;
}

/// exp(d) for d <= 0: within 2 ulp where it is normal, 0 below, 1 at 0, NaN at NaN.
template <class T>
Vector<T> exponential(const Vector<T>& d, const Vector<T>& table) {
  using E = Exp<T>;
  constexpr int kShift = std::countr_zero(static_cast<unsigned>(kLanes<T>));
  const Vector<T> shifted = d * T(0x1.71547652b82fep0 * kLanes<T>) + E::kMagic, k = shifted - E::kMagic,
                  r = (d - k * (E::kHigh / kLanes<T>)) - k * (E::kLow / kLanes<T>);
  Vector<T> p = Vector<T>{} + inverse_factorial<T>(degree<T>());
#pragma GCC unroll 16
  for (int n = degree<T>() - 1; n >= 0; --n) p = p * r + inverse_factorial<T>(n);
  const auto steps =
      std::bit_cast<LaneNumbers<T>>(shifted);  // bits of kMagic are none of those that are used
  const LaneNumbers<T> power =
      std::bit_cast<LaneNumbers<T>>(looked_up<T>(table, steps)) + ((steps >> kShift) << E::kMantissa);
  return d < E::kLeast ? Vector<T>{} : p * std::bit_cast<Vector<T>>(power);
}

template <class T>
Vector<T> greater(const Vector<T>& a, const Vector<T>& b) {
  return a > b ? a : b;
}

/// Lanes that are not among the last `count` are `other`.
template <class T>
Vector<T> last_lanes(const Vector<T>& v, std::int64_t count, T other) {
  LaneNumbers<T> lane{};
  for (int l = 0; l < kLanes<T>; ++l) lane[l] = l;
  return lane >= static_cast<typename Exp<T>::Int>(kLanes<T> - count) ? v : Vector<T>{} + other;
}

/// f(vector, s) for entries [begin, end) of a row, at least kLanes of them, with s going through kSums. The last vector ends at `end`;
/// its lanes of entries that were there before are -infinity.
template <class T, class E, class F>
void each_vector(const E* x, std::int64_t begin, std::int64_t end, F&& f) {
  std::int64_t j = begin;
  Vector<T> v;
  for (; j + kSums * kLanes<T> <= end; j += kSums * kLanes<T>) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) load_values<T>(v, x + j + s * kLanes<T>), f(v, s);
  }
  for (; j + kLanes<T> <= end; j += kLanes<T>) load_values<T>(v, x + j), f(v, 0);
  if (j == end) return;
  load_values<T>(v, x + end - kLanes<T>);
  f(last_lanes<T>(v, end - j, kLowest<T>), 1);
}

template <class E>
value_t<E> max_of(const E* x, std::int64_t begin, std::int64_t end) {
  using T = value_t<E>;
  Vector<T> max[kSums];
  for (auto& m : max) m = Vector<T>{} + kLowest<T>;
  each_vector<T>(x, begin, end, [&](const Vector<T>& v, int s) { max[s] = greater<T>(v, max[s]); });
  const Vector<T> both = greater<T>(greater<T>(max[0], max[1]), greater<T>(max[2], max[3]));
  T all = both[0];
  for (int l = 1; l < kLanes<T>; ++l) all = both[l] > all ? both[l] : all;
  return all;
}

template <class T, class E>
T sum_of_exponentials(const E* x, std::int64_t begin, std::int64_t end, T max, const Vector<T>& table) {
  Vector<T> sum[kSums] = {};
  each_vector<T>(x, begin, end, [&](const Vector<T>& v, int s) { sum[s] += exponential<T>(v - max, table); });
  return sum_of_lanes<T, kLanes<T>>((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/// At least kLanes entries. What fills no vector is written with the end of the vector before once more.
template <class E, class O, class T>
void write(const E* x, O* y, std::int64_t begin, std::int64_t end, T max, T log_sum) {
  const auto at = [&](std::int64_t j) {
    Vector<T> v;
    load_values<T>(v, x + j);
    store_values<T>(y + j, v - max - log_sum);
  };
  std::int64_t j = begin;
  for (; j + kLanes<T> <= end; j += kLanes<T>) at(j);
  if (j < end) at(end - kLanes<T>);
}

/// Up to kLanes rows of fewer than kShort columns, a row in each lane.
template <class E, class O>
void short_rows(const DenseView<const E, Space::host>& x, const DenseView<O, Space::host>& y,
                std::int64_t first, const Vector<value_t<E>>& table) {
  using T = value_t<E>;
  const int rows = static_cast<int>(std::min<std::int64_t>(kLanes<T>, x.rows - first));
  alignas(kVectorBytes) T at[kShort<T>][kLanes<T>];  // [column][row]
  Vector<T> max = Vector<T>{} + kLowest<T>, sum{}, v, log_sum{};
  for (int r = 0; r < kLanes<T>; ++r) {
    const E* from = x.data + (first + std::min(r, rows - 1)) * x.ld;
    for (std::int64_t j = 0; j < x.cols; ++j) at[j][r] = value(from[j]);
  }
  for (std::int64_t j = 0; j < x.cols; ++j) load<T>(v, at[j]), max = greater<T>(v, max);
  for (std::int64_t j = 0; j < x.cols; ++j) load<T>(v, at[j]), sum += exponential<T>(v - max, table);
  for (int r = 0; r < rows; ++r) log_sum[r] = std::log(sum[r]);
  for (std::int64_t j = 0; j < x.cols; ++j) load<T>(v, at[j]), store<T>(at[j], v - max - log_sum);
  for (int r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < x.cols; ++j) y.data[(first + r) * y.ld + j] = stored<O>(at[j][r]);
  }
}

/// Rows in pieces: all threads work at each.
template <class E, class O, class T>
void shared_rows(const DenseView<const E, Space::host>& x, const DenseView<O, Space::host>& y,
                 std::int64_t pieces, T* parts, const Vector<T>& table) {
  const auto at = [&](std::int64_t piece) { return x.cols * piece / pieces; };
#pragma omp parallel
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const E* const from = x.data + i * x.ld;
    T *const maxima = parts, *const sums = parts + pieces;
#pragma omp for schedule(static)
    for (std::int64_t p = 0; p < pieces; ++p) maxima[p] = max_of(from, at(p), at(p + 1));
    T max = kLowest<T>, sum = 0;
    for (std::int64_t p = 0; p < pieces; ++p) max = std::max(max, maxima[p]);
#pragma omp for schedule(static)
    for (std::int64_t p = 0; p < pieces; ++p)
      sums[p] = sum_of_exponentials<T>(from, at(p), at(p + 1), max, table);
    for (std::int64_t p = 0; p < pieces; ++p) sum += sums[p];
    const T log_sum = std::log(sum);
#pragma omp for schedule(static)
    for (std::int64_t p = 0; p < pieces; ++p) write(from, y.data + i * y.ld, at(p), at(p + 1), max, log_sum);
  }
}

template <class T>
void run(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
         const LogSoftmax::Out<T, Space::host>& out, Context& context) {
  using V = scalar_t<T>;
  const std::int64_t rows = in.x.rows, cols = in.x.cols;
  const Vector<V> table = powers<V>();
  const bool alone = rows * cols <= kAlone;
  const std::int64_t threads = omp_get_max_threads(), pieces = std::min(threads, cols / kPiece);
  if (cols < kShort<V>) {
#pragma omp parallel for schedule(static) if (!alone)
    for (std::int64_t i = 0; i < rows; i += kLanes<V>) short_rows(in.x, out.y, i, table);
    return;
  }
  if (rows < threads && pieces > 1) {
    V* const parts = static_cast<V*>(context.workspace(2 * pieces * static_cast<std::int64_t>(sizeof(V))));
    return shared_rows(in.x, out.y, pieces, parts, table);
  }
#pragma omp parallel for schedule(static) if (!alone)
  for (std::int64_t i = 0; i < rows; ++i) {
    const in_t<T>* const from = in.x.data + i * in.x.ld;
    const V max = max_of(from, 0, cols),
            log_sum = std::log(sum_of_exponentials<V>(from, 0, cols, max, table));
    write(from, out.y.data + i * out.y.ld, 0, cols, max, log_sum);
  }
}

PLUMB_REGISTER(LogSoftmax, "05_table_of_powers", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
