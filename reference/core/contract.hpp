// What every contract has in common: a signature that names its arrays and numbers, and the structs that hold them. An operator derives from
// Contract and writes the rest itself (reference/ops/gemm.hpp), or from FormulaOf (reference/formula/formula_of.hpp) and writes its formula.
// Read with every kernel: C++17, cheap.
//
//   struct Gemv : Contract<Gemv> {
//     static constexpr const char* kName = "gemv";
//     static constexpr const char* kSignature = "A: rows cols, x: cols, alpha, beta -> y: rows";
//     PLUMB_PROBLEM(Scalar alpha, beta;)
//     PLUMB_INPUTS(Matrix A; Vector x;)
//     PLUMB_OUTPUTS(Vector y;)
//     PLUMB_CONTRACT(Gemv)
//   };
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// What of a signature is needed where it is compiled: names, and how many there are. Its syntax is checked by parse_signature().
struct SignatureNames {
  static constexpr int kMost = 12;
  char text[512] = {};  // of the signature, a 0 behind each name
  int inputs[kMost] = {}, outputs[kMost] = {}, scalars[kMost] = {}, extents[kMost] = {};  // places in text
  int input_count = 0, output_count = 0, scalar_count = 0, extent_count = 0;
  bool holds_extents = false;  // an array has three extents or more

  constexpr explicit SignatureNames(const char* signature) {
    int length = 0;
    while (length < 511 && signature[length] != 0) text[length] = signature[length], ++length;
    bool output = false, array = false;
    int of_array = 0;  // extents
    const char* before = "";
    for (int at = 0; at < length;) {
      const char c = signature[at];
      if (c == ',' || c == '-') {
        array = false, before = "";
        if (c == '-') output = true;
      }
      if (c == ':') array = true, of_array = 0;
      if (!starts_name(c)) {
        if (array && is_digit(c) && signature[at - 1] == ' ') holds_extents = ++of_array > 2 || holds_extents;
        ++at;
        continue;
      }
      const int begin = at;
      while (at < length && continues_name(signature[at])) ++at;
      text[at] = 0;
      if (!array && !is_colon(signature, at)) {
        if (scalar_count < kMost) scalars[scalar_count++] = begin;
      } else if (!array) {
        if (output && output_count < kMost) outputs[output_count++] = begin;
        if (!output && input_count < kMost) inputs[input_count++] = begin;
      } else if (!alike(text + begin, "csr") && !alike(text + begin, "flag") && !alike(text + begin, "in") &&
                 !alike(text + begin, "to")) {
        if (!alike(before, "in") && !alike(before, "to")) holds_extents = ++of_array > 2 || holds_extents;
        add_extent(begin);
      }
      before = text + begin;
    }
  }
  constexpr const char* input(int i) const { return text + inputs[i]; }
  constexpr const char* output(int i) const { return text + outputs[i]; }
  constexpr const char* scalar(int i) const { return text + scalars[i]; }
  constexpr const char* extent(int i) const { return text + extents[i]; }

 private:
  static constexpr bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '_'; }
  static constexpr bool is_colon(const char* s, int at) {
    while (s[at] == ' ') ++at;
    return s[at] == ':';
  }
  static constexpr bool alike(const char* a, const char* b) {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a == *b;
  }
  constexpr void add_extent(int begin) {
    for (int i = 0; i < input_count; ++i) {
      if (alike(text + inputs[i], text + begin)) return;  // the entries of a sparse operand
    }
    for (int i = 0; i < extent_count; ++i) {
      if (alike(text + extents[i], text + begin)) return;
    }
    if (extent_count < kMost) extents[extent_count++] = begin;
  }
};

/// The extents of a signature as an array of names.
template <class Op>
class ExtentNames {
 public:
  constexpr const char* operator[](int i) const { return names_.all[i]; }
  constexpr const char* const* begin() const { return names_.all; }
  constexpr const char* const* end() const { return names_.all + Op::kNames().extent_count; }

 private:
  struct All {
    const char* all[SignatureNames::kMost] = {};
    constexpr All() {
      for (int i = 0; i < SignatureNames::kMost; ++i) all[i] = Op::kNames().extent(i);
    }
  };
  static constexpr All names_{};
};

namespace detail {
// Whatever a member is made of.
struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};
template <class Members, class = void, class... All>
struct CountOf {
  static constexpr int value = sizeof...(All) - 1;
};
template <class Members, class... All>
struct CountOf<Members, decltype(void(Members{All{}...})), All...>
    : CountOf<Members, void, All..., AnyMember> {};

