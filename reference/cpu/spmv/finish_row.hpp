// How a row of spmv ends: what alpha and beta make of its sum. Apart from the variants because all of ours end alike.
#pragma once
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace spmv {

/// alpha sum; 0 where alpha is 0, whatever the sum: NaN in A or x does not count then.
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
