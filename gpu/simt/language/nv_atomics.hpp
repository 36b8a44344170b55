// The compiler's own atomic functions (nvcc 12.8 and later): __nv_atomic_... with an order and a scope.
#pragma once
#include "gpu/simt/language/ordered.hpp"

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

namespace plumb::simt {
constexpr Scope nv_scope(int scope) {
  return scope <= __NV_THREAD_SCOPE_BLOCK ? Scope::block : Scope::device;
}
template <class T>
OrderedRef<T, int> nv_ref(T* p, int scope) {
  return {p, nv_scope(scope)};
}
}  // namespace plumb::simt

template <class T>
T __nv_atomic_load_n(T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, PLUMB_SIMT_HERE) {
  return ::plumb::simt::nv_ref(p, scope).load(order, here);
}
template <class T>
void __nv_atomic_load(T* p, T* out, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, PLUMB_SIMT_HERE) {
  *out = __nv_atomic_load_n(p, order, scope, here);
}
template <class T>
void __nv_atomic_store_n(T* p, ::plumb::simt::same_t<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                         PLUMB_SIMT_HERE) {
  ::plumb::simt::nv_ref(p, scope).store(v, order, here);
}
template <class T>
void __nv_atomic_store(T* p, T* v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, PLUMB_SIMT_HERE) {
  __nv_atomic_store_n(p, *v, order, scope, here);
}
template <class T>
T __nv_atomic_exchange_n(T* p, ::plumb::simt::same_t<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                         PLUMB_SIMT_HERE) {
  return ::plumb::simt::nv_ref(p, scope).exchange(v, order, here);
}
template <class T>
void __nv_atomic_exchange(T* p, T* v, T* out, int order, int scope = __NV_THREAD_SCOPE_SYSTEM,
                          PLUMB_SIMT_HERE) {
  *out = __nv_atomic_exchange_n(p, *v, order, scope, here);
}
template <class T>
bool __nv_atomic_compare_exchange_n(T* p, T* expected, ::plumb::simt::same_t<T> desired, bool weak,
                                    int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM,
                                    PLUMB_SIMT_HERE) {
  const auto ref = ::plumb::simt::nv_ref(p, scope);
  return weak ? ref.compare_exchange_weak(*expected, desired, success, failure, here)
              : ref.compare_exchange_strong(*expected, desired, success, failure, here);
}
template <class T>
bool __nv_atomic_compare_exchange(T* p, T* expected, T* desired, bool weak, int success, int failure,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM, PLUMB_SIMT_HERE) {
  return __nv_atomic_compare_exchange_n(p, expected, *desired, weak, success, failure, scope, here);
}
#define PLUMB_SIMT_NV_ATOMIC(name)                                                                           \
  template <class T>                                                                                         \
  T __nv_atomic_fetch_##name(T* p, ::plumb::simt::same_t<T> v, int order,                                    \
                             int scope = __NV_THREAD_SCOPE_SYSTEM, PLUMB_SIMT_HERE) {                        \
    return ::plumb::simt::nv_ref(p, scope).fetch_##name(v, order, here);                                     \
  }                                                                                                          \
  template <class T>                                                                                         \
  void __nv_atomic_##name(T* p, ::plumb::simt::same_t<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM, \
                          PLUMB_SIMT_HERE) {                                                                 \
    __nv_atomic_fetch_##name(p, v, order, scope, here);                                                      \
  }
PLUMB_SIMT_NV_ATOMIC(add)
PLUMB_SIMT_NV_ATOMIC(sub)
PLUMB_SIMT_NV_ATOMIC(and)
PLUMB_SIMT_NV_ATOMIC(or)
PLUMB_SIMT_NV_ATOMIC(xor)
PLUMB_SIMT_NV_ATOMIC(min)
PLUMB_SIMT_NV_ATOMIC(max)
#undef PLUMB_SIMT_NV_ATOMIC
inline void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED)
    ::plumb::simt::fence(::plumb::simt::nv_scope(scope), order == __NV_ATOMIC_SEQ_CST);
}
