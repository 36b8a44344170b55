// gemv, host 05: four rows side by side, rows of a few columns in SIMD lanes, one thread for little work.
//
// Change    four rows share each load of x, and have two vector sums each. What of a row fills no vector is one with cleared lanes, in
//           short rows one that reaches into the next row. Where rows have at most 8 columns without gaps, a lane has a row, and no
//           sum goes over lanes. Below kAlone multiply-adds no other thread is woken: that takes longer than the product.
// Traffic   as rung 01.
// Limits    memory bandwidth once A outgrows the caches.
// Fails at  few long rows: rung 04.
#include <bit>
#include <cstring>

#include "reference/cpu/gemv/simd_dot.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kAlone = 1 << 15;
constexpr int kTogether = 4;

/// Integers of the width of a lane each.
template <class T>
using Mask = decltype(Vector<T>{} < Vector<T>{});

/// The elements of a row that fill no vector, as one: the last vector of the row, or of a row that is shorter the first, which reaches into
/// the row behind it. Lanes of other elements are cleared in both operands.
template <class T>
struct Rest {
  std::int64_t at = -1;  // its first element in the row; -1: there is none, or no vector that lies within A
  bool beyond_row = false;  // it reaches into the next row
  Vector<T> x{};
  Mask<T> keep{};

  Rest(const T* from, std::int64_t n, bool gapless) {
    const std::int64_t rest = n % kLanes<T>;
    beyond_row = n < kLanes<T>;
    if (rest == 0 || (beyond_row && !gapless)) return;
    at = beyond_row ? 0 : n - kLanes<T>;
    for (int l = 0; l < kLanes<T>; ++l) {
      const bool mine = beyond_row ? l < rest : l >= kLanes<T> - rest;
      x[l] = mine ? from[at + l] : T(0);
      keep[l] = mine ? -1 : 0;
    }
  }
};

template <class T, int N>
struct Lanes {
  using type [[gnu::vector_size(N * sizeof(T))]] = T;
};

/// The sum of N lanes, by halves, in registers.
template <class T, int N>
T sum_of_lanes(const typename Lanes<T, N>::type& v) {
  if constexpr (N == 2) {
    return v[0] + v[1];
  } else {
    typename Lanes<T, N / 2>::type half[2];
    std::memcpy(half, &v, sizeof v);
    return sum_of_lanes<T, N / 2>(half[0] + half[1]);
  }
}

/// sum[r] of row r of kTogether, n terms each. `rest`: null where its vectors do not all lie within A.
template <class T>
void dot_rows(const T* a, std::int64_t ld, const T* x, std::int64_t n, const Rest<T>* rest,
              T (&sum)[kTogether]) {
  constexpr std::int64_t kStep = kLanes<T>;
  Vector<T> part[kTogether][2] = {};
  std::int64_t k = 0;
  for (; k + 2 * kStep <= n; k += 2 * kStep) {
    for (int h = 0; h < 2; ++h) {
      Vector<T> right;
      load<T>(right, x + k + h * kStep);
#pragma GCC unroll 4
      for (int r = 0; r < kTogether; ++r) {
        Vector<T> left;
        load<T>(left, a + r * ld + k + h * kStep);
        part[r][h] += left * right;
      }
    }
  }
  for (; k + kStep <= n; k += kStep) {
    Vector<T> right;
    load<T>(right, x + k);
    for (int r = 0; r < kTogether; ++r) {
      Vector<T> left;
      load<T>(left, a + r * ld + k);
      part[r][0] += left * right;
    }
  }
  if (k < n && rest != nullptr) {
    for (int r = 0; r < kTogether; ++r) {
      Vector<T> left;
      load<T>(left, a + r * ld + rest->at);
      part[r][1] += std::bit_cast<Vector<T>>(std::bit_cast<Mask<T>>(left) & rest->keep) * rest->x;
    }
    k = n;
  }
  for (int r = 0; r < kTogether; ++r) sum[r] = sum_of_lanes<T, kLanes<T>>(part[r][0] + part[r][1]);
  for (; k < n; ++k) {
    for (int r = 0; r < kTogether; ++r) sum[r] += a[r * ld + k] * x[k];
  }
}

template <class T>
void finish(const Gemv::Problem<T>& p, T& y, T sum) {
  y = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * y;
}

/// Rows of C columns without gaps.
template <int C, class T>
void narrow_rows(const Gemv::Problem<T>& p, const T* a, const T* x, T* y, std::int64_t rows) {
#pragma omp parallel for simd schedule(static) if (rows * C > kAlone)
  for (std::int64_t i = 0; i < rows; ++i) {
    T sum = 0;
    for (int k = 0; k < C; ++k) sum += a[i * C + k] * x[k];
    finish(p, y[i], sum);
  }
}

/// Whether they are of a width that is compiled.
template <int C, class T>
bool made_narrow(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in,
                 const Gemv::Out<T, Space::host>& out, std::int64_t depth) {
  if (depth == C && (in.A.ld == C || in.A.rows == 1)) {
    narrow_rows<C>(p, in.A.data, in.x.data, out.y.data, in.A.rows);
    return true;
  }
  if constexpr (C > 1) return made_narrow<C - 1>(p, in, out, depth);
  return false;
}

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context&) {
  const std::int64_t rows = in.A.rows,
                     depth = p.alpha == T(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
  if (made_narrow<8>(p, in, out, depth)) return;
  const Rest<T> rest(in.x.data, depth, in.A.ld == depth);
  const std::int64_t end = rows * in.A.ld - kLanes<T>;  // of A, less a vector: for rows without gaps
#pragma omp parallel for schedule(static) if (rows * depth > kAlone)
  for (std::int64_t i = 0; i < rows; i += kTogether) {
    if (i + kTogether <= rows) {
      T sum[kTogether];
      const bool within = rest.at >= 0 && (!rest.beyond_row || (i + kTogether - 1) * in.A.ld <= end);
      dot_rows(in.A.data + i * in.A.ld, in.A.ld, in.x.data, depth, within ? &rest : nullptr, sum);
      for (int r = 0; r < kTogether; ++r) finish(p, out.y[i + r], sum[r]);
      continue;
    }
    for (std::int64_t r = i; r < rows; ++r)
      finish(p, out.y[r], simd_dot(in.A.data + r * in.A.ld, in.x.data, depth));
  }
}

const Register<Gemv, float, Space::host> f32{"05_rows_together", run<float>};
const Register<Gemv, double, Space::host> f64{"05_rows_together", run<double>};

}  // namespace
}  // namespace plumb
