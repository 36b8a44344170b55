// cuBLAS's sums of two matrices and triangular solves, as plain loops on the host.
#include <vector>

#include "gpu/simt/host/api/blas/cublas_calls.hpp"

namespace plumb::simt {

namespace {

/// `count` elements of a column, from row `first` on.
HostRange part_of_column(const BlasMatrix& m, long long column, long long first, long long count,
                         bool writes) {
  const std::size_t size = bytes_of(m.type);
  return {
      static_cast<const unsigned char*>(m.data) + static_cast<std::size_t>(column * m.stride + first) * size,
      static_cast<std::size_t>(count) * size, writes};
}

double at(const BlasMatrix& m, bool transposed, long long i, long long j) {
  return load(m.data, m.type, transposed ? i * m.stride + j : j * m.stride + i);
}

void run_sum(const BlasSum& s, double alpha, double beta, const void* stream, Here here) {
  std::vector<HostRange> ranges;
  const auto add = [&](const BlasMatrix& m, bool transposed, double factor) {
    for (long long j = 0; factor != 0 && j < (transposed ? s.m : s.n); ++j)
      ranges.push_back(part_of_column(m, j, 0, transposed ? s.n : s.m, false));
  };
  add(s.a, s.transpose_a, alpha);
  add(s.b, s.transpose_b, beta);
  for (long long j = 0; j < s.n; ++j) ranges.push_back(part_of_column(s.c, j, 0, s.m, true));
  if (!touches("cublas<t>geam", stream, here, ranges)) return;
  for (long long j = 0; j < s.n; ++j) {
    for (long long i = 0; i < s.m; ++i) {
      const double a = alpha != 0 ? alpha * at(s.a, s.transpose_a, i, j) : 0;
      const double b = beta != 0 ? beta * at(s.b, s.transpose_b, i, j) : 0;
      store(const_cast<void*>(s.c.data), s.c.type, j * s.c.stride + i, a + b);
    }
  }
}

/// One line of X: op(A) x = b, or the same of A's transpose where X stands at the left.
void solve_line(const BlasSolve& s, bool transposed, std::vector<double>& x) {
  const auto n = static_cast<long long>(x.size());
  const bool upwards = s.upper != transposed;  // the last number is known first
  for (long long k = 0; k < n; ++k) {
    const long long i = upwards ? n - 1 - k : k;
    double rest = x[static_cast<std::size_t>(i)];
    for (long long j = upwards ? i + 1 : 0; j < (upwards ? n : i); ++j)
      rest -= at(s.a, transposed, i, j) * x[static_cast<std::size_t>(j)];
    x[static_cast<std::size_t>(i)] = s.unit ? rest : rest / at(s.a, transposed, i, i);
  }
}

void run_solve(const BlasSolve& s, double alpha, const void* stream, Here here) {
  const long long order = s.left ? s.m : s.n;
  std::vector<HostRange> ranges;
  for (long long j = 0; alpha != 0 && j < order; ++j) {
    const long long diagonal = s.unit ? 0 : 1;
    const long long first = s.upper ? 0 : j + 1 - diagonal, last = s.upper ? j + diagonal : order;
    if (last > first) ranges.push_back(part_of_column(s.a, j, first, last - first, false));
  }
  for (long long j = 0; alpha != 0 && j < s.n; ++j) ranges.push_back(part_of_column(s.b, j, 0, s.m, false));
  for (long long j = 0; j < s.n; ++j) ranges.push_back(part_of_column(s.b, j, 0, s.m, true));
  if (!touches("cublas<t>trsm", stream, here, ranges)) return;
  std::vector<double> line(static_cast<std::size_t>(order));
  for (long long l = 0; l < (s.left ? s.n : s.m); ++l) {
    const auto place = [&](long long k) { return s.left ? l * s.b.stride + k : k * s.b.stride + l; };
    for (long long k = 0; k < order; ++k)
      line[static_cast<std::size_t>(k)] = alpha != 0 ? alpha * load(s.b.data, s.b.type, place(k)) : 0;
    if (alpha != 0) solve_line(s, s.transpose != !s.left, line);
    for (long long k = 0; k < order; ++k)
      store(const_cast<void*>(s.b.data), s.b.type, place(k), line[static_cast<std::size_t>(k)]);
  }
}

}  // namespace

cublasStatus_t blas_sum(cublasHandle_t handle, const BlasSum& s, Here here) {
  if (s.m < 0 || s.n < 0 || s.a.stride < (s.transpose_a ? s.n : s.m) ||
      s.b.stride < (s.transpose_b ? s.n : s.m) || s.c.stride < s.m)
    return CUBLAS_STATUS_INVALID_VALUE;
  return queue_with(
      handle, s.alpha, s.beta, s.c.type,
      [s, here](double alpha, double beta, const void* stream) { run_sum(s, alpha, beta, stream, here); });
}

cublasStatus_t blas_solve(cublasHandle_t handle, const BlasSolve& s, Here here) {
  if (s.m < 0 || s.n < 0 || s.a.stride < (s.left ? s.m : s.n) || s.b.stride < s.m)
    return CUBLAS_STATUS_INVALID_VALUE;
  return queue_with(handle, s.alpha, nullptr, s.b.type, [s, here](double alpha, double, const void* stream) {
    run_solve(s, alpha, stream, here);
  });
}

}  // namespace plumb::simt
