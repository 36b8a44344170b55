// LU of small matrices in batches, solves and inverses with it, as plain loops on the host: in double, rounded once.
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gpu/simt/host/api/cublas_calls.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

/// A matrix of the host's, by columns, and which row was exchanged for each.
struct Lu {
  int n;
  std::vector<double> values;
  std::vector<int> exchanged;  // from 0 on
  double& at(int i, int j) {
    return values[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
  }
  int& exchange(int k) { return exchanged[static_cast<std::size_t>(k)]; }
};

Lu loaded(const BlasList& list, int which, int n, cudaDataType_t type) {
  Lu m{n, std::vector<double>(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)),
       std::vector<int>(static_cast<std::size_t>(n))};
  std::iota(m.exchanged.begin(), m.exchanged.end(), 0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) m.at(i, j) = load(list.at[which], type, place(list, i, j));
  return m;
}

/// In place. Returns the first column whose pivot is 0, from 1 on, or 0.
int factor(Lu& m, bool exchanges) {
  int zero = 0;
  for (int k = 0; k < m.n; ++k) {
    int best = k;
    for (int i = k + 1; exchanges && i < m.n; ++i)
      if (std::fabs(m.at(i, k)) > std::fabs(m.at(best, k))) best = i;
    m.exchange(k) = best;
    for (int j = 0; best != k && j < m.n; ++j) std::swap(m.at(k, j), m.at(best, j));
    if (m.at(k, k) == 0) {
      if (zero == 0) zero = k + 1;
      continue;
    }
    for (int i = k + 1; i < m.n; ++i) {
      const double factor = m.at(i, k) /= m.at(k, k);
      for (int j = k + 1; j < m.n; ++j) m.at(i, j) -= factor * m.at(k, j);
    }
  }
  return zero;
}

void solve(Lu& m, std::vector<double>& x) {
  const auto of = [&x](int i) -> double& { return x[static_cast<std::size_t>(i)]; };
  for (int k = 0; k < m.n; ++k) std::swap(of(k), of(m.exchange(k)));
  for (int i = 0; i < m.n; ++i)
    for (int j = 0; j < i; ++j) of(i) -= m.at(i, j) * of(j);
  for (int i = m.n - 1; i >= 0; --i) {
    for (int j = i + 1; j < m.n; ++j) of(i) -= m.at(i, j) * of(j);
    of(i) /= m.at(i, i);
  }
}

void solve_transposed(Lu& m, std::vector<double>& x) {
  const auto of = [&x](int i) -> double& { return x[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < m.n; ++i) {
    for (int j = 0; j < i; ++j) of(i) -= m.at(j, i) * of(j);
    of(i) /= m.at(i, i);
  }
  for (int i = m.n - 1; i >= 0; --i)
    for (int j = i + 1; j < m.n; ++j) of(i) -= m.at(j, i) * of(j);
  for (int k = m.n - 1; k >= 0; --k) std::swap(of(k), of(m.exchange(k)));
}

void run_factor(const BlasFactors& f, const void* stream, Here here) {
  Touched touched;
  touched.matrices(f.a, f.n, f.n, f.count, bytes_of(f.type), false);
  touched.matrices(f.a, f.n, f.n, f.count, bytes_of(f.type), true);
  touched.numbers(f.pivots, static_cast<long long>(f.count) * f.n, true);
  touched.numbers(f.info, f.count, true);
  if (!touches("cublas<t>getrfBatched", stream, here, touched.ranges())) return;
  for (int b = 0; b < f.count; ++b) {
    Lu m = loaded(f.a, b, f.n, f.type);
    f.info[b] = factor(m, f.pivots != nullptr);
    for (int j = 0; j < f.n; ++j) {
      if (f.pivots != nullptr) f.pivots[static_cast<long long>(b) * f.n + j] = m.exchange(j) + 1;
      for (int i = 0; i < f.n; ++i) store(const_cast<void*>(f.a.at[b]), f.type, place(f.a, i, j), m.at(i, j));
    }
  }
}

/// Whether all are rows of a matrix; otherwise the run ends.
bool are_rows(const BlasFactored& s, Here here) {
  for (long long k = 0; s.pivots != nullptr && k < static_cast<long long>(s.count) * s.n; ++k) {
    if (s.pivots[k] >= 1 && s.pivots[k] <= s.n) continue;
    note(FindingKind::trap, std::string(s.what) + " is given a pivot outside of its matrix", nullptr,
         locate(here));
    current().run.is_stopped = true;
    return false;
  }
  return true;
}

void run_factored(const BlasFactored& s, const void* stream, Here here) {
  Touched touched;
  const std::size_t size = bytes_of(s.type);
  touched.matrices(s.a, s.n, s.n, s.count, size, false);
  touched.numbers(s.pivots, static_cast<long long>(s.count) * s.n, false);
  if (s.inverse)
    touched.numbers(s.b.at, s.count, false);
  else
    touched.matrices(s.b, s.n, s.columns, s.count, size, false);
  touched.matrices(s.b, s.n, s.columns, s.count, size, true);
  touched.numbers(s.info, s.count, true);
  if (!touches(s.what, stream, here, touched.ranges()) || !are_rows(s, here)) return;
  std::vector<double> x(static_cast<std::size_t>(s.n));
  for (int b = 0; b < s.count; ++b) {
    Lu m = loaded(s.a, b, s.n, s.type);
    int zero = s.plain ? factor(m, true) : 0;
    for (int k = 0; k < s.n; ++k) {
      if (s.pivots != nullptr) m.exchange(k) = s.pivots[static_cast<long long>(b) * s.n + k] - 1;
      if (zero == 0 && m.at(k, k) == 0) zero = k + 1;
    }
    if (s.info != nullptr) s.info[b] = zero;
    if (s.inverse && zero != 0) continue;
    for (int j = 0; j < s.columns; ++j) {
      for (int i = 0; i < s.n; ++i)
        x[static_cast<std::size_t>(i)] =
            s.inverse ? (i == j ? 1.0 : 0.0) : load(s.b.at[b], s.type, place(s.b, i, j));
      s.transpose ? solve_transposed(m, x) : solve(m, x);
      for (int i = 0; i < s.n; ++i)
        store(const_cast<void*>(s.b.at[b]), s.type, place(s.b, i, j), x[static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace

cublasStatus_t blas_factor(cublasHandle_t handle, const BlasFactors& f, Here here) {
  if (f.n < 0 || f.count < 0 || f.a.ld < f.n) return CUBLAS_STATUS_INVALID_VALUE;
  return queue_with(handle, nullptr, nullptr, f.type,
                    [f, here](double, double, const void* stream) { run_factor(f, stream, here); });
}

cublasStatus_t blas_solve_factored(cublasHandle_t handle, const BlasFactored& s, Here here) {
  if (s.n < 0 || s.columns < 0 || s.count < 0 || s.a.ld < s.n || s.b.ld < s.n)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (s.plain && s.n > 32) return CUBLAS_STATUS_INVALID_VALUE;  // as the library
  return queue_with(handle, nullptr, nullptr, s.type,
                    [s, here](double, double, const void* stream) { run_factored(s, stream, here); });
}

}  // namespace plumb::simt
