// The functions that -fsanitize=thread makes a compiler call at every access, in place of ThreadSanitizer's
// own runtime: that one knows threads and locks, not warps and barriers, and goes blind in large blocks. Also
// the two that -fsanitize=alignment calls. Compiled without instrumentation. Without Options::check an access
// passes at the price of a call; polling loops are broken up all the same.
#include <fmt/core.h>

#include <algorithm>
#include <new>

#include "gpu/simt/memory/quick.hpp"
#include "gpu/simt/state.hpp"

using plumb::simt::Access;
using plumb::simt::access;
using plumb::simt::among_arrays;
using plumb::simt::checking;
using plumb::simt::current;
using plumb::simt::locate;
using plumb::simt::Location;

namespace {

void checked(void* p, std::size_t bytes, Access kind, const void* pc) {
  if (checking() && bytes > 0) access(p, bytes, kind, locate(pc));
}

// Checked in place where that is possible. A function of its own: registers are saved here, and not for accesses that need no check.
template <std::size_t kBytes, bool kWrites>
[[gnu::noinline]] void checked_plain(void* p, const void* pc) {
  plumb::simt::Thread* const t = current().schedule.thread;
  const Location location = locate(pc);
  try {
    auto* const at = static_cast<unsigned char*>(p);
    if (t != nullptr && plumb::simt::access_quickly<kBytes, kWrites>(*t, at, location)) return;
  } catch (const std::bad_alloc&) {}  // access() comes to it, too, and ends the run
  access(p, kBytes, kWrites ? Access::write : Access::read, location);
}

template <std::size_t kBytes, bool kWrites>
[[gnu::always_inline]] inline void plain(void* p, const void* pc) {
  if (!checking()) return;
  const plumb::simt::Thread* const t = current().schedule.thread;
  if (t == nullptr ? !plumb::simt::is_watched(p, kWrites) : plumb::simt::on_own_stack(*t, p)) {
    // nearly all that host code does, and registers
    if (t != nullptr && t->registers != nullptr)
      checked(p, kBytes, kWrites ? Access::write : Access::read, pc);
    return;
  }
  checked_plain<kBytes, kWrites>(p, pc);
}

void volatile_read(void* p, std::size_t bytes, const void* pc) {
  plumb::simt::Thread* t = current().schedule.thread;
  if (t != nullptr && plumb::simt::polling(*t)) {
    t->waits_for = "a volatile read";
    t->here = {"", 0};
    t->polls = {static_cast<unsigned char*>(p), static_cast<std::uint32_t>(bytes), locate(pc)};
    plumb::simt::yield(true);
  }
  checked(p, bytes, Access::volatile_read, pc);
}

void volatile_write(void* p, std::size_t bytes, const void* pc) {
  checked(p, bytes, Access::volatile_write, pc);
  if (current().schedule.thread != nullptr) plumb::simt::progress();
}

// C++ atomics (std::atomic, __atomic builtins): a fence on the side the order asks for, then the access.
void before_atomic(volatile void* p, std::size_t bytes, Access kind, int order, const void* pc) {
  plumb::simt::Thread* t = current().schedule.thread;
  if (t == nullptr) return checked(const_cast<void*>(p), bytes, kind, pc);
  t->waits_for = "an atomic operation";
  t->here = {"", 0};
  t->polls = {static_cast<unsigned char*>(const_cast<void*>(p)), static_cast<std::uint32_t>(bytes),
              locate(pc)};
  const bool loads = kind == Access::atomic_load;
  if (!loads || plumb::simt::polling(*t)) plumb::simt::pause_by_chance(*t, loads);
  if (!checking()) return;
  const bool releases = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  if (order == __ATOMIC_SEQ_CST) plumb::simt::on_ordered_fence(*t, plumb::simt::Scope::device);
  if (releases && kind != Access::atomic_load) plumb::simt::on_release(*t);
  access(const_cast<void*>(p), bytes, kind, locate(pc));
  t->releasing = nullptr;
  const bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
  if (acquires && kind != Access::atomic_store) plumb::simt::on_acquire(*t);
}

}  // namespace

