// What a kernel author needs to know of Plumbline: views, the context of a run, and how a variant registers.
// Stands apart from operator.hpp because every kernel includes it: C++17, no standard library beyond <cstdint>, cheap for nvcc.
#pragma once
#include <cstdint>

#if defined(__CUDACC__)
#define PLUMB_DEVICE __device__ __forceinline__
#define PLUMB_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define PLUMB_DEVICE inline
#define PLUMB_HOST_DEVICE inline
#endif

#if !defined(PLUMB_ORIGIN)  // the build sets it to "user" for a user's own kernels
#define PLUMB_ORIGIN ""
#endif

namespace plumb {

/// Whose memory a view points into.
enum class Space : std::uint8_t { host, device };

/// Contiguous vector. Host views index on the host; device views index only inside device code.
template <class T, Space S>
struct VecView {
  T* data = nullptr;
  std::int64_t size = 0;  // elements
  PLUMB_HOST_DEVICE T& operator[](std::int64_t i) const { return data[i]; }
};

/// Row-major matrix, element (i, j) at data[i * ld + j]; ld >= cols.
template <class T, Space S>
struct DenseView {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 0;  // elements
  PLUMB_HOST_DEVICE T& operator()(std::int64_t i, std::int64_t j) const { return data[i * ld + j]; }
};

/// Compressed sparse rows: zero-based, int32 indices; row i holds entries [row_ptr[i], row_ptr[i+1]).
template <class T, Space S>
struct CsrView {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  const std::int32_t* row_ptr = nullptr;  // (rows + 1)
  const std::int32_t* col = nullptr;      // (nnz)
  T* val = nullptr;                       // (nnz)
};

// Host use of device memory does not compile: a device view indexes only in device code.
template <class T>
struct VecView<T, Space::device> {
  T* data = nullptr;
  std::int64_t size = 0;
#if defined(__CUDACC__)
  PLUMB_DEVICE T& operator[](std::int64_t i) const { return data[i]; }
#endif
};
template <class T>
struct DenseView<T, Space::device> {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 0;
#if defined(__CUDACC__)
  PLUMB_DEVICE T& operator()(std::int64_t i, std::int64_t j) const { return data[i * ld + j]; }
#endif
};

/// What a variant computes with. The bound follows from it; an undeclared reduction fails.
enum class Arithmetic : std::uint8_t {
  native,       // the operator's own type, any order of summation
  pairwise,     // own type, pairwise order: the tighter log2(n) bound applies
  compensated,  // own type, Kahan or Neumaier: error independent of n to first order
  doubled,      // twice the working precision (double-double, or fp64 sums of fp32), rounded once
  tf32,         // operands rounded to 11 bits, fp32 sums
  tf32x3,       // error-corrected tf32: three products, within the fp32 bound
  bf16,         // operands rounded to 8 bits, fp32 sums
  fp16,         // operands rounded to 11 bits with fp16 range, fp32 sums
  winograd,  // own type, minimal filtering F(2x2, 3x3): errors grow with the terms of the transform, not of the sum
  flushed,  // own type, any order; additions flush subnormals to 0, as fp32 atomicAdd in global memory does
  by_lse,  // own type; log_softmax as x - (max + log sum): one number per row, whose rounding every element has
};

/// What a variant promises and needs. Chain the setters: Traits{}.not_reproducible().align(16).
struct Traits {
  Arithmetic arithmetic = Arithmetic::native;
  bool reproducible = true;    // same input, same layout: same bits. The claim is tested.
  std::int32_t alignment = 0;  // bytes every base pointer and ld must be a multiple of; 0: the element size
  std::int32_t min_sm = 0;     // compute capability * 10; 0: any
  bool finite_only =
      false;  // does not promise NaN and infinities as the contract has them: hostile cases are `unsupported`
  bool library =
      false;  // calls a vendor's library: a yardstick, not one of ours; its kernels carry no source lines
  constexpr Traits computes_in(Arithmetic a) const {
    Traits t = *this;
    t.arithmetic = a;
    return t;
  }
  constexpr Traits not_reproducible() const {
    Traits t = *this;
    t.reproducible = false;
    return t;
  }
  constexpr Traits align(std::int32_t bytes) const {
    Traits t = *this;
    t.alignment = bytes;
    return t;
  }
  constexpr Traits for_finite_inputs() const {
    Traits t = *this;
    t.finite_only = true;
    return t;
  }
  constexpr Traits flushes_subnormals() const { return computes_in(Arithmetic::flushed); }
  constexpr Traits of_library() const {
    Traits t = *this;
    t.library = true;
    return t;
  }
  constexpr Traits needs_sm(std::int32_t sm) const {
    Traits t = *this;
    t.min_sm = sm;
    return t;
  }
};

/// More runs of a plan than any preparation takes to pay: Context::uses.
constexpr std::int64_t kManyUses = INT64_MAX;

/// Handed to every call of a variant.
struct Context {
  void* stream = nullptr;  // cudaStream_t on a device, null on the host: launch here and nowhere else
  void* plan = nullptr;    // what the variant's prepare() returned; a run may have other scalars and vectors
  /// Poisoned, guarded workspace of `bytes`, 256-byte aligned, in the variant's space; freed by the engine. Never null.
  void* workspace(std::int64_t bytes) { return allocate(*this, bytes); }
  /// Says in the report what an adaptive variant chose, and why. The text is copied.
  void explain(const char* text) {
    if (say != nullptr) say(*this, text);
  }
  /// Says in prepare() that it took over what an earlier plan measured in so many seconds: they count as this plan's too.
  void count_as_preparation(double seconds) {
    if (spend != nullptr) spend(*this, seconds);
  }

