// The end of a row of spmv: alpha and beta applied to its sum. All of our variants use it.
#pragma once
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace spmv {

/// alpha sum; 0 where alpha is 0, whatever the sum is: NaN in A or x then has no effect.
template <class T>
T scaled(const Spmv::Problem<T>& p, T sum) {
  return p.alpha == T(0) ? T(0) : p.alpha * sum;
}

/// y = alpha sum + beta y; y is not read where beta is 0.
template <class T>
void finish_row(const Spmv::Problem<T>& p, T sum, T& y) {
  y = p.beta == T(0) ? scaled(p, sum) : scaled(p, sum) + p.beta * y;
}

}  // namespace spmv
}  // namespace plumb