// f(member, its place) for each of `Count` members.
template <int Count, class Members, class F>
void each_member(Members& m, F&& f) {
  static_assert(Count <= 8, "at most eight of a kind");
  static_assert(
      CountOf<Members>::value == Count,
      "kSignature and PLUMB_INPUTS, PLUMB_OUTPUTS or PLUMB_PROBLEM do not agree: each array and each number "
      "of "
      "the signature has one member, in its order (and every extent where an array has three or more)");
  if constexpr (Count == 1) {
    auto& [a] = m;
    f(a, 0);
  } else if constexpr (Count == 2) {
    auto& [a, b] = m;
    f(a, 0), f(b, 1);
  } else if constexpr (Count == 3) {
    auto& [a, b, c] = m;
    f(a, 0), f(b, 1), f(c, 2);
  } else if constexpr (Count == 4) {
    auto& [a, b, c, d] = m;
    f(a, 0), f(b, 1), f(c, 2), f(d, 3);
  } else if constexpr (Count == 5) {
    auto& [a, b, c, d, e] = m;
    f(a, 0), f(b, 1), f(c, 2), f(d, 3), f(e, 4);
  } else if constexpr (Count == 6) {
    auto& [a, b, c, d, e, g] = m;
    f(a, 0), f(b, 1), f(c, 2), f(d, 3), f(e, 4), f(g, 5);
  } else if constexpr (Count == 7) {
    auto& [a, b, c, d, e, g, h] = m;
    f(a, 0), f(b, 1), f(c, 2), f(d, 3), f(e, 4), f(g, 5), f(h, 6);
  } else if constexpr (Count == 8) {
    auto& [a, b, c, d, e, g, h, i] = m;
    f(a, 0), f(b, 1), f(c, 2), f(d, 3), f(e, 4), f(g, 5), f(h, 6), f(i, 7);
  }
}
template <class Op>
struct NamesOf {
  static constexpr SignatureNames value{Op::kSignature};
};
}  // namespace detail

/// The types of operators that multiply matrices.
inline constexpr Dtype kMatrixDtypes[] = {
    Dtype::f32,      Dtype::f64,       Dtype::f16,      Dtype::bf16,     Dtype::f16_f32,   Dtype::bf16_f32,
    Dtype::e4m3_f16, Dtype::e4m3_bf16, Dtype::e4m3_f32, Dtype::e5m2_f16, Dtype::e5m2_bf16, Dtype::e5m2_f32};

/// What a contract has by its signature, and says itself where it is otherwise: the types, the parameters of a case that are sizes, and
/// f(name, member) for each array and number.
template <class Op>
struct Contract {
  static constexpr Dtype kDtypes[] = {Dtype::f32,  Dtype::f64,     Dtype::f16,
                                      Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32};
  static constexpr ExtentNames<Op> kExtents{};
  static constexpr const SignatureNames& kNames() { return detail::NamesOf<Op>::value; }

  template <class T>
  struct Problem {};  // no numbers beside the arrays

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    detail::each_member<kNames().input_count>(in, [&](auto& v, int i) { f(kNames().input(i), v); });
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    detail::each_member<kNames().output_count>(out, [&](auto& v, int i) { f(kNames().output(i), v); });
  }
  template <class P, class F>
  static void each_scalar(P& p, F&& f) {
    constexpr int scalars = kNames().scalar_count;
    detail::each_member<scalars + (kNames().holds_extents ? kNames().extent_count : 0)>(
        p, [&](auto& v, int i) { f(i < scalars ? kNames().scalar(i) : kNames().extent(i - scalars), v); });
  }
};

/// The numbers of a problem: scalars as `Scalar eps;`, in the order of the signature. Where an array has three extents or more, every extent
/// follows as `Size n, d;`, in the order in which they first appear.
#define PLUMB_PROBLEM(...)               \
  template <class T>                     \
  struct Problem {                       \
    using Scalar = ::plumb::scalar_t<T>; \
    using Size = ::std::int64_t;         \
    __VA_ARGS__                          \
  };
/// The arrays of a signature, in its order. Indices: of `in` and `to`. Sparse: of csr.
#define PLUMB_INPUTS(...)                                         \
  template <class T, ::plumb::Space S>                            \
  struct In {                                                     \
    using Matrix = ::plumb::DenseView<const ::plumb::in_t<T>, S>; \
    using Vector = ::plumb::VecView<const ::plumb::in_t<T>, S>;   \
    using Indices = ::plumb::VecView<const ::std::int32_t, S>;    \
    using Sparse = ::plumb::CsrView<const ::plumb::in_t<T>, S>;   \
    __VA_ARGS__                                                   \
  };
#define PLUMB_OUTPUTS(...)                                   \
  template <class T, ::plumb::Space S>                       \
  struct Out {                                               \
    using Matrix = ::plumb::DenseView<::plumb::out_t<T>, S>; \
    using Vector = ::plumb::VecView<::plumb::out_t<T>, S>;   \
    using Indices = ::plumb::VecView<::std::int32_t, S>;     \
    __VA_ARGS__                                              \
  };
/// What an operator that derives from Contract defines in ops/<op>.cpp; docs/contributing/operator.md says what each is.
#define PLUMB_CONTRACT(Op)                                                                   \
  static void describe(::plumb::CaseSpace&);                                                 \
  static void cases(::plumb::CaseList&);                                                     \
  template <class T>                                                                         \
  static void make(const ::plumb::Case&, ::plumb::Instance<Op, T>&);                         \
  template <class T>                                                                         \
  static void validate(const Problem<T>&, const In<T, ::plumb::Space::host>&,                \
                       const Out<T, ::plumb::Space::host>&);                                 \
  template <class T>                                                                         \
  static void oracle(const Problem<T>&, const In<T, ::plumb::Space::host>&,                  \
                     const Out<T, ::plumb::Space::host>&, ::plumb::Reference&);              \
  template <class T>                                                                         \
  static ::plumb::Work cost(const Problem<T>&, const In<T, ::plumb::Space::host>&,           \
                            const Out<T, ::plumb::Space::host>&);                            \
  static double bound(const ::plumb::Tolerance&, int output, double value, double magnitude, \
                      ::std::int64_t terms);

}  // namespace plumb
