// The end of a row of spmv: alpha and beta applied to its sum. All of our variants use it.
#pragma once
#include "reference/core/values.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace spmv {

/// alpha sum; 0 where alpha is 0, whatever the sum is: NaN in A or x then has no effect.
template <class T>
scalar_t<T> scaled(const Spmv::Problem<T>& p, scalar_t<T> sum) {
  return p.alpha == scalar_t<T>(0) ? scalar_t<T>(0) : p.alpha * sum;
}

/// y = alpha sum + beta y; y is not read where beta is 0.
template <class T>
void finish_row(const Spmv::Problem<T>& p, scalar_t<T> sum, out_t<T>& y) {
  using V = scalar_t<T>;
  y = stored<out_t<T>>(p.beta == V(0) ? scaled<T>(p, sum) : scaled<T>(p, sum) + p.beta * value(y));
}

}  // namespace spmv
}  // namespace plumb
