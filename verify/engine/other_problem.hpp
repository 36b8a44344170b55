// Other problems over the same arrays: what a variant keeps for one problem, by less than all that it depends on, is wrong for another.
#pragma once
#include <cmath>
#include <limits>
#include <utility>

#include "reference/ops/bias_relu.hpp"
#include "reference/ops/conv2d.hpp"
#include "reference/ops/gemm.hpp"
#include "reference/ops/gemv.hpp"
#include "reference/ops/reduce.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {

/// Makes of a problem another one, which has the same arrays of the same shapes and is exact where the first one is. False where there is
/// none: an operator has no problem beside its arrays, or this one would be the same again.
template <class P>
bool make_other(P&) {
  return false;
}

namespace detail {
/// Both factors negated.
template <class P>
bool negate_factors(P& p) {
  p.alpha = -p.alpha;
  if (p.beta != 0) p.beta = -p.beta;
  return p.alpha != 0 || p.beta != 0;
}
}  // namespace detail

template <class T>
bool make_other(Spmv::Problem<T>& p) {
  return detail::negate_factors(p);
}
template <class T>
bool make_other(Gemv::Problem<T>& p) {
  return detail::negate_factors(p);
}
template <class T>
bool make_other(Gemm::Problem<T>& p) {
  return detail::negate_factors(p);
}

/// The maximum for the sum, and the reverse.
template <class T>
bool make_other(Reduce::Problem<T>& p) {
  p.kind = p.kind == Reduce::Kind::sum ? Reduce::Kind::max : Reduce::Kind::sum;
  return true;
}

/// The bias negated, half the cap.
template <class T>
bool make_other(BiasRelu::Problem<T>& p) {
  const BiasRelu::Problem<T> before = p;
  p.bias = -p.bias, p.cap = p.cap / 2;
  return p.bias != before.bias || p.cap != before.cap;
}

/// Height and width exchanged, of images, filters, outputs, strides, pads and dilations.
template <class T>
bool make_other(Conv2d::Problem<T>& p) {
  const bool same = p.h == p.w && p.r == p.s && p.stride_h == p.stride_w && p.pad_h == p.pad_w &&
                    p.dilation_h == p.dilation_w;
  std::swap(p.h, p.w), std::swap(p.r, p.s), std::swap(p.oh, p.ow);
  std::swap(p.stride_h, p.stride_w), std::swap(p.pad_h, p.pad_w), std::swap(p.dilation_h, p.dilation_w);
  return !same;
}

/// Makes of a problem one with other numbers beside its arrays: alpha and beta, or a bias and a cap, which is infinite where the problem's
/// is not. False where it has none. A plan is not made for them (docs/contributing/variant.md).
template <class P>
bool make_other_numbers(P& p) {
  if constexpr (requires { p.alpha, p.beta; }) {
    const bool plain = p.alpha == 1 && p.beta == 0;
    p.alpha = plain ? 2 : 1, p.beta = plain ? -1 : 0;
    return true;
  } else if constexpr (requires { p.bias, p.cap; }) {
    p.bias = p.bias == 0 ? -1 : 0,
    p.cap = std::isfinite(p.cap) ? std::numeric_limits<decltype(p.cap)>::infinity() : 32;
    return true;
  }
  return false;
}

/// Makes of operands those of the problem without rows, which needs no other data: a plan for it must not take the place of one that is
/// in use. False where an operator has none.
template <class In, class Out>
bool make_rowless(In& in, Out& out) {
  if constexpr (requires { in.A.nnz; }) in.A.rows = in.A.nnz = 0;
  if constexpr (requires { in.A.nnz, out.y.size; }) out.y.size = 0;              // spmv
  if constexpr (requires { in.A.nnz, out.C.rows; }) out.C.rows = 0;              // spmm
  if constexpr (requires { in.A.nnz, out.s.size; }) in.X.rows = out.s.size = 0;  // sddmm
  return requires { in.A.nnz; };
}

}  // namespace plumb
