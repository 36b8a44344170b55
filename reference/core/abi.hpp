// What a kernel author needs to know of Plumbline: views, the context of a run, and how a variant registers.
// Stands apart from operator.hpp because every kernel includes it: C++17, no standard library beyond <cstdint>, cheap for nvcc.
#pragma once
#include <cstdint>

#include "reference/core/dtype.hpp"

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

/// What a kernel's type argument T stands for in a contract: how inputs, outputs and scalars are stored. For float and double all are T; for
/// f16, bf16, e4m3 and e5m2 inputs and outputs are T, and scalars float.
template <class T>
struct Stored {
  using In = T;
  using Out = T;
  using Scalar = float;
};
template <>
struct Stored<double> {
  using In = double;
  using Out = double;
  using Scalar = double;
};
/// Inputs of one type, outputs of another: f16_f32 is the type of that name in a case's id.
template <class I, class O>
struct Mixed {};
template <class I, class O>
struct Stored<Mixed<I, O>> {
  using In = I;
  using Out = O;
  using Scalar = float;
};
using f16_f32 = Mixed<f16, float>;
using bf16_f32 = Mixed<bf16, float>;
using e4m3_f16 = Mixed<e4m3, f16>;
using e4m3_bf16 = Mixed<e4m3, bf16>;
using e4m3_f32 = Mixed<e4m3, float>;
using e5m2_f16 = Mixed<e5m2, f16>;
using e5m2_bf16 = Mixed<e5m2, bf16>;
using e5m2_f32 = Mixed<e5m2, float>;
template <class T>
using in_t = typename Stored<T>::In;
template <class T>
using out_t = typename Stored<T>::Out;
template <class T>
using scalar_t = typename Stored<T>::Scalar;  // that in which a variant computes, unless it declares another

/// The row of a kernel's type argument.
template <class T>
inline constexpr Dtype kDtype = detail::dtype_of(kFormat<in_t<T>>, kFormat<out_t<T>>);

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

/// What a variant computes with. The bound follows from it; an undeclared reduction fails. Usual ones have a name.
struct Arithmetic {
  /// In which order a sum is taken, and what becomes of its roundings.
  enum class Order : std::uint8_t {
    any,
    pairwise,     // the tighter log2(n) bound applies
    compensated,  // Kahan or Neumaier: error independent of n to first order
    doubled       // twice the working precision (double-double, or fp64 sums of fp32), rounded once
  };
  enum class Transform : std::uint8_t {
    none,
    winograd,  // minimal filtering F(2x2, 3x3): errors grow with the terms of the transform, not of the sum
    by_lse,    // log_softmax as x - (max + log sum): one number per row, whose rounding every element has
    one_pass  // a variance as the mean of squares less the square of the mean, whose errors are relative to both
  };
  Order order = Order::any;
  Format operand = Format::none;     // to which operands are rounded; none: as they are stored
  Format accumulate = Format::none;  // in which sums are kept; none: as the row of the case's type says
  bool corrected =
      false;  // what the rounding of operands leaves is multiplied as well, but for the product of two such rests
  bool flushes = false;  // additions flush subnormals to 0, as fp32 atomicAdd in global memory does
  Transform transform = Transform::none;
  bool fast = false;  // 8-bit products are summed in tensor cores to the end, in as few bits as those keep

  static const Arithmetic native, pairwise, compensated, doubled, tf32, tf32x3, bf16, fp16, winograd, flushed,
      by_lse, one_pass, fp8_fast;

  /// All of it in one number, and back.
  constexpr std::int32_t code() const {
    return static_cast<std::int32_t>(order) | static_cast<std::int32_t>(operand) << 4 |
           static_cast<std::int32_t>(accumulate) << 8 | (corrected ? 1 : 0) << 12 | (flushes ? 1 : 0) << 13 |
           static_cast<std::int32_t>(transform) << 14 | (fast ? 1 : 0) << 16;
  }
  static constexpr Arithmetic of_code(std::int32_t code) {
    return {static_cast<Order>(code & 15),
            static_cast<Format>(code >> 4 & 15),
            static_cast<Format>(code >> 8 & 15),
            (code >> 12 & 1) != 0,
            (code >> 13 & 1) != 0,
            static_cast<Transform>(code >> 14 & 3),
            (code >> 16 & 1) != 0};
  }
  friend constexpr bool operator==(const Arithmetic& a, const Arithmetic& b) { return a.code() == b.code(); }
  friend constexpr bool operator!=(const Arithmetic& a, const Arithmetic& b) { return !(a == b); }
};

