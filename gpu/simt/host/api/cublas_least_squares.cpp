// Least squares of small matrices in batches, by Householder's reflections on the host: in double, rounded once.
#include "gpu/simt/host/api/cublas_least_squares.hpp"

#include <cmath>
#include <complex>
#include <vector>

#include "gpu/simt/host/api/cublas_calls.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

using Number = std::complex<double>;

/// A matrix of the host's, by columns.
struct Columns {
  int rows, count;
  std::vector<Number> values;
  Columns(int r, int c)
      : rows(r), count(c), values(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  Number& at(int i, int j) {
    return values[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)];
  }
};

Columns loaded(const BlasLeastSquares& s, const BlasList& list, int which, int columns) {
  Columns m(s.m, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < s.m; ++i) {
      const long long at = place(list, i, j);
      m.at(i, j) =
          s.complex ? Number(load(list.at[which], s.part, 2 * at), load(list.at[which], s.part, 2 * at + 1))
                    : Number(load(list.at[which], s.part, at));
    }
  }
  return m;
}

void store_all(const BlasLeastSquares& s, const BlasList& list, int which, Columns& m) {
  void* const to = const_cast<void*>(list.at[which]);
  for (int j = 0; j < m.count; ++j) {
    for (int i = 0; i < m.rows; ++i) {
      const long long at = place(list, i, j);
      store(to, s.part, s.complex ? 2 * at : at, m.at(i, j).real());
      if (s.complex) store(to, s.part, 2 * at + 1, m.at(i, j).imag());
    }
  }
}

/// Makes column k of A zero below the diagonal by a reflection, which is kept there. Returns the factor of the reflection.
Number reflect(Columns& a, int k) {
  double below = 0;
  for (int i = k + 1; i < a.rows; ++i) below += std::norm(a.at(i, k));
  const Number top = a.at(k, k);
  if (below == 0 && top.imag() == 0) return 0;
  const double length = std::sqrt(std::norm(top) + below), diagonal = top.real() > 0 ? -length : length;
  for (int i = k + 1; i < a.rows; ++i) a.at(i, k) /= top - diagonal;
  a.at(k, k) = diagonal;
  return (diagonal - top) / diagonal;
}

/// Column j of C by the reflection that column k of A holds.
void apply(Columns& a, int k, Number factor, Columns& c, int j) {
  Number sum = c.at(k, j);
  for (int i = k + 1; i < a.rows; ++i) sum += std::conj(a.at(i, k)) * c.at(i, j);
  sum *= std::conj(factor);
  c.at(k, j) -= sum;
  for (int i = k + 1; i < a.rows; ++i) c.at(i, j) -= a.at(i, k) * sum;
}

/// In place, C's first rows too. Returns the first column without a diagonal, from 1 on, or 0.
int solve(Columns& a, Columns& c) {
  for (int k = 0; k < a.count; ++k) {
    const Number factor = reflect(a, k);
    for (int j = k + 1; j < a.count; ++j) apply(a, k, factor, a, j);
    for (int j = 0; j < c.count; ++j) apply(a, k, factor, c, j);
  }
  for (int k = 0; k < a.count; ++k)
    if (a.at(k, k) == 0.0) return k + 1;
  for (int j = 0; j < c.count; ++j) {
    for (int i = a.count - 1; i >= 0; --i) {
      for (int k = i + 1; k < a.count; ++k) c.at(i, j) -= a.at(i, k) * c.at(k, j);
      c.at(i, j) /= a.at(i, i);
    }
  }
  return 0;
}

void run(const BlasLeastSquares& s, const void* stream, Here here) {
  const std::size_t size = bytes_of(s.part) * (s.complex ? 2 : 1);
  Touched touched;
  for (const bool writes : {false, true}) {
    touched.matrices(s.a, s.m, s.n, s.count, size, writes);
    touched.matrices(s.c, s.m, s.columns, s.count, size, writes);
  }
  touched.numbers(s.info, s.count, true);
  if (!touches(s.what, stream, here, touched.ranges())) return;
  for (int b = 0; b < s.count; ++b) {
    Columns a = loaded(s, s.a, b, s.n), c = loaded(s, s.c, b, s.columns);
    const int zero = solve(a, c);
    if (s.info != nullptr) s.info[b] = zero;
    store_all(s, s.a, b, a);
    store_all(s, s.c, b, c);
  }
}

}  // namespace

cublasStatus_t blas_least_squares(cublasHandle_t handle, const BlasLeastSquares& s, Here here) {
  if (s.n < 0 || s.columns < 0 || s.count < 0 || s.a.ld < s.m || s.c.ld < s.m)
    return CUBLAS_STATUS_INVALID_VALUE;
  return queue_with(handle, nullptr, nullptr, s.part,
                    [s, here](double, double, const void* stream) { run(s, stream, here); });
}

}  // namespace plumb::simt
