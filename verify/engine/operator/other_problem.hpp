// Other problems over the same arrays: what a variant keeps for one problem, by less than all that it depends on, is wrong for another.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace plumb {

/// Every number of a problem.
template <class Op, class P>
std::vector<double> numbers_of(P& problem) {
  std::vector<double> numbers;
  Op::each_scalar(problem, [&](const char*, const auto& v) { numbers.push_back(static_cast<double>(v)); });
  return numbers;
}

/// What became of a problem: there is no n-th neighbour and none behind it; it is the same again; it is another one.
enum class Other : std::uint8_t { no_more, same, another };

/// Makes of a problem its n-th neighbour: another one over the same arrays of the same shapes, exact where this one is. The contract has a
/// list (make_other), or its factors give one: all of them negated, then each alone negated, 1 and 0.
template <class Op, class P>
Other make_other_problem(P& problem, int n) {
  const std::vector<double> before = numbers_of<Op>(problem);
  if constexpr (requires { Op::make_other(problem, n); }) {
    if (!Op::make_other(problem, n)) return Other::no_more;
  } else {
    int factors = 0;
    Op::each_scalar(problem, [&](const char*, auto& v) {
      if constexpr (std::is_floating_point_v<std::remove_reference_t<decltype(v)>>) {
        const int what = n == 0 ? 0 : (n - 1) / 3 == factors ? (n - 1) % 3 : -1;
        ++factors;
        if (what < 0 || v == 0)
          return;  // what -0 is to 0 no answer shows; outputs without contents are not read
        v = what == 0 ? -v : what == 1 ? 1 : 0;
      }
    });
    if (n > 3 * factors || factors == 0) return Other::no_more;
  }
  return before == numbers_of<Op>(problem) ? Other::same : Other::another;
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
