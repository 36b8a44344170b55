// Arrays that a thread has of its own: rewrite/own_arrays.py sends their indices through own_index(). They are often in registers, so no
// address of theirs may be taken for a check.
#pragma once
#include <cstddef>
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"

namespace plumb::simt {

/// Ends the run with a finding where a thread of a kernel is running.
void beside_own_array(const char* name, long long place, long long elements, Here here);

/// Elements of a whole array below its first `levels` dimensions.
template <class Array>
constexpr long long elements_below(unsigned levels) {
  if constexpr (std::is_array_v<Array>) {
    const long long below = elements_below<std::remove_extent_t<Array>>(levels == 0 ? 0 : levels - 1);
    return levels == 0 ? static_cast<long long>(std::extent_v<Array>) * below : below;
  } else {
    return 1;
  }
}

template <class... I>
constexpr auto last_of(I... i) {
  return (i, ...);
}

/// The last of `indices`, which are an operand's so far; in a kernel a trap where that place lies outside of the whole array, of type Array:
/// an index beyond one dimension alone is none. `Root` is the type of the variable that the operand begins with; `Past`: only the address of
/// the place is taken, which may be the one behind the last. `Unknown` dimensions stand before the indices that are given.
template <class Root, class Array, bool Past, unsigned Unknown, class... I>
[[gnu::always_inline]] constexpr auto own_index(Here here, const char* name, I... indices) {
  constexpr bool kOwn = std::is_object_v<Root> && !std::is_pointer_v<Root> && std::is_array_v<Array>;
  if constexpr (kOwn && (std::is_integral_v<I> && ...)) {
    constexpr long long kAll = elements_below<Array>(0);
    long long place = 0;
    unsigned level = Unknown;
    ((place += static_cast<long long>(indices) * elements_below<Array>(++level)), ...);
    const long long least = Unknown > 0 ? 1 - kAll : 0, most = Past ? kAll : kAll - 1;
    if (__builtin_expect(place < least || place > most, 0)) beside_own_array(name, place, kAll, here);
  }
  return last_of(indices...);
}

}  // namespace plumb::simt
