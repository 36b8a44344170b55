// gemv, host 05: rows side by side, sums of short rows in a tree, one thread for little work.
//
// Change    as many short rows as a vector has lanes share each load of x, and their sums are added lane by lane in a tree that ends in one
//           vector of y; four long rows, with two sums each. What of a row fills no vector is one with cleared lanes, in rows shorter
//           than a vector one that reaches into the next row. Shorter rows without gaps share vectors. Where a team takes longer
//           than the product, one thread does it.
// Traffic   as rung 01.
// Limits    memory bandwidth once A outgrows the caches.
// Fails at  few long rows: rung 04.
#include <algorithm>
#include <bit>

#include "reference/core/team.hpp"
#include "reference/cpu/gemv/simd_dot.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

constexpr double kBytesPerSecond = 1e11;  // of one thread, from its caches; larger products are shared anyway
constexpr std::int64_t kShort = 512;      // columns
constexpr int kTogether = 4;

/// The elements of a row that fill no vector, as one: the last vector of the row, or of a row that is shorter the first, which reaches into
/// the row behind it. Lanes of other elements are cleared in both operands.
template <class T>
struct Rest {
  std::int64_t at = -1;  // its first element in the row; -1: there is none, or no vector that lies within A
  bool beyond_row = false;  // it reaches into the next row
  Vector<T> x{};
  LaneNumbers<T> keep{};

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
  /// Whether the elements that fill no vector are one, if there are any.
  [[nodiscard]] bool whole(std::int64_t n) const { return at >= 0 || n % kLanes<T> == 0; }
  /// Their products in a row.
  [[nodiscard]] Vector<T> times(const T* row) const {
    Vector<T> left;
    load<T>(left, row + at);
    return std::bit_cast<Vector<T>>(std::bit_cast<LaneNumbers<T>>(left) & keep) * x;
  }
};

