// nvcuda::wmma for the CPU executor: what <mma.h> stands for. Matrices in pieces across a warp, of half, bfloat16, tf32, double and
// 8-bit integers.
//
// A fragment's layout is nobody's business, so it is the simplest: a matrix's elements in the order of its lines in memory, an equal run
// of them to each lane. Loads and stores are each lane's own accesses at the caller's line; a product is one where all lanes have met:
// of f16, bf16 and tf32 in the bits of the chip (tensor_products.hpp), of fp64 in the order of K.
#pragma once
#include <cmath>
#include <limits>
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"
#include "gpu/simt/language/half.hpp"
#include "gpu/simt/language/ptx.hpp"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
// Named so that what is written of them compiles: a fragment of them does not, and bmma_sync ends a program that gets there.
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

namespace of_plumb {

template <class T>
struct Storage {
  using type = T;
};
template <>
struct Storage<precision::tf32> {
  using type = float;
};

// Operands of type T in an m x n x k product.
template <class T, int M, int N, int K>
struct Offered {
  static constexpr bool kSquare = M == 16 && N == 16 && K == 16;
  static constexpr bool kOblong = (M == 32 && N == 8 && K == 16) || (M == 8 && N == 32 && K == 16);
  static constexpr bool kSmall = std::is_same<T, __half>::value || std::is_same<T, __nv_bfloat16>::value ||
                                 std::is_same<T, signed char>::value || std::is_same<T, unsigned char>::value;
  static constexpr bool value = (kSmall && (kSquare || kOblong)) ||
                                (std::is_same<T, precision::tf32>::value && M == 16 && N == 16 && K == 8) ||
                                (std::is_same<T, double>::value && M == 8 && N == 8 && K == 4);
};

template <class Use, int M, int N, int K>
struct Extent {
  static constexpr int rows = std::is_same<Use, matrix_b>::value ? K : M;
  static constexpr int cols = std::is_same<Use, matrix_a>::value ? K : N;
};

// What tensor cores multiply; fp64 and integers are multiply_plainly()'s.
template <class T>
inline constexpr bool kOfTensorCores =
    std::is_same<T, precision::tf32>::value || std::is_same<T, __half>::value ||
    std::is_same<T, __nv_bfloat16>::value;
template <class T>
inline constexpr ::plumb::simt::Element kElement =
    std::is_same<T, precision::tf32>::value ? ::plumb::simt::Element::tf32
    : std::is_same<T, __half>::value        ? ::plumb::simt::Element::f16
                                            : ::plumb::simt::Element::bf16;

// Accumulators of tensor cores as fp32 numbers. By bits: an inlined member function would be watched as the kernel's code.
template <class S>
PLUMB_SIMT_UNTRACKED float number_of(const S& stored) {
  if constexpr (std::is_same<S, float>::value) {
    return stored;
  } else {
    unsigned short bits;
    __builtin_memcpy(&bits, &stored, sizeof bits);
    return ::plumb::simt::widen<::plumb::simt::Half>(bits);
  }
}
template <class S>
PLUMB_SIMT_UNTRACKED void set_number(S& to, float value, bool saturate) {
  if (saturate && value != value) value = 0.0f;
  if constexpr (std::is_same<S, float>::value) {
    to = saturate && std::isinf(value) ? std::copysign(std::numeric_limits<float>::max(), value) : value;
  } else {
    unsigned short bits = ::plumb::simt::narrow<::plumb::simt::Half>(static_cast<double>(value));
    if (saturate && (bits & 0x7fffu) == 0x7c00u) --bits;
    __builtin_memcpy(&to, &bits, sizeof bits);
  }
}

// What elements hold that nothing has set: not a number, where the type has such values.
template <class T>
PLUMB_SIMT_UNTRACKED T unset_value() {
  constexpr unsigned long long kBits = sizeof(T) == 8   ? 0x7ff8dead7fc0deadull
                                       : sizeof(T) == 4 ? 0x7fc0deadull
                                       : sizeof(T) == 2 ? 0x7fadull
                                                        : 0xadull;
  T out;
  __builtin_memcpy(&out, &kBits, sizeof out);
  return out;
}
template <class T, int N>
PLUMB_SIMT_UNTRACKED void leave_unset(T (&x)[N]) {
  const T unset = unset_value<T>();
  for (T& element : x) __builtin_memcpy(&element, &unset, sizeof unset);
}
// Elements may also be set one by one. A single byte has no value that is none: then all of them must be unset.
template <class F>
PLUMB_SIMT_UNTRACKED void must_be_set(const F& f, const char* what, const char* which,
                                      ::plumb::simt::Here here) {
  if (f.is_set) return;
  using S = typename F::storage_element_type;
  const S unset = unset_value<S>();
  int count = 0;
  for (const S& element : f.x) count += __builtin_memcmp(&element, &unset, sizeof unset) == 0 ? 1 : 0;
  if (count > 0 && (sizeof(S) > 1 || count == F::num_elements))
    ::plumb::simt::uses_unset_fragment(what, which, here);
}

}  // namespace of_plumb

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static constexpr bool kAccumulates = std::is_same<Use, accumulator>::value;
  static_assert(kAccumulates
                    ? std::is_same<Layout, void>::value
                    : std::is_same<Layout, row_major>::value || std::is_same<Layout, col_major>::value,
                "operands have a layout in memory, accumulators none");
  static_assert(kAccumulates || of_plumb::Offered<T, M, N, K>::value,
                "no product of this shape and type on the CPU executor");
  using element_type = T;
  using storage_element_type = typename of_plumb::Storage<T>::type;
  static constexpr int rows = of_plumb::Extent<Use, M, N, K>::rows;
  static constexpr int cols = of_plumb::Extent<Use, M, N, K>::cols;
  static constexpr int num_elements = rows * cols / 32;
  static constexpr int num_storage_elements = num_elements;
  static constexpr bool kByColumns = std::is_same<Layout, col_major>::value;
  PLUMB_SIMT_UNTRACKED fragment() { of_plumb::leave_unset(x); }
  storage_element_type x[num_elements];
  bool is_set = false;  // by a load, a fill or a product
};