#define PLUMB_PC __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// A constructor's write of the pointer to the virtual functions, and a call's read of it.
void __tsan_vptr_read(void** p) { checked(p, sizeof *p, Access::read, PLUMB_PC); }
void __tsan_vptr_update(void** p, void*) { checked(p, sizeof *p, Access::write, PLUMB_PC); }

#define PLUMB_PLAIN(n)                                                                 \
  void __tsan_read##n(void* p) { plain<n, false>(p, PLUMB_PC); }                       \
  void __tsan_write##n(void* p) { plain<n, true>(p, PLUMB_PC); }                       \
  void __tsan_unaligned_read##n(void* p) { checked(p, n, Access::read, PLUMB_PC); }    \
  void __tsan_unaligned_write##n(void* p) { checked(p, n, Access::write, PLUMB_PC); }  \
  void __tsan_volatile_read##n(void* p) { volatile_read(p, n, PLUMB_PC); }             \
  void __tsan_volatile_write##n(void* p) { volatile_write(p, n, PLUMB_PC); }           \
  void __tsan_unaligned_volatile_read##n(void* p) { volatile_read(p, n, PLUMB_PC); }   \
  void __tsan_unaligned_volatile_write##n(void* p) { volatile_write(p, n, PLUMB_PC); } \
  void __tsan_read_write##n(void* p) {                                                 \
    checked(p, n, Access::read, PLUMB_PC);                                             \
    checked(p, n, Access::write, PLUMB_PC);                                            \
  }                                                                                    \
  void __tsan_unaligned_read_write##n(void* p) {                                       \
    checked(p, n, Access::read, PLUMB_PC);                                             \
    checked(p, n, Access::write, PLUMB_PC);                                            \
  }
PLUMB_PLAIN(1)
PLUMB_PLAIN(2)
PLUMB_PLAIN(4)
PLUMB_PLAIN(8)
PLUMB_PLAIN(16)
#undef PLUMB_PLAIN

void __tsan_read_range(void* p, std::size_t n) { checked(p, n, Access::read, PLUMB_PC); }
void __tsan_write_range(void* p, std::size_t n) { checked(p, n, Access::write, PLUMB_PC); }
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  checked(const_cast<void*>(from), n, Access::read, PLUMB_PC);
  checked(to, n, Access::write, PLUMB_PC);
  return __builtin_memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  checked(const_cast<void*>(from), n, Access::read, PLUMB_PC);
  checked(to, n, Access::write, PLUMB_PC);
  return __builtin_memmove(to, from, n);
}
void* __tsan_memset(void* to, int byte, std::size_t n) {
  checked(to, n, Access::write, PLUMB_PC);
  return __builtin_memset(to, byte, n);
}

// No compiler's instrumentation knows it: instrumented code calls it in place of memcmp and bcmp.
int plumb_simt_memcmp(const void* a, const void* b, std::size_t n) {
  checked(const_cast<void*>(a), n, Access::read, PLUMB_PC);
  checked(const_cast<void*>(b), n, Access::read, PLUMB_PC);
  return __builtin_memcmp(a, b, n);
}