/// The operator's own type, any order of summation.
inline constexpr Arithmetic Arithmetic::native{};
inline constexpr Arithmetic Arithmetic::pairwise{Order::pairwise};
inline constexpr Arithmetic Arithmetic::compensated{Order::compensated};
inline constexpr Arithmetic Arithmetic::doubled{Order::doubled};
/// Operands rounded to 11 bits, fp32 sums.
inline constexpr Arithmetic Arithmetic::tf32{Order::any, Format::tf32};
/// Error-corrected tf32: three products, within the fp32 bound.
inline constexpr Arithmetic Arithmetic::tf32x3{Order::any, Format::tf32, Format::none, true};
/// Operands rounded to 8 bits, fp32 sums.
inline constexpr Arithmetic Arithmetic::bf16{Order::any, Format::bf16};
/// Operands rounded to 11 bits with fp16 range, fp32 sums.
inline constexpr Arithmetic Arithmetic::fp16{Order::any, Format::f16};
inline constexpr Arithmetic Arithmetic::winograd{Order::any, Format::none, Format::none,
                                                 false,      false,        Transform::winograd};
inline constexpr Arithmetic Arithmetic::flushed{Order::any, Format::none, Format::none, false, true};
inline constexpr Arithmetic Arithmetic::by_lse{Order::any, Format::none, Format::none,
                                               false,      false,        Transform::by_lse};
inline constexpr Arithmetic Arithmetic::one_pass{Order::any, Format::none, Format::none,
                                                 false,      false,        Transform::one_pass};
inline constexpr Arithmetic Arithmetic::fp8_fast{Order::any, Format::none,    Format::none, false,
                                                 false,      Transform::none, true};

/// The word for an arithmetic in lists, reports and docs/bounds.md.
struct NamedArithmetic {
  const char* name;
  Arithmetic arithmetic;
};
/// In the order in which plug-ins number them.
inline constexpr NamedArithmetic kArithmetics[] = {{"native", Arithmetic::native},
                                                   {"pairwise", Arithmetic::pairwise},
                                                   {"compensated", Arithmetic::compensated},
                                                   {"doubled", Arithmetic::doubled},
                                                   {"tf32", Arithmetic::tf32},
                                                   {"tf32x3", Arithmetic::tf32x3},
                                                   {"bf16", Arithmetic::bf16},
                                                   {"fp16", Arithmetic::fp16},
                                                   {"winograd", Arithmetic::winograd},
                                                   {"flushed", Arithmetic::flushed},
                                                   {"by_lse", Arithmetic::by_lse},
                                                   {"one_pass", Arithmetic::one_pass},
                                                   {"fp8_fast", Arithmetic::fp8_fast}};

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

/// A variant as the engine calls it: the types of its operator's Problem, In and Out are erased. `problem`, `in` and `out` point to those of
/// the type that `dtype` names and of `space`.
struct AnyVariant {
  const char* name;
  const char* origin;
  Traits traits;
  Dtype dtype;
  Space space;
  bool has_supports, has_prepare;

  void run(const void* problem, const void* in, const void* out, Context& context) const {
    run_(typed, problem, in, out, context);
  }
  /// Null: yes; else the reason why not.
  const char* supports(const void* problem, const void* in, const void* out) const {
    return has_supports ? supports_(typed, problem, in, out) : nullptr;
  }
  void* prepare(const void* problem, const void* in, const void* out, Context& context) const {
    return has_prepare ? prepare_(typed, problem, in, out, context) : nullptr;
  }
  void release(void* plan) const {
    if (release_ != nullptr) release_(plan);
  }

  const void* typed;  // the Variant<Op, T, S>
  void (*run_)(const void* typed, const void*, const void*, const void*, Context&);
  const char* (*supports_)(const void* typed, const void*, const void*, const void*);
  void* (*prepare_)(const void* typed, const void*, const void*, const void*, Context&);
  void (*release_)(void* plan);
  const AnyVariant* next;
};