/// x rounded to tf32, to nearest with ties away from zero.
inline float __float_to_tf32(float x) {
  const unsigned bits = ::plumb::simt::bits_of(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return ::plumb::simt::from_bits((bits + 0x1000u) & 0xffffe000u);
}

namespace of_plumb {

// The calling lane's run of elements between registers and memory, in pieces that are adjacent there.
template <class F, class T>
PLUMB_SIMT_UNTRACKED void move(F& f, T* memory, unsigned leading, bool by_columns, bool store,
                               const char* what, ::plumb::simt::Here here) {
  using S = std::remove_const_t<T>;
  static_assert(std::is_same<S, typename F::storage_element_type>::value,
                "memory of the fragment's own type");
  if (store) must_be_set(f, what, "a fragment", here);
  // The warp meets, and no more: what others wrote before a load, or read after a store, needs a barrier to be seen.
  if (store) ::plumb::simt::whole_warp_exchange(what, nullptr, nullptr, here);
  if (reinterpret_cast<std::uintptr_t>(memory) % 16 != 0)
    ::plumb::simt::access_for(what, memory, sizeof(S), 16, store, here);
  if (leading * sizeof(S) % 16 != 0)
    ::plumb::simt::trap("the leading dimension of a wmma load or store is no multiple of 16 bytes", here);
  // Adjacent in memory are elements of a row, or of a column; adjacent in the fragment likewise, by F's own layout.
  const int line = F::kByColumns ? F::rows : F::cols;
  constexpr int kPiece = static_cast<int>(16 / sizeof(S));
  const bool runs = by_columns == F::kByColumns;
  const int first = static_cast<int>(::plumb::simt::ptx::lane()) * F::num_elements;
  for (int i = 0; i < F::num_elements;) {
    const int n = runs ? (F::num_elements - i < kPiece ? F::num_elements - i : kPiece) : 1;
    const std::size_t major = static_cast<std::size_t>((first + i) / line);
    const std::size_t minor = static_cast<std::size_t>((first + i) % line);
    T* const at = memory + (runs ? major * leading + minor : minor * leading + major);
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(S);
    ::plumb::simt::access_for(what, at, bytes, sizeof(S), store, here);
    if constexpr (std::is_const<T>::value) {
      __builtin_memcpy(&f.x[i], at, bytes);
    } else {
      __builtin_memcpy(at, &f.x[i], bytes);
    }
    i += n;
  }
  if constexpr (std::is_const<T>::value) {
    f.is_set = true;
    ::plumb::simt::whole_warp_exchange(what, nullptr, nullptr, here);
  }
}

template <class A, class B, class C, class D>
struct ProductLane {
  const A* a;
  const B* b;
  const C* c;
  D* d;
  bool saturate;
};

// fp64 in the order of K; integers exactly.
template <int Rows, int Cols, int Depth, class S, class Sum>
PLUMB_SIMT_UNTRACKED void multiply_plainly(const S (&a)[Rows][Depth], const S (&b)[Cols][Depth],
                                           Sum (&c)[Rows][Cols], bool saturate) {
  for (int row = 0; row < Rows; ++row) {
    for (int col = 0; col < Cols; ++col) {
      if constexpr (std::is_integral<S>::value) {
        long long sum = c[row][col];
        for (int k = 0; k < Depth; ++k) sum += static_cast<long long>(a[row][k]) * b[col][k];
        if (saturate && sum > 2147483647LL) sum = 2147483647LL;
        if (saturate && sum < -2147483648LL) sum = -2147483648LL;
        c[row][col] = static_cast<Sum>(sum);
      } else {
        for (int k = 0; k < Depth; ++k) c[row][col] = std::fma(a[row][k], b[col][k], c[row][col]);
      }
    }
  }
}

// Elements of all lanes of a fragment, as lines of `Line` elements along K.
template <class F, int Lines, int Line, class S>
PLUMB_SIMT_UNTRACKED void gather(const F& f, int lane, bool along_k, S (&to)[Lines][Line]) {
  for (int i = 0; i < F::num_elements; ++i) {
    const int e = lane * F::num_elements + i;
    S& element = along_k ? to[e / Line][e % Line] : to[e % Lines][e / Lines];
    __builtin_memcpy(&element, &f.x[i], sizeof element);
  }
}

template <class A, class B, class C, class D>
PLUMB_SIMT_UNTRACKED void multiply(unsigned, void* const* in, void* const*) {
  using Lane = ProductLane<A, B, C, D>;
  using T = typename A::element_type;
  using S = typename A::storage_element_type;
  constexpr bool kPlain = !kOfTensorCores<T>;
  using Sum = std::conditional_t<kPlain, typename C::element_type, float>;
  constexpr int kRows = A::rows, kCols = B::cols, kDepth = A::cols;
  using Code = std::conditional_t<sizeof(S) == 2, unsigned short, S>;
  Code a[kRows][kDepth], b[kCols][kDepth];
  Sum c[kRows][kCols];
  for (int lane = 0; lane < 32; ++lane) {
    const Lane& mine = *static_cast<const Lane*>(in[lane]);
    gather(*mine.a, lane, !A::kByColumns, a);
    gather(*mine.b, lane, B::kByColumns, b);
    for (int i = 0; i < C::num_elements; ++i) {
      const int e = lane * C::num_elements + i;
      if constexpr (kPlain) {
        c[e / kCols][e % kCols] = mine.c->x[i];
      } else {
        c[e / kCols][e % kCols] = number_of(mine.c->x[i]);
      }
    }
  }
  if constexpr (kPlain) {
    multiply_plainly(a, b, c, static_cast<const Lane*>(in[0])->saturate);
  } else {
    constexpr auto kTotal = std::is_same<typename D::element_type, float>::value ? ::plumb::simt::Total::f32
                                                                                 : ::plumb::simt::Total::f16;
    ::plumb::simt::tensor_product(
        {::plumb::TensorInstruction::wmma, kElement<T>, kElement<T>, kTotal, kRows, kCols, kDepth},
        reinterpret_cast<const unsigned char*>(a), reinterpret_cast<const unsigned char*>(b), c[0]);
  }
  for (int lane = 0; lane < 32; ++lane) {
    const Lane& mine = *static_cast<const Lane*>(in[lane]);
    for (int i = 0; i < D::num_elements; ++i) {
      const int e = lane * D::num_elements + i;
      if constexpr (kPlain) {
        mine.d->x[i] = c[e / kCols][e % kCols];
      } else {
        set_number(mine.d->x[i], c[e / kCols][e % kCols], mine.saturate);
      }
    }
  }
}

template <class T, class D>
constexpr bool accumulates_in() {
  using std::is_same;
  return (is_same<T, __half>::value && (is_same<D, float>::value || is_same<D, __half>::value)) ||
         ((is_same<T, __nv_bfloat16>::value || is_same<T, precision::tf32>::value) &&
          is_same<D, float>::value) ||
         (is_same<T, double>::value && is_same<D, double>::value) ||
         ((is_same<T, signed char>::value || is_same<T, unsigned char>::value) && is_same<D, int>::value);
}

}  // namespace of_plumb

template <class Use, int M, int N, int K, class T, class Layout>
void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                   const typename fragment<Use, M, N, K, T, Layout>::storage_element_type& v) {
  for (auto& x : f.x) x = v;
  f.is_set = true;
}

