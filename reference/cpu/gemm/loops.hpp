// What gemm's loop orders share: the scaling of C, what alpha == 0 leaves to sum, and how long a loop order
// may take.
#pragma once
#include "reference/core/values.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {

/// C = beta C in rows [begin, end); zeros where beta == 0, without reading C.
template <class E, class V>
void scale_rows(const DenseView<E, Space::host>& C, V beta, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t j = 0; j < C.cols; ++j)
      C(i, j) = stored<E>(beta == V(0) ? V(0) : beta * value(C(i, j)));
  }
}

/// c = alpha sum + beta c, n elements; where beta == 0 without reading c.
template <class E, class V>
void write_scaled(E* c, const V* sum, std::int64_t n, V alpha, V beta) {
  if (beta == V(0)) {
    for (std::int64_t l = 0; l < n; ++l) c[l] = stored<E>(alpha * sum[l]);
  } else {
    for (std::int64_t l = 0; l < n; ++l) c[l] = stored<E>(alpha * sum[l] + beta * value(c[l]));
  }
}

/// Number of terms to sum: none where alpha == 0, so that neither A nor B is read.
template <class T>
std::int64_t depth_of(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in) {
  return p.alpha == scalar_t<T>(0) ? 0 : in.A.cols;
}

template <class T>
double products(const Gemm::In<T, Space::host>& in) {
  return static_cast<double>(in.A.rows) * static_cast<double>(in.A.cols) * static_cast<double>(in.B.cols);
}

/// The supports() of serial orders, of parallel orders that walk down columns, and of those that walk along
/// rows: each is judged up to the size it takes about ten seconds for.
template <class T>
const char* one_core(const Gemm::Problem<T>&, const Gemm::In<T, Space::host>& in,
                     const Gemm::Out<T, Space::host>&) {
  return products(in) > 0x1p31 ? "a serial loop order is run up to 2^31 products: more would take minutes"
                               : nullptr;
}
template <class T>
const char* by_columns(const Gemm::Problem<T>&, const Gemm::In<T, Space::host>& in,
                       const Gemm::Out<T, Space::host>&) {
  return products(in) > 0x1p32 ? "a loop down columns is run up to 2^32 products: more would take minutes"
                               : nullptr;
}
template <class T>
const char* by_rows(const Gemm::Problem<T>&, const Gemm::In<T, Space::host>& in,
                    const Gemm::Out<T, Space::host>&) {
  return products(in) > 0x1p36
             ? "an unblocked loop along rows is run up to 2^36 products: more would take minutes"
             : nullptr;
}

}  // namespace plumb