  void* (*allocate)(Context&, std::int64_t bytes) = nullptr;
  void (*say)(Context&, const char* text) = nullptr;
  void* owner = nullptr;  // the engine's
  /// How many runs the caller expects of one plan, so that prepare() takes no more time than they pay back; kManyUses: that time does not
  /// count; 0: the caller does not say. A hint: what is computed depends on it by rounding alone.
  std::int64_t uses = 0;
  void (*spend)(Context&, double seconds) = nullptr;
};

/// One implementation of an operator, in one type and one space. Static storage, linked into variants<Op, T, S>.
template <class Op, class T, Space S>
struct Variant {
  using Problem = typename Op::template Problem<T>;
  using In = typename Op::template In<T, S>;
  using Out = typename Op::template Out<T, S>;
  using Run = void (*)(const Problem&, const In&, const Out&, Context&);
  using Supports = const char* (*)(const Problem&, const In&,
                                   const Out&);  // null: yes; else the reason why not
  using Prepare = void* (*)(const Problem&, const In&, const Out&, Context&);  // analysis, timed apart
  using Release = void (*)(void* plan);

  const char* name;  // the file's name without its ending: "03_merge_path"
  Run run;
  Traits traits;
  Supports supports = nullptr;
  Prepare prepare = nullptr;
  Release release = nullptr;
  const char* origin = "";  // "user" for kernels of PLUMB_EXTRA_KERNELS; else the room says cpu or gpu
  Variant* next = nullptr;
};

/// Head of the list of registered variants; constant-initialised, so registrars may run in any order before main.
template <class Op, class T, Space S>
inline Variant<Op, T, S>* variants = nullptr;

/// A variant file ends in one of these per type:
///   const Register<Spmv, float, Space::host> f32{"01_row_static", run<float>};
/// Neither allocates nor touches CUDA. `name` must equal the file's name: CMake's manifest is compared with it.
template <class Op, class T, Space S>
class Register {
 public:
  using V = Variant<Op, T, S>;
  Register(const char* name, typename V::Run run, Traits traits = {}, typename V::Supports supports = nullptr,
           typename V::Prepare prepare = nullptr, typename V::Release release = nullptr,
           const char* origin = PLUMB_ORIGIN)
      : variant_{name, run, traits, supports, prepare, release, origin, variants<Op, T, S>} {
    variants<Op, T, S> = &variant_;
  }
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;

 private:
  V variant_;
};

// Host-side companions of a contract, complete in operator.hpp; named here so that a contract stays lean.
struct Case;
class CaseList;
class CaseSpace;
struct Cost;
struct Reference;
struct Tolerance;
template <class Op, class T>
struct Instance;

}  // namespace plumb