template <class Use, int M, int N, int K, class T, class Layout>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f,
                      const typename fragment<Use, M, N, K, T, Layout>::storage_element_type* p,
                      unsigned leading, PLUMB_SIMT_HERE) {
  static_assert(!std::is_same<Use, accumulator>::value, "an accumulator's load says how it lies in memory");
  of_plumb::move(f, p, leading, f.kByColumns, false, "wmma::load_matrix_sync", here);
}
template <int M, int N, int K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned leading, layout_t layout,
                      PLUMB_SIMT_HERE) {
  of_plumb::move(f, p, leading, layout == mem_col_major, false, "wmma::load_matrix_sync", here);
}
template <int M, int N, int K, class T>
void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned leading, layout_t layout,
                       PLUMB_SIMT_HERE) {
  of_plumb::move(f, p, leading, layout == mem_col_major, true, "wmma::store_matrix_sync", here);
}

/// d = a b + c.
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class C, class D>
PLUMB_SIMT_UNTRACKED void mma_sync(fragment<accumulator, M, N, K, D>& d,
                                   const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                   const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                                   const fragment<accumulator, M, N, K, C>& c, bool saturate = false,
                                   PLUMB_SIMT_HERE) {
  static_assert(of_plumb::accumulates_in<T, C>() && of_plumb::accumulates_in<T, D>(),
                "operands of this type are accumulated in another");
  using Lane = of_plumb::ProductLane<std::decay_t<decltype(a)>, std::decay_t<decltype(b)>,
                                     std::decay_t<decltype(c)>, std::decay_t<decltype(d)>>;
  constexpr const char* kWhat = "wmma::mma_sync";
  of_plumb::must_be_set(a, kWhat, "a fragment of A", here);
  of_plumb::must_be_set(b, kWhat, "a fragment of B", here);
  of_plumb::must_be_set(c, kWhat, "an accumulator", here);
  Lane mine{&a, &b, &c, &d, saturate};
  ::plumb::simt::whole_warp_exchange(
      kWhat,
      &of_plumb::multiply<std::decay_t<decltype(a)>, std::decay_t<decltype(b)>, std::decay_t<decltype(c)>,
                          std::decay_t<decltype(d)>>,
      &mine, here);
  d.is_set = true;
}

template <class D, class A, class B, class C>
void bmma_sync(D&, const A&, const B&, const C&, experimental::bmmaBitOp = experimental::bmmaBitOpXOR,
               experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC, PLUMB_SIMT_HERE) {
  ::plumb::simt::not_offered("bmma_sync", here);
}

}  // namespace nvcuda::wmma