#define PLUMB_ATOMIC(bits, T)                                                                                \
  T __tsan_atomic##bits##_load(const volatile T* p, int order) {                                             \
    before_atomic(const_cast<T*>(p), sizeof(T), Access::atomic_load, order, PLUMB_PC);                       \
    return *p;                                                                                               \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int order) {                                          \
    before_atomic(p, sizeof(T), Access::atomic_store, order, PLUMB_PC);                                      \
    *p = v;                                                                                                  \
    plumb::simt::progress();                                                                                 \
  }                                                                                                          \
  PLUMB_UPDATE(bits, T, exchange, atomic_exchange, v)                                                        \
  PLUMB_RMW(bits, T, fetch_add, static_cast<T>(old + v))                                                     \
  PLUMB_RMW(bits, T, fetch_sub, static_cast<T>(old - v))                                                     \
  PLUMB_RMW(bits, T, fetch_and, static_cast<T>(old & v))                                                     \
  PLUMB_RMW(bits, T, fetch_or, static_cast<T>(old | v))                                                      \
  PLUMB_RMW(bits, T, fetch_xor, static_cast<T>(old ^ v))                                                     \
  PLUMB_RMW(bits, T, fetch_nand, static_cast<T>(~(old & v)))                                                 \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T desired, int order, int) { \
    before_atomic(p, sizeof(T), Access::atomic_rmw, order, PLUMB_PC);                                        \
    if (*p == *expected) {                                                                                   \
      *p = desired;                                                                                          \
      plumb::simt::progress();                                                                               \
      return 1;                                                                                              \
    }                                                                                                        \
    *expected = *p;                                                                                          \
    plumb::simt::yield(true);                                                                                \
    return 0;                                                                                                \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T desired, int order,          \
                                                  int failure) {                                             \
    if (plumb::simt::fails_for_no_reason()) {                                                                \
      *expected = __tsan_atomic##bits##_load(p, failure);                                                    \
      return 0;                                                                                              \
    }                                                                                                        \
    return __tsan_atomic##bits##_compare_exchange_strong(p, expected, desired, order, failure);              \
  }                                                                                                          \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T desired, int order,              \
                                               int failure) {                                                \
    __tsan_atomic##bits##_compare_exchange_strong(p, &expected, desired, order, failure);                    \
    return expected;                                                                                         \
  }
#define PLUMB_RMW(bits, T, name, expression) PLUMB_UPDATE(bits, T, name, atomic_rmw, expression)
#define PLUMB_UPDATE(bits, T, name, kind, expression)             \
  T __tsan_atomic##bits##_##name(volatile T* p, T v, int order) { \
    before_atomic(p, sizeof(T), Access::kind, order, PLUMB_PC);   \
    const T old = *p;                                             \
    *p = expression;                                              \
    plumb::simt::progress();                                      \
    return old;                                                   \
  }
PLUMB_ATOMIC(8, unsigned char)
PLUMB_ATOMIC(16, unsigned short)
PLUMB_ATOMIC(32, unsigned)
PLUMB_ATOMIC(64, unsigned long long)
#undef PLUMB_ATOMIC
#undef PLUMB_RMW
#undef PLUMB_UPDATE

void __tsan_atomic_thread_fence(int order) {
  if (order == __ATOMIC_RELAXED) return;
  plumb::simt::fence(plumb::simt::Scope::device, order == __ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

// ---- -fsanitize=alignment: the compiler checks every access against the alignment of its type ----

struct PlumbUbsanPlace {
  const char* file;
  std::uint32_t line, column;
};
struct PlumbUbsanType {
  std::uint16_t kind, info;
  char name[1];
};
struct PlumbUbsanMismatch {
  PlumbUbsanPlace place;
  const PlumbUbsanType* type;
  unsigned char log_alignment;
  unsigned char kind;
};

void __ubsan_handle_type_mismatch_v1(PlumbUbsanMismatch* data, std::uintptr_t p) {
  plumb::simt::Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  // An object may ask for more, but no access of a device is wider than 16 bytes.
  const unsigned alignment = std::min(1u << data->log_alignment, 16u);
  if (p % alignment == 0) return;
  plumb::simt::note(plumb::simt::FindingKind::misaligned,
                    fmt::format("access as {} at an address that is no multiple of {} (remainder {})",
                                data->type->name, alignment, p % alignment),
                    t, locate({data->place.file, static_cast<int>(data->place.line)}));
  plumb::simt::stop();
}
void __ubsan_handle_type_mismatch_v1_abort(PlumbUbsanMismatch* data, std::uintptr_t p) {
  __ubsan_handle_type_mismatch_v1(data, p);
}

}  // extern "C"