/// sum[r] of row r of kTogether, n terms each.
template <class T>
void dot_rows(const T* a, std::int64_t ld, const T* x, std::int64_t n, const Rest<T>& rest,
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
  if (k < n && rest.at >= 0 && !rest.beyond_row) {
    for (int r = 0; r < kTogether; ++r) part[r][1] += rest.times(a + r * ld);
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

/// kLanes elements of y.
template <class T>
void finish(const Gemv::Problem<T>& p, T* y, const Vector<T>& sum) {
  Vector<T> to = p.alpha * sum, old;
  if (p.beta != T(0)) load<T>(old, y), to += p.beta * old;
  store<T>(y, to);
}

/// The sums of kLanes rows, a row in each lane.
template <class T>
Vector<T> dot_short_rows(const T* a, std::int64_t ld, const T* x, std::int64_t n, const Rest<T>& rest) {
  Vector<T> part[kLanes<T>] = {};
  for (std::int64_t k = 0; k + kLanes<T> <= n; k += kLanes<T>) {
    Vector<T> left, right;
    load<T>(right, x + k);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes<T>; ++r) load<T>(left, a + r * ld + k), part[r] += left * right;
  }
  if (rest.at >= 0) {
#pragma GCC unroll 16
    for (int r = 0; r < kLanes<T>; ++r) part[r] += rest.times(a + r * ld);
  }
  return sums_of_groups<kLanes<T>, T>(part);
}

/// The sums of kLanes rows of C columns without gaps, C a power of two. `x`: again and again.
template <int C, class T>
Vector<T> fold_narrow_rows(const T* a, const Vector<T>& x) {
  constexpr int kApart = kLanes<T> / C;  // rows in a vector
  Vector<T> part[C];
  LaneNumbers<T> from{};
  for (int l = 0; l < kLanes<T>; ++l) from[l] = l % kApart * C + l / kApart;
#pragma GCC unroll 16
  for (int v = 0; v < C; ++v) load<T>(part[v], a + v * kLanes<T>), part[v] *= x;
  return looked_up<T>(sums_of_groups<C, T>(part), from);  // lane j C + v was row v kApart + j
}

/// The sums of kLanes rows of C columns without gaps: elements of one column are picked from the C vectors.
template <int C, class T>
Vector<T> pick_narrow_rows(const T* a, const T* x) {
  Vector<T> in[C], sum{};
#pragma GCC unroll 16
  for (int v = 0; v < C; ++v) load<T>(in[v], a + v * kLanes<T>);
#pragma GCC unroll 16
  for (int k = 0; k < C; ++k) {
    Vector<T> column = in[0];
#pragma GCC unroll 16
    for (int v = 0; v < C; ++v) {
      LaneNumbers<T> from{};
      for (int l = 0; l < kLanes<T>; ++l) {
        const int at = l * C + k;
        from[l] = at / kLanes<T> != v ? l : at % kLanes<T> + (v > 0 ? kLanes<T> : 0);
      }
      column = v > 0 ? picked<T>(column, in[v], from) : looked_up<T>(column, from);
    }
    sum += column * x[k];
  }
  return sum;
}

/// Whether all threads read so many elements of A. Either way the sums are the same.
template <class T>
bool is_shared(std::int64_t elements) {
  return worth_sharing(static_cast<double>(elements) * sizeof(T) / kBytesPerSecond);
}

/// Groups of kLanes rows by sums(first row), and what is left over row by row.
template <class T, class F>
void each_group(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in,
                const Gemv::Out<T, Space::host>& out, std::int64_t groups, F&& sums) {
  const bool shared = is_shared<T>(in.A.rows * in.A.cols);
#pragma omp parallel for schedule(static) if (shared)
  for (std::int64_t g = 0; g < groups; ++g) finish(p, &out.y[g * kLanes<T>], sums(g * kLanes<T>));
  for (std::int64_t i = groups * kLanes<T>; i < in.A.rows; ++i)
    finish(p, out.y[i], simd_dot(in.A.data + i * in.A.ld, in.x.data, in.A.cols));
}

/// Whether rows have C columns, or fewer, of which vectors are shared.
template <int C, class T>
bool made_narrow(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in,
                 const Gemv::Out<T, Space::host>& out) {
  if (in.A.cols == C) {
    const std::int64_t groups = in.A.rows / kLanes<T>;
    const T* const a = in.A.data;
    if constexpr ((C & (C - 1)) == 0) {
      Vector<T> x{};
      for (int l = 0; l < kLanes<T>; ++l) x[l] = in.x[l % C];
      each_group(p, in, out, groups, [a, x](std::int64_t i) { return fold_narrow_rows<C, T>(a + i * C, x); });
    } else {
      each_group(p, in, out, groups,
                 [a, x = in.x.data](std::int64_t i) { return pick_narrow_rows<C, T>(a + i * C, x); });
    }
    return true;
  }
  if constexpr (C > 1) return made_narrow<C - 1>(p, in, out);
  return false;
}

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context&) {
  const std::int64_t rows = in.A.rows, ld = in.A.ld,
                     depth = p.alpha == T(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
  if (depth > 0 && ld == depth && made_narrow<std::min(8, kLanes<T> - 1)>(p, in, out)) return;
  const Rest<T> rest(in.x.data, depth, ld == depth);
  if (depth > 0 && depth <= kShort && rest.whole(depth)) {
    const std::int64_t within = rest.beyond_row ? (rows * ld - kLanes<T>) / ld + 1 : rows;
    return each_group(p, in, out, std::max(within, std::int64_t{0}) / kLanes<T>, [&](std::int64_t i) {
      return dot_short_rows(in.A.data + i * ld, ld, in.x.data, depth, rest);
    });
  }
  const bool shared = rows > kTogether && is_shared<T>(rows * depth);
#pragma omp parallel for schedule(static) if (shared)
  for (std::int64_t i = 0; i < rows; i += kTogether) {
    if (i + kTogether <= rows) {
      T sum[kTogether];
      dot_rows(in.A.data + i * ld, ld, in.x.data, depth, rest, sum);
      for (int r = 0; r < kTogether; ++r) finish(p, out.y[i + r], sum[r]);
      continue;
    }
    for (std::int64_t r = i; r < rows; ++r)
      finish(p, out.y[r], simd_dot(in.A.data + r * ld, in.x.data, depth));
  }
}

PLUMB_REGISTER(Gemv, "05_rows_together", run, float, double);

}  // namespace
}  // namespace plumb
