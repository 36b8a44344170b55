// Scopes and memory orders of libcu++, for the CPU executor's stand-ins of its headers.
#pragma once
#include <utility>

#include "gpu/simt/language/shim.hpp"

namespace cuda {

enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10
};

namespace std {
enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
using namespace ::std;  // what libcu++ repeats of it; the names above hide the host's own
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

constexpr ::plumb::simt::Scope executor_scope(thread_scope s) {
  return s == thread_scope_block || s == thread_scope_thread ? ::plumb::simt::Scope::block
                                                             : ::plumb::simt::Scope::device;
}

}  // namespace cuda
