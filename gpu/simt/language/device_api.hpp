// What instrumented kernel code calls in the executor. Apart from executor.hpp because every kernel file
// includes this one, through the shim: declarations only, C++17.
#pragma once
#include <cstddef>

#include "gpu/simt/language/vector_types.hpp"
#include "reference/arithmetic/tensor_cores.hpp"

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
/// fence.mbarrier_init: orders initialisations of barriers before it, and nothing else.
void barrier_init_fence();
void object_barrier_invalidate(const void* object, Here here);
unsigned object_barrier_arrive(const void* key, int count, int expected, bool drop, Here here);
void object_barrier_wait(const void* key, unsigned phase, Here here);
/// Whether that phase is complete; with `may_wait` it usually waits until it is, and now and then, as on a device, does not.
bool object_barrier_test(const void* key, unsigned phase, bool may_wait, Here here);
/// The phase that is gathering arrivals waits for that many bytes of bulk copies more.
void object_barrier_expect(const void* object, int bytes, Here here);
/// A pointer for each thread of the group that `key` stands for, in the running block.
void** meeting_place(const void* key);
/// The phase that is gathering arrivals now.
unsigned object_barrier_phase(const void* key, Here here);
/// Binds the calling thread's asynchronous copies since the last commit to its next arrival at that barrier.
void object_barrier_copies(const void* key, Here here);
/// Arrives once all of the calling thread's asynchronous copies so far have landed; the barrier's count knows of that arrival, or
/// it is one more (not `counted`).
void object_barrier_copies_arrive(const void* object, bool counted, Here here);
/// Copies whole 16 bytes to shared memory in the background; the barrier's phase gets the bytes when they have landed.
void bulk_copy(void* shared_dst, const void* global_src, int bytes, const void* object, Here here);

/// An atomic access with C++ ordering, at a scope; the plain access itself follows, then atomic_end().
enum class Ordered : unsigned char { load, store, rmw, exchange };
void ordered_begin(const volatile void* p, std::size_t bytes, Ordered kind, Scope scope, bool release,
                   Here here);
void ordered_end(bool changed, bool acquire);

bool runs_in_kernel();
/// The same where a constant expression may ask, which counts as the host's.
constexpr bool in_kernel() { return __builtin_is_constant_evaluated() ? false : runs_in_kernel(); }

/// Whether an operation that may fail for no reason, as a weak compare-and-exchange, does so now.
bool fails_for_no_reason();

/// Computes all lanes' results at once: `in` and `out` hold 32 pointers, null for lanes outside `mask`.
using Combine = void (*)(unsigned mask, void* const* in, void* const* out);
/// Whether a meeting of lanes orders what each did before it with what the others do after it. __syncwarp does; shuffles, votes,
/// matches, reductions and products across a warp order no memory (docs/executor/memory-model.md).
enum class WarpOrder : bool { none, memory };
/// The rendezvous of every *_sync intrinsic: waits until all lanes of `mask` that have not exited are here.
void warp_exchange(unsigned mask, const char* name, Combine combine, void* in, void* out, Here here,
                   WarpOrder order = WarpOrder::none);
/// The lanes of the warp that stand at this very call, once no lane of it can run on.
unsigned active_mask(Here here);
/// Which of `count` threads a device elects, which may be any: by rank, and in one run always the same for one `key`.
unsigned elected_rank(unsigned count, unsigned key);
/// What lane `lane` gets of lane `source`, which takes no part in the exchange under way: whether the launch's results depend on it is
/// found out where that can be done (scheduler/undefined.hpp).
void undefined_value(void* out, std::size_t bytes, int lane, int source);

/// Sequentially consistent, as __threadfence() is, or acquire and release alone.
void fence(Scope scope, bool sequential = true);
/// griddepcontrol.wait: what the launch may begin beside has ended, and is known.
void wait_for_launches();
/// Before and after the plain code of an atomic operation; nothing runs in between.
/// `exchanges`: it does not need what was there. `expected`: what a compare-and-exchange compares with; null: it is none.
void atomic_begin(const volatile void* p, std::size_t bytes, Scope scope, Here here, bool exchanges = false,
                  const void* expected = nullptr);
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
/// Ends the launch, as a device refuses it: its blocks have more threads than the kernel's __launch_bounds__ allows.
void refuse_block(unsigned most_threads);
/// The same of a kernel that must be launched with blocks of that extent alone (PTX's .reqntid).
void refuse_other_block(dim3 required);
void* dynamic_shared();
unsigned shared_offset(const void* p);
void* shared_at(unsigned offset);
bool is_shared(const void* p);
/// The same, or in that of another block of the cluster.
bool is_cluster_shared(const void* p);

void async_copy(void* shared_dst, const void* global_src, int bytes, int valid, Here here);
void async_commit();
void async_wait(int pending);
void async_wait_all();

[[noreturn]] void trap(const char* what, Here here);
/// Stops a thread whose instruction sm_`first` was the first to have, where the chip under way is an older one.
void must_be_chip(int first, const char* instruction, Here here);
inline void must_be_hopper(const char* instruction, Here here) { must_be_chip(90, instruction, here); }
/// A kernel asks for what the executor does not have: a program ends with exit code 3, which is no finding. Elsewhere it is a trap.
[[noreturn]] void not_offered(const char* what, Here here);
/// Ends the calling thread of a kernel where it stands.
[[noreturn]] void exit_thread();

