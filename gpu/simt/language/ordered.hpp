// Atomic accesses with C++'s memory orders, at a scope: what libcu++'s atomics and __nv_atomic_... are made of.
#pragma once
#include <cstring>
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"

namespace plumb::simt {

// C++'s numbers of memory orders, which CUDA's are, too.
constexpr int kRelaxed = 0, kRelease = 3, kSequential = 5;
constexpr bool releases(int order) { return order >= kRelease; }
constexpr bool acquires(int order) { return order != kRelaxed && order != kRelease; }

/// Accesses to `*p`. `Order` is a type with those numbers.
template <class T, class Order>
class OrderedRef {
 public:
  OrderedRef(T* p, Scope scope) : p_(p), scope_(scope) {}

  PLUMB_SIMT_UNTRACKED T load(Order order = sequential, PLUMB_SIMT_HERE) const {
    fence_before(order);
    ordered_begin(p_, sizeof(T), Ordered::load, scope_, false, here);
    const T v = *p_;
    ordered_end(false, acquires(static_cast<int>(order)));
    return v;
  }
  PLUMB_SIMT_UNTRACKED void store(T v, Order order = sequential, PLUMB_SIMT_HERE) const {
    fence_before(order);
    ordered_begin(p_, sizeof(T), Ordered::store, scope_, releases(static_cast<int>(order)), here);
    *p_ = v;
    ordered_end(true, false);
  }
  PLUMB_SIMT_UNTRACKED bool compare_exchange_strong(T& expected, T desired, Order order = sequential,
                                                    Order = relaxed, PLUMB_SIMT_HERE) const {
    fence_before(order);
    ordered_begin(p_, sizeof(T), Ordered::rmw, scope_, releases(static_cast<int>(order)), here);
    const T old = *p_;
    const bool hit = __builtin_memcmp(&old, &expected, sizeof(T)) == 0;
    if (hit) {
      *p_ = desired;
    } else {
      expected = old;
    }
    ordered_end(hit, acquires(static_cast<int>(order)));
    return hit;
  }
  bool compare_exchange_weak(T& expected, T desired, Order order = sequential, Order failure = relaxed,
                             PLUMB_SIMT_HERE) const {
    if (fails_for_no_reason()) {
      expected = load(failure, here);
      return false;
    }
    return compare_exchange_strong(expected, desired, order, failure, here);
  }
#define PLUMB_SIMT_UPDATE(name, kind, expression)                                                 \
  PLUMB_SIMT_UNTRACKED T name(T v, Order order = sequential, PLUMB_SIMT_HERE) const {             \
    fence_before(order);                                                                          \
    ordered_begin(p_, sizeof(T), Ordered::kind, scope_, releases(static_cast<int>(order)), here); \
    const T old = *p_;                                                                            \
    const T now = expression;                                                                     \
    *p_ = now;                                                                                    \
    ordered_end(__builtin_memcmp(&old, &now, sizeof(T)) != 0, acquires(static_cast<int>(order))); \
    return old;                                                                                   \
  }
#define PLUMB_SIMT_FETCH(name, expression) PLUMB_SIMT_UPDATE(name, rmw, expression)
  PLUMB_SIMT_UPDATE(exchange, exchange, v)
  PLUMB_SIMT_FETCH(fetch_add, atomic_sum(p_, old, v))
  PLUMB_SIMT_FETCH(fetch_sub, difference(p_, old, v))
  PLUMB_SIMT_FETCH(fetch_and, static_cast<T>(old& v))
  PLUMB_SIMT_FETCH(fetch_or, static_cast<T>(old | v))
  PLUMB_SIMT_FETCH(fetch_xor, static_cast<T>(old ^ v))
  PLUMB_SIMT_FETCH(fetch_min, v < old ? v : old)
  PLUMB_SIMT_FETCH(fetch_max, old < v ? v : old)
#undef PLUMB_SIMT_FETCH
#undef PLUMB_SIMT_UPDATE
  /// Until the value is another one; the executor lets others run meanwhile, so that there is nobody to notify.
  void wait(T old, Order order = sequential, PLUMB_SIMT_HERE) const {
    while (load(order, here) == old) pause();
  }
  void notify_one() const {}
  void notify_all() const {}
  T operator++(int) const { return fetch_add(T{1}); }
  T operator++() const { return static_cast<T>(fetch_add(T{1}) + 1); }
  T operator--(int) const { return fetch_sub(T{1}); }
  T operator--() const { return static_cast<T>(fetch_sub(T{1}) - 1); }
  T operator+=(T v) const { return static_cast<T>(fetch_add(v) + v); }
  T operator-=(T v) const { return static_cast<T>(fetch_sub(v) - v); }
  T operator&=(T v) const { return static_cast<T>(fetch_and(v) & v); }
  T operator|=(T v) const { return static_cast<T>(fetch_or(v) | v); }
  T operator^=(T v) const { return static_cast<T>(fetch_xor(v) ^ v); }
  operator T() const { return load(); }

 protected:
  static constexpr Order relaxed = Order{}, sequential = static_cast<Order>(kSequential);

 private:
  // A sequentially consistent access is a fence.sc before one with acquire and release.
  PLUMB_SIMT_UNTRACKED void fence_before(Order order) const {
    if (order == sequential) fence(scope_);
  }
  // Of floats the addition of what is negated; of integers plain, so that unsigned ones wrap.
  PLUMB_SIMT_UNTRACKED static T difference(const T* p, T old, T v) {
    if constexpr (std::is_floating_point<T>::value) return atomic_sum(p, old, static_cast<T>(-v));
    return static_cast<T>(old - v);
  }

  T* p_;
  Scope scope_;
};

}  // namespace plumb::simt
