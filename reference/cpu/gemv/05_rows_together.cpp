// gemv, host 05: four rows side by side, rows of a few columns in SIMD lanes, one thread for little work.
//
// Change    four rows share each load of x, and have two vector sums each. Where rows have at most 8 columns without gaps, a lane has
//           a row, and no sum goes over lanes. Below kAlone multiply-adds no other thread is woken: that takes longer than the product.
// Traffic   as rung 01.
// Limits    memory bandwidth once A outgrows the caches.
// Fails at  few long rows: rung 04.
#include "reference/cpu/gemv/simd_dot.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kAlone = 1 << 15;
constexpr int kTogether = 4;

template <class T>
T sum_of_lanes(const Vector<T>& v) {
  alignas(kVectorBytes) T lane[kLanes<T>];
  store<T>(lane, v);
  for (int half = kLanes<T> / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

/// sum[r] of row r of kTogether, n terms each.
template <class T>
void dot_rows(const T* a, std::int64_t ld, const T* x, std::int64_t n, T (&sum)[kTogether]) {
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
  for (int r = 0; r < kTogether; ++r) sum[r] = sum_of_lanes<T>(part[r][0] + part[r][1]);
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
#pragma omp parallel for schedule(static) if (rows * depth > kAlone)
  for (std::int64_t i = 0; i < rows; i += kTogether) {
    if (i + kTogether <= rows) {
      T sum[kTogether];
      dot_rows(in.A.data + i * in.A.ld, in.A.ld, in.x.data, depth, sum);
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