inline unsigned bits_of(float x) {
  unsigned b;
  __builtin_memcpy(&b, &x, sizeof b);
  return b;
}
inline unsigned long long bits_of(double x) {
  unsigned long long b;
  __builtin_memcpy(&b, &x, sizeof b);
  return b;
}
inline float from_bits(unsigned b) {
  float x;
  __builtin_memcpy(&x, &b, sizeof x);
  return x;
}
inline double from_bits(unsigned long long b) {
  double x;
  __builtin_memcpy(&x, &b, sizeof x);
  return x;
}

/// What an atomic addition of `v` leaves at `at`, where `old` was. PTX ISA, "atom" and "red": of .f32 in global memory subnormal
/// operands and results become zeros of their sign; in shared memory, and of other types, they do not.
template <class T>
PLUMB_SIMT_UNTRACKED T atomic_sum(const volatile void*, T old, T v) {
  return static_cast<T>(old + v);
}
PLUMB_SIMT_UNTRACKED inline float without_subnormal(float x) {
  const unsigned bits = bits_of(x);
  return (bits & 0x7f800000u) == 0 ? from_bits(bits & 0x80000000u) : x;
}
PLUMB_SIMT_UNTRACKED inline float atomic_sum(const volatile void* at, float old, float v) {
  if (is_cluster_shared(const_cast<const void*>(at))) return old + v;
  return without_subnormal(without_subnormal(old) + without_subnormal(v));
}

/// Notes that the calling thread's wmma call reads a fragment that nothing has set.
void uses_unset_fragment(const char* what, const char* which, Here here);
/// c(m x 8) += a(m x k) b(k x 8) for m = 8 or 16, fragments as in gpu/device/ptx/mma.hpp.
void mma_f64(double* c, const double* a, const double* b, int m, int k, Here here);
/// Elements of the operands of tensor cores' products, and of their sums.
enum class Element : unsigned char { tf32, f16, bf16, e4m3, e5m2, s8, u8 };
enum class Total : unsigned char { f32, f16, s32 };
/// What a product of tensor cores is of; neither integers nor their sums.
struct TensorForm {
  TensorInstruction instruction;
  Element a, b;
  Total total;
  int rows, columns, depth;
  bool negate = false;  // the products
};
/// sums(rows, columns) := sums + a(rows, depth) b(columns, depth), transposed, in the bits of the chip under way: codes of the elements, K contiguous,
/// those of tf32 as fp32. `sums` are fp32 numbers, which f16 ones are rounded to be. Columns are a multiple of 8.
void tensor_product(const TensorForm& form, const unsigned char* a, const unsigned char* b, float* sums);
/// c(16 x 8) += a(16 x depth) b(depth x 8), whose rows along K are of 16 or 32 bytes, in the PTX ISA's fragments of mma.sync. `c`: four floats,
/// or two pairs of half.
void mma(Element a_of, Element b_of, Total total, int depth, void* c, const unsigned* a, const unsigned* b,
         Here here);
/// ldmatrix: `count` 8 x 8 matrices of 16-bit elements, a row of 16 bytes from each address of the first 8 * count lanes.
void ldmatrix(unsigned* out, const void* row, int count, bool transposed, Here here);

/// warp_exchange of a whole warp, combined in place: `combine` sees 32 lanes, or it traps, since one has exited.
void whole_warp_exchange(const char* name, Combine combine, void* in, Here here,
                         WarpOrder order = WarpOrder::none);
/// An access that the executor makes for the calling thread, of at most 16 bytes, aligned to `alignment`; the copy itself is the
/// caller's.
void access_for(const char* what, const void* p, std::size_t bytes, std::size_t alignment, bool writes,
                Here here);

/// A launch written as kernel<<<...>>>(...): `body` calls the kernel with its arguments on the calling
/// thread.
void launch_written(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, void* stream,
                    void (*body)(void*), void* closure, std::size_t closure_bytes, Here here);

template <class T>
struct same {
  using type = T;
};
template <class T>
using same_t = typename same<T>::type;  // a parameter that converts instead of deducing

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
  /// The launch of one function: what it is called with becomes what the parameters are, as in any call (NULL, 0, {1, 2}).
  template <class... P>
  struct Of {
    const Written& launch;
    void (*kernel)(P...);
    void operator()(same_t<P>... arguments) const {
      launch([kernel = kernel, arguments...] { kernel(arguments...); });
    }
  };
  template <class... P>
  Of<P...> of(void (*kernel)(P...)) const {
    return {*this, kernel};
  }
};

/// Bytes of nothing behind an array of the device that rewrite.py puts between gaps.
constexpr std::size_t kVariableGap = 64;
/// Makes a variable of the device known from the program's start; rewrite.py writes one behind each declaration.
struct DeviceVariable {
  DeviceVariable(const char* name, const volatile void* data, std::size_t bytes, bool constant, bool gap);
};

}  // namespace plumb::simt
