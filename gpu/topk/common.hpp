// What the rungs of the topk ladder share: names, and the order of elements. Header only.
#pragma once
#include "gpu/common/rung.hpp"
#include "reference/core/values.hpp"
#include "reference/ops/topk.hpp"

namespace plumb {
namespace topk {

template <class T>
using Problem = TopK::Problem<T>;
template <class T>
using In = TopK::In<T, Space::device>;
template <class T>
using Out = TopK::Out<T, Space::device>;

PLUMB_DEVICE std::uint32_t bits_of(float x) { return __float_as_uint(x); }
PLUMB_DEVICE std::uint64_t bits_of(double x) { return static_cast<std::uint64_t>(__double_as_longlong(x)); }

/// An element as an unsigned integer that orders as the answer does: the larger element has the larger key, NaN the largest there is. +0 is
/// above -0, one of the orders that the contract allows.
template <class E>
PLUMB_DEVICE auto key_of(E element) {
  const auto x = value(element);
  using Key = decltype(bits_of(x));
  constexpr Key kSign = Key(1) << (8 * sizeof(Key) - 1);
  const Key bits = bits_of(x);
  return x != x ? static_cast<Key>(~Key(0)) : static_cast<Key>((bits & kSign) != 0 ? ~bits : bits | kSign);
}
template <class E>
using key_t = decltype(key_of(E{}));

}  // namespace topk
}  // namespace plumb
