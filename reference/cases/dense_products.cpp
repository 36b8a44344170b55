// The blocked oracle of dense products: four rows of A against 64 columns of B, summed over k in order,
// columns in SIMD lanes.
#include "reference/cases/dense_products.hpp"

#include <algorithm>
#include <cmath>

#include "reference/arithmetic/fp.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kRows = 4;   // rows that share one load of B
constexpr std::int64_t kWide = 64;  // columns: the sums of a block stay in the first-level cache

// Lanes of OracleDot<T>: the same sums, side by side.
template <class T>
struct Lanes;

template <>
struct Lanes<float> {
  double sum[kWide] = {}, magnitude[kWide] = {};
  void add_products(double a, const double* b) {
#pragma omp simd
    for (std::int64_t j = 0; j < kWide; ++j) {
      const double p = a * b[j];  // exact: 24 + 24 bits
      sum[j] += p;
      magnitude[j] += std::fabs(p);
    }
  }
  [[nodiscard]] double high(std::int64_t j) const { return sum[j]; }
  [[nodiscard]] double low(std::int64_t) const { return 0; }
};

template <>
struct Lanes<double> {
  double sum[kWide] = {}, compensation[kWide] = {}, magnitude[kWide] = {};
  void add_products(double a, const double* b) {
#pragma omp simd
    for (std::int64_t j = 0; j < kWide; ++j) {
      const auto [product, product_error] = two_product(a, b[j]);
      const auto [total, sum_error] = two_sum(sum[j], product);
      sum[j] = total;
      compensation[j] += product_error + sum_error;
      magnitude[j] += std::fabs(product);
    }
  }
  [[nodiscard]] double high(std::int64_t j) const { return sum[j]; }
  [[nodiscard]] double low(std::int64_t j) const { return compensation[j]; }
};

// alpha (high + low) + beta c, rounded once; a sum that is not finite carries no compensation.
double combine(double alpha, double high, double low, double beta, double c) {
  if (!std::isfinite(high)) return beta == 0 ? alpha * high : alpha * high + beta * c;
  const auto [first, first_error] = two_product(alpha, high);
  if (beta == 0) return first + (first_error + alpha * low);
  const auto [second, second_error] = two_product(beta, c);
  const auto [total, total_error] = two_sum(first, second);
  if (!std::isfinite(total)) return total;
  return total + (total_error + (first_error + second_error + alpha * low));
}

}  // namespace

template <class T>
void oracle_dense_product(T alpha, const DenseView<const T, Space::host>& A,
                          const DenseView<const T, Space::host>& B, T beta,
                          const DenseView<T, Space::host>& C, ReferenceArray& c) {
  const std::int64_t m = A.rows, n = B.cols, depth = alpha == T(0) ? 0 : A.cols;
  c.resize(m * n);
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::int64_t i0 = 0; i0 < m; i0 += kRows) {
    for (std::int64_t j0 = 0; j0 < n; j0 += kWide) {
      const std::int64_t rows = std::min(kRows, m - i0), wide = std::min(kWide, n - j0);
      Lanes<T> lanes[kRows];
      double b[kWide] = {};  // lanes past the edge multiply zeros, and are not read
      for (std::int64_t k = 0; k < depth; ++k) {
        for (std::int64_t j = 0; j < wide; ++j) b[j] = B(k, j0 + j);
        for (std::int64_t r = 0; r < rows; ++r) lanes[r].add_products(A(i0 + r, k), b);
      }
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t j = 0; j < wide; ++j) {
          const double before = beta == T(0) ? 0 : C(i0 + r, j0 + j);
          const auto at = static_cast<std::size_t>((i0 + r) * n + j0 + j);
          // alpha == 0: the empty sum, so that an infinite alpha * sum cannot arise from what was not read
          c.value[at] = combine(depth == 0 ? 0 : alpha, lanes[r].high(j), lanes[r].low(j), beta, before);
          c.magnitude[at] = affine_magnitude<T>(alpha, lanes[r].magnitude[j], beta * before, depth);
          c.terms[at] = static_cast<std::int32_t>(depth + (alpha == T(1) ? 0 : 1) + (beta == T(0) ? 0 : 1));
        }
      }
    }
  }
}

template void oracle_dense_product<float>(float, const DenseView<const float, Space::host>&,
                                          const DenseView<const float, Space::host>&, float,
                                          const DenseView<float, Space::host>&, ReferenceArray&);
template void oracle_dense_product<double>(double, const DenseView<const double, Space::host>&,
                                           const DenseView<const double, Space::host>&, double,
                                           const DenseView<double, Space::host>&, ReferenceArray&);

}  // namespace plumb