/// `v` with its types erased; points to it.
template <class Op, class T, Space S>
AnyVariant erased(const Variant<Op, T, S>& v, const AnyVariant* next = nullptr) {
  using V = Variant<Op, T, S>;
  struct Call {
    static const V& variant(const void* p) { return *static_cast<const V*>(p); }
    static const typename V::Problem& problem(const void* p) {
      return *static_cast<const typename V::Problem*>(p);
    }
    static const typename V::In& in(const void* p) { return *static_cast<const typename V::In*>(p); }
    static const typename V::Out& out(const void* p) { return *static_cast<const typename V::Out*>(p); }
    static void run(const void* v, const void* p, const void* i, const void* o, Context& c) {
      variant(v).run(problem(p), in(i), out(o), c);
    }
    static const char* supports(const void* v, const void* p, const void* i, const void* o) {
      return variant(v).supports(problem(p), in(i), out(o));
    }
    static void* prepare(const void* v, const void* p, const void* i, const void* o, Context& c) {
      return variant(v).prepare(problem(p), in(i), out(o), c);
    }
  };
  return {v.name,
          v.origin,
          v.traits,
          kDtype<T>,
          S,
          v.supports != nullptr,
          v.prepare != nullptr,
          &v,
          &Call::run,
          &Call::supports,
          &Call::prepare,
          v.release,
          next};
}

/// Heads of the lists of registered variants; constant-initialised, so registrars may run in any order before main. The typed lists are for
/// callers that have operands of the types: models, tests.
template <class Op, class T, Space S>
inline Variant<Op, T, S>* variants = nullptr;
template <class Op>
inline const AnyVariant* any_variants = nullptr;

/// Registers one variant in one type; a variant file ends in PLUMB_REGISTER, which does it for several:
///   const Register<Spmv, float, Space::host> f32{"01_row_static", run<float>};
/// Neither allocates nor touches CUDA. `name` must equal the file's name: CMake's manifest is compared with it.
template <class Op, class T, Space S>
class Register {
 public:
  using V = Variant<Op, T, S>;
  Register(const char* name, typename V::Run run, Traits traits = {}, typename V::Supports supports = nullptr,
           typename V::Prepare prepare = nullptr, typename V::Release release = nullptr,
           const char* origin = PLUMB_ORIGIN)
      : variant_{name, run, traits, supports, prepare, release, origin, variants<Op, T, S>},
        any_(erased(variant_, any_variants<Op>)) {
    variants<Op, T, S> = &variant_;
    any_variants<Op> = &any_;
  }
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;

 private:
  V variant_;
  AnyVariant any_;
};

namespace detail {
// The space of a variant, by the arguments of Register: In and Out of the spaces differ.
template <class Op, class T>
struct SpaceOf {
  template <Space S>
  struct Is {
    static constexpr Space value = S;
  };
  template <Space S>
  using V = Variant<Op, T, S>;
  static Is<Space::host> of(typename V<Space::host>::Run, Traits = {},
                            typename V<Space::host>::Supports = nullptr,
                            typename V<Space::host>::Prepare = nullptr, void (*)(void*) = nullptr);
  static Is<Space::device> of(typename V<Space::device>::Run, Traits = {},
                              typename V<Space::device>::Supports = nullptr,
                              typename V<Space::device>::Prepare = nullptr, void (*)(void*) = nullptr);
};
template <template <class> class One, class... Types>
struct EachType : One<Types>... {};
}  // namespace detail

/// Registers a variant under one name for every type listed; the last line of its file:
///   PLUMB_REGISTER(Spmv, "01_row_static", run, float, double);
/// With more than the function template: the arguments of Register behind the name, T standing for each type:
///   PLUMB_REGISTER_WITH(Gemm, "13_jik_openmp", (run<T>, {}, by_columns<T>), float, double);
#define PLUMB_REGISTER(Op, name, run, ...) PLUMB_REGISTER_WITH(Op, name, (run<T>), __VA_ARGS__)
#define PLUMB_REGISTER_WITH(Op, name, parts, ...)                                                          \
  template <class T>                                                                                       \
  struct PLUMB_OF_LINE(Registered)                                                                         \
      : ::plumb::Register<Op, T, decltype(::plumb::detail::SpaceOf<Op, T>::of(PLUMB_BARE parts))::value> { \
    PLUMB_OF_LINE(Registered)() : PLUMB_OF_LINE(Registered)::Register(name, PLUMB_BARE parts) {}           \
  };                                                                                                       \
  const ::plumb::detail::EachType<PLUMB_OF_LINE(Registered), __VA_ARGS__> PLUMB_OF_LINE(registered) {}
#define PLUMB_BARE(...) __VA_ARGS__
#define PLUMB_OF_LINE(name) PLUMB_JOINED(name, __LINE__)
#define PLUMB_JOINED(a, b) PLUMB_JOINED_(a, b)
#define PLUMB_JOINED_(a, b) a##b

// Host-side companions of a contract, complete in operator.hpp; named here so that a contract stays lean.
struct Case;
class CaseList;
class CaseSpace;
struct Work;
struct Reference;
struct Tolerance;
template <class Op, class T>
struct Instance;

}  // namespace plumb
