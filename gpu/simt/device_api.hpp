// What instrumented kernel code calls in the executor. Apart from executor.hpp because every kernel file
// includes this one, through the shim: declarations only, C++17.
#pragma once
#include <cstddef>
#include <cstring>

#include "gpu/simt/vector_types.hpp"

/// Not instrumented, and never inlined into a function that is: the compiler keeps the two apart.
#define PLUMB_SIMT_UNTRACKED __attribute__((no_sanitize("thread")))
/// Last parameter of every operation the executor sees: where the kernel called it.
#define PLUMB_SIMT_HERE ::plumb::simt::Here here = ::plumb::simt::Here::at()

namespace plumb::simt {

/// A place in a kernel's source.
struct Here {
  const char* file;
  int line;
  static constexpr Here at(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
};

// Pure in the fiber that calls them: a thread's indices never change, so the compiler may keep them across
// barriers.
__attribute__((const)) uint3 thread_index() noexcept;
__attribute__((const)) uint3 block_index() noexcept;
__attribute__((const)) uint3 block_extent() noexcept;
__attribute__((const)) uint3 grid_extent() noexcept;

enum class Scope : unsigned char { block, device };
enum class Vote : unsigned char { none, count, all, any };
/// __syncthreads and its voting kin. Traps where threads stand at different barriers or have exited.
int block_barrier(Vote vote, int predicate, Here here);
/// bar.sync (wait) or bar.arrive on barrier `id` of the block, completed by `threads` arrivals.
void named_barrier(int id, int threads, bool wait, Here here);
/// Waits for the whole grid; needs a cooperative launch.
void grid_barrier(Here here);

/// Barriers that live in shared memory (cuda::barrier), or stand for a group of threads (a key that is no object): they are
/// initialised with a count, arrived at, and waited for by phase. With `expected` > 0 the first to arrive initialises it.
void object_barrier_init(void* object, int expected, Here here);
unsigned object_barrier_arrive(const void* key, int count, int expected, bool drop, Here here);
void object_barrier_wait(const void* key, unsigned phase, Here here);
/// A pointer for each thread of the group that `key` stands for, in the running block.
void** meeting_place(const void* key);
/// The phase that is gathering arrivals now.
unsigned object_barrier_phase(const void* key, Here here);
/// Binds the calling thread's asynchronous copies since the last commit to its next arrival at that barrier.
void object_barrier_copies(const void* key, Here here);

/// An atomic access with C++ ordering, at a scope; the plain access itself follows, then atomic_end().
enum class Ordered : unsigned char { load, store, rmw };
void ordered_begin(const volatile void* p, std::size_t bytes, Ordered kind, Scope scope, bool release,
                   Here here);
void ordered_end(bool changed, Scope scope, bool acquire);

/// Computes all lanes' results at once: `in` and `out` hold 32 pointers, null for lanes outside `mask`.
using Combine = void (*)(unsigned mask, void* const* in, void* const* out);
/// The rendezvous of every *_sync intrinsic: waits until all lanes of `mask` that have not exited are here.
void warp_exchange(unsigned mask, const char* name, Combine combine, void* in, void* out, Here here);
/// The lanes of the warp that stand at this very call, once no lane of it can run on.
unsigned active_mask(Here here);
unsigned present(unsigned mask);  // the lanes of `mask` that have not exited
void poison_value(void* out, std::size_t bytes);

void fence(Scope scope);
/// Before and after the plain code of an atomic operation; nothing runs in between.
void atomic_begin(const volatile void* p, std::size_t bytes, Scope scope, Here here);
void atomic_end(bool changed);
void pause();  // lets others run
long long clock_ticks();

/// A statically declared __shared__ variable: one per declaration and template instance, placed anew in every
/// block.
class SharedSlot {
 public:
  constexpr explicit SharedSlot(const char* name) : name_(name) {}
  /// Its address in the running block; outside of any kernel, one that every block then reserves.
  void* address(std::size_t bytes, std::size_t alignment);

 private:
  const char* name_;
  void* address_ = nullptr;
  unsigned long long block_ = 0;  // serial number of the block that address_ belongs to
};
void* dynamic_shared();
unsigned shared_offset(const void* p);
void* shared_at(unsigned offset);
bool is_shared(const void* p);

void async_copy(void* shared_dst, const void* global_src, int bytes, int valid, Here here);
void async_commit();
void async_wait(int pending);
void async_wait_all();

[[noreturn]] void trap(const char* what, Here here);

inline unsigned bits_of(float x) {
  unsigned b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
inline unsigned long long bits_of(double x) {
  unsigned long long b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}
inline float from_bits(unsigned b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}
inline double from_bits(unsigned long long b) {
  double x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

void mma_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], Here here);
/// c(m x 8) += a(m x k) b(k x 8) for m = 8 or 16, fragments as in gpu/runtime/mma.hpp.
void mma_f64(double* c, const double* a, const double* b, int m, int k, Here here);

/// A launch written as kernel<<<...>>>(...): `body` calls the kernel with its arguments on the calling
/// thread.
void launch_written(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, void* stream,
                    void (*body)(void*), void* closure, std::size_t closure_bytes, Here here);

/// What rewrite.py makes of kernel<<<grid, block, shared, stream>>>: an object that is called with the
/// arguments.
struct Written {
  const char* name;
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
  Here here;
  Written(const char* n, Here h, dim3 g, dim3 b, std::size_t s = 0, void* t = nullptr)
      : name(n), grid(g), block(b), shared_bytes(s), stream(t), here(h) {}
  template <class F>
  void operator()(F body) const {
    launch_written(
        name, grid, block, shared_bytes, stream, [](void* f) { (*static_cast<F*>(f))(); }, &body, sizeof body,
        here);
  }
};

}  // namespace plumb::simt
