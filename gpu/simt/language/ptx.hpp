// What inline PTX becomes on the CPU executor: rewrite.py (ptx.py) writes these calls in place of asm statements. Only what a kernel
// cannot say in plain C++ is here; loads and stores without an order are written out, so that a finding names the kernel's own line.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"
#include "gpu/simt/language/half_bits.hpp"
#include "gpu/simt/language/matrix_fragments.hpp"
#include "gpu/simt/language/rounding.hpp"

namespace plumb::simt::ptx {

/// An operand's bits as the instruction's type; integers and pointers are extended or cut as their own type says.
template <class T, class V>
T in(V v) {
  if constexpr (std::is_pointer<V>::value) {
    return static_cast<T>(reinterpret_cast<std::uintptr_t>(v));
  } else if constexpr (std::is_floating_point<T>::value == std::is_floating_point<V>::value) {
    return static_cast<T>(v);
  } else {
    static_assert(sizeof(T) == sizeof(V), "an operand of the instruction's size");
    T out;
    __builtin_memcpy(&out, &v, sizeof out);
    return out;
  }
}
template <class V, class T>
void out(V& to, T v) {
  if constexpr (std::is_pointer<V>::value) {
    to = reinterpret_cast<V>(static_cast<std::uintptr_t>(v));
  } else {
    to = in<V>(v);
  }
}

/// The variable that an operand is, where it is one of 32 bits; a value has none.
template <class T>
const void* place_of(const T& variable) {
  return sizeof(T) == 4 ? &variable : nullptr;
}
template <class T>
const void* place_of(const T&&) {
  return nullptr;
}

/// Where an address operand points: generic and global ones are pointers, shared ones offsets into the block's shared memory.
template <class T, class V>
T* global(V address, long long offset = 0) {
  return reinterpret_cast<T*>(in<std::uintptr_t>(address) + static_cast<std::uintptr_t>(offset));
}
template <class T, class V>
T* shared(V address, long long offset = 0) {
  return static_cast<T*>(shared_at(
      static_cast<unsigned>(in<unsigned long long>(address) + static_cast<unsigned long long>(offset))));
}

template <class T>
PLUMB_SIMT_UNTRACKED T load(const T* p, Scope scope, bool acquire, PLUMB_SIMT_HERE) {
  ordered_begin(p, sizeof(T), Ordered::load, scope, false, here);
  const T v = *p;
  ordered_end(false, acquire);
  return v;
}
template <class T>
PLUMB_SIMT_UNTRACKED void store(T* p, T v, Scope scope, bool release, PLUMB_SIMT_HERE) {
  ordered_begin(p, sizeof(T), Ordered::store, scope, release, here);
  *p = v;
  ordered_end(true, false);
}
/// *p becomes change(*p); what it was is returned.
template <class T, class Change>
PLUMB_SIMT_UNTRACKED T update(T* p, Scope scope, bool acquire, bool release, Change change, PLUMB_SIMT_HERE,
                              Ordered kind = Ordered::rmw) {
  ordered_begin(p, sizeof(T), kind, scope, release, here);
  const T old = *p;
  const T now = change(old);
  *p = now;
  ordered_end(__builtin_memcmp(&old, &now, sizeof(T)) != 0, acquire);
  return old;
}

/// `count` ones from bit `first` on.
inline unsigned bmsk_clamp(unsigned first, unsigned count) {
  if (first > 31) return 0;
  return (count > 31 ? ~0u : (1u << count) - 1) << first;
}
inline unsigned bmsk_wrap(unsigned first, unsigned count) {
  return ((1u << (count & 31u)) - 1) << (first & 31u);
}
/// The highest bit that differs from the sign, or how far it is from the top; all ones where there is none.
template <class T>
unsigned bfind(T value, bool from_top) {
  using Bits = std::make_unsigned_t<T>;
  auto bits = static_cast<Bits>(value < 0 ? static_cast<T>(~value) : value);
  unsigned at = ~0u;
  for (; bits != 0; bits = static_cast<Bits>(bits >> 1)) ++at;
  return from_top && at != ~0u ? 8 * sizeof(T) - 1 - at : at;
}

/// The phase that a parity means: the one that is gathering arrivals, or the one before.
inline unsigned phase_of_parity(const void* at, bool parity, Here here) {
  const unsigned now = object_barrier_phase(at, here);
  return now % 2 == (parity ? 1u : 0u) ? now : now - 1;
}
/// mbarrier.*_wait: `phase` is an arrival's state or, by parity, one bit.
inline bool barrier_test(const void* at, bool parity, unsigned long long phase, bool may_wait,
                         PLUMB_SIMT_HERE) {
  if (parity) return object_barrier_test(at, phase_of_parity(at, (phase & 1u) != 0, here), may_wait, here);
  static_cast<void>(object_barrier_phase(at, here));  // an access like the others
  return object_barrier_test(at, static_cast<unsigned>(phase), may_wait, here);
}

/// lop3.b32: bit by bit, the table's entry at (a, b, c).
inline unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned r = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1u) != 0)
      r |= ((i & 4u) != 0 ? a : ~a) & ((i & 2u) != 0 ? b : ~b) & ((i & 1u) != 0 ? c : ~c);
  }
  return r;
}
/// bfe: `bits` bits of a from `at` on; of signed types the highest of them, or of the value where they go beyond it, is repeated above.
template <class T>
T bfe(T a, unsigned at, unsigned bits) {
  constexpr unsigned kBits = 8 * sizeof(T);
  at &= 255u, bits &= 255u;
  if (bits == 0) return 0;
  using Bits = std::make_unsigned_t<T>;
  const Bits sign =
      std::is_signed<T>::value &&
              (static_cast<Bits>(a) >> (at + bits - 1 < kBits ? at + bits - 1 : kBits - 1) & 1u) != 0
          ? ~Bits{0}
          : Bits{0};
  const Bits low = at < kBits ? static_cast<Bits>(a) >> at : 0;
  const unsigned held = at >= kBits ? 0 : bits < kBits - at ? bits : kBits - at;  // bits that the value has
  if (held == 0) return static_cast<T>(sign);
  const Bits mask = ~Bits{0} >> (kBits - held);
  return static_cast<T>((low & mask) | (sign & ~mask));
}
template <class T>
T bfi(T a, T b, unsigned at, unsigned bits) {
  constexpr unsigned kBits = 8 * sizeof(T);
  at &= 255u, bits &= 255u;
  if (at >= kBits || bits == 0) return b;
  const T mask = (bits >= kBits ? ~T{0} : (T{1} << bits) - 1) << at;
  return (b & ~mask) | (a << at & mask);
}

// ---- integers ----
/// Of division by zero PTX says nothing: all ones, and the dividend, as devices yield.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed<T>::value && b == static_cast<T>(-1))
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed<T>::value && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
template <class T>
T add_carry(T a, T b, bool in, bool& carry) {
  const bool first = __builtin_add_overflow(a, b, &a);
  const bool second = __builtin_add_overflow(a, T{in}, &a);
  carry = first || second;
  return a;
}
/// The carry is the borrow, as PTX's CC.CF.
template <class T>
T sub_carry(T a, T b, bool in, bool& borrow) {
  const bool first = __builtin_sub_overflow(a, b, &a);
  const bool second = __builtin_sub_overflow(a, T{in}, &a);
  borrow = first || second;
  return a;
}
template <class To, class From>
To integer(From v) {
  return static_cast<To>(v);
}
/// The nearest that To has.
template <class To, class From>
To clamped(From v) {
  const __int128 x = v, low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  return static_cast<To>(x < low ? low : x > high ? high : x);
}
template <class T>
T mul24_lo(T a, T b) {
  return static_cast<T>(std::is_signed<T>::value
                            ? static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(a) << 8) >> 8) *
                                  static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(b) << 8) >> 8)
                            : (a & 0xffffffu) * (b & 0xffffffu));
}
/// The upper 32 of the product's 48 bits.
template <class T>
T mul24_hi(T a, T b) {
  const auto wide = [](T v) -> long long {
    return std::is_signed<T>::value ? static_cast<int>(static_cast<unsigned>(v) << 8) >> 8
                                    : static_cast<long long>(v & 0xffffffu);
  };
  return static_cast<T>(wide(a) * wide(b) >> 16);
}
inline unsigned dp4a(unsigned a, unsigned b, unsigned c, bool a_signed, bool b_signed) {
  const auto byte = [](unsigned v, int i, bool is_signed) -> int {
    const unsigned x = v >> (8 * i) & 255u;
    return is_signed ? static_cast<signed char>(x) : static_cast<int>(x);
  };
  for (int i = 0; i < 4; ++i) c += static_cast<unsigned>(byte(a, i, a_signed) * byte(b, i, b_signed));
  return c;
}
inline unsigned dp2a(unsigned a, unsigned b, unsigned c, bool high, bool a_signed, bool b_signed) {
  for (int i = 0; i < 2; ++i) {
    const unsigned x = a >> (16 * i) & 0xffffu, y = b >> (8 * (i + (high ? 2 : 0))) & 255u;
    const int p = a_signed ? static_cast<short>(x) : static_cast<int>(x);
    const int q = b_signed ? static_cast<signed char>(y) : static_cast<int>(y);
    c += static_cast<unsigned>(p * q);
  }
  return c;
}
/// The low n bits of a, the highest of them repeated above where T is signed.
template <class T>
T szext(T a, unsigned n, bool wraps) {
  if (wraps) n &= 31u;
  if (n > 31u) return a;
  return n == 0 ? 0 : bfe<T>(a, 0, n);
}
inline unsigned prmt_bytes(unsigned a, unsigned b, const unsigned (&of)[4]) {
  const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) out |= static_cast<unsigned>(both >> (8 * (of[i] & 7u)) & 255u) << (8 * i);
  return out;
}
inline unsigned prmt_f4e(unsigned a, unsigned b, unsigned c) {
  return c &= 3u, prmt_bytes(a, b, {c, c + 1, c + 2, c + 3});
}
inline unsigned prmt_b4e(unsigned a, unsigned b, unsigned c) {
  return c &= 3u, prmt_bytes(a, b, {c, c + 7, c + 6, c + 5});
}
inline unsigned prmt_rc8(unsigned a, unsigned b, unsigned c) {
  return c &= 3u, prmt_bytes(a, b, {c, c, c, c});
}
inline unsigned prmt_ecl(unsigned a, unsigned b, unsigned c) {
  return c &= 3u, prmt_bytes(a, b, {c, c > 1 ? c : 1, c > 2 ? c : 2, 3});
}
inline unsigned prmt_ecr(unsigned a, unsigned b, unsigned c) {
  return c &= 3u, prmt_bytes(a, b, {0, c < 1 ? c : 1, c < 2 ? c : 2, c});
}
inline unsigned prmt_rc16(unsigned a, unsigned b, unsigned c) {
  return c = (c & 1u) * 2, prmt_bytes(a, b, {c, c + 1, c, c + 1});
}

// ---- floating point ----
template <class T>
T saturated(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);  // NaN becomes 0
}
template <class T>
T integral(Round round, T x) {
  return round == Round::nearest ? std::nearbyint(x)
         : round == Round::zero  ? std::trunc(x)
         : round == Round::up    ? std::ceil(x)
                                 : std::floor(x);
}
/// min and max: of a number and a NaN the number, but for .NaN; -0 is less than +0. .xorsign.abs: of the magnitudes, with both signs' product.
template <class T>
T extreme(T a, T b, bool least, bool keeps_nan, bool xorsign) {
  const bool negative = std::signbit(a) != std::signbit(b);
  if (xorsign) a = std::fabs(a), b = std::fabs(b);
  T out = a;
  if (a != a || b != b) {
    out = keeps_nan || (a != a && b != b) ? std::numeric_limits<T>::quiet_NaN() : a != a ? b : a;
  } else if (a == b) {
    out = std::signbit(a) == least ? a : b;
  } else {
    out = (a < b) == least ? a : b;
  }
  return xorsign && negative ? -out : out;
}

/// x rounded to tf32 (10 explicit mantissa bits), ties away from zero (cvt.rna); NaN and infinities keep their class.
inline unsigned to_tf32(float x) {
  const unsigned bits = bits_of(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return (bits & 0x007fffffu) != 0 ? bits | 0x00400000u : bits;
  return (bits + 0x1000u) & 0xffffe000u;
}

/// Arithmetic on 16-bit floats as their bits, one or in pairs: op of each, rounded once.
enum class HalfOp { add, sub, mul, fma, min, max, min_nan, max_nan, neg, abs, ex2, tanh };
template <class F, HalfOp Op>
inline unsigned short half_op(unsigned short a, unsigned short b = 0, unsigned short c = 0) {
  if constexpr (Op == HalfOp::add) return sum<F>(a, b);
  if constexpr (Op == HalfOp::sub) return difference<F>(a, b);
  if constexpr (Op == HalfOp::mul) return product<F>(a, b);
  if constexpr (Op == HalfOp::fma) return fused<F>(a, b, c);
  if constexpr (Op == HalfOp::min) return ::plumb::simt::extreme<F>(a, b, true);
  if constexpr (Op == HalfOp::max) return ::plumb::simt::extreme<F>(a, b, false);
  if constexpr (Op == HalfOp::min_nan) return ::plumb::simt::extreme<F>(a, b, true, true);
  if constexpr (Op == HalfOp::max_nan) return ::plumb::simt::extreme<F>(a, b, false, true);
  if constexpr (Op == HalfOp::neg) return static_cast<unsigned short>(a ^ 0x8000u);
  if constexpr (Op == HalfOp::abs) return static_cast<unsigned short>(a & 0x7fffu);
  if constexpr (Op == HalfOp::ex2) return narrow<F>(std::exp2(static_cast<double>(widen<F>(a))));
  if constexpr (Op == HalfOp::tanh) return narrow<F>(std::tanh(static_cast<double>(widen<F>(a))));
}
inline unsigned pair(unsigned short low, unsigned short high) {
  return low | static_cast<unsigned>(high) << 16;
}
inline unsigned short low(unsigned pair) { return static_cast<unsigned short>(pair); }
inline unsigned short high(unsigned pair) { return static_cast<unsigned short>(pair >> 16); }
template <class F, HalfOp Op>
inline unsigned half_op2(unsigned a, unsigned b = 0, unsigned c = 0) {
  return pair(half_op<F, Op>(low(a), low(b), low(c)), half_op<F, Op>(high(a), high(b), high(c)));
}

inline unsigned short half_flushed(unsigned short x) {
  return (x & 0x7c00u) == 0 ? static_cast<unsigned short>(x & 0x8000u) : x;
}
template <class F>
unsigned short half_saturated(unsigned short x) {
  return narrow<F>(::plumb::simt::saturated(static_cast<double>(widen<F>(x))));
}
/// Negative numbers become 0; a NaN stays one.
inline unsigned short half_rectified(unsigned short x) {
  return (x & 0x8000u) != 0 && x != 0xffffu ? static_cast<unsigned short>(0) : x;
}
inline unsigned half_flushed2(unsigned x) { return pair(half_flushed(low(x)), half_flushed(high(x))); }
template <class F>
unsigned half_saturated2(unsigned x) {
  return pair(half_saturated<F>(low(x)), half_saturated<F>(high(x)));
}
inline unsigned half_rectified2(unsigned x) { return pair(half_rectified(low(x)), half_rectified(high(x))); }

/// Two numbers as 8-bit floats, the first below; larger than the largest become it.
template <class F>
unsigned char small(double x, bool rectifies) {
  if (rectifies) x = rectified(x);
  constexpr double kLargest = sizeof(F) == 0 ? 0 : std::is_same<F, E4m3>::value ? 448.0 : 57344.0;
  if (x > kLargest) x = kLargest;
  if (x < -kLargest) x = -kLargest;
  return static_cast<unsigned char>(narrow<F>(x));
}
template <class F>
unsigned short small_pair(float lower, float upper, bool rectifies = false) {
  return static_cast<unsigned short>(small<F>(static_cast<double>(lower), rectifies) |
                                     small<F>(static_cast<double>(upper), rectifies) << 8);
}
template <class F>
unsigned short small_pair_of_halves(unsigned halves, bool rectifies = false) {
  return small_pair<F>(widen<Half>(low(halves)), widen<Half>(high(halves)), rectifies);
}
template <class F>
unsigned halves_of_small_pair(unsigned short small, bool rectifies = false) {
  const auto one = [&](unsigned bits) {
    const double x = static_cast<double>(widen<F>(static_cast<unsigned char>(bits)));
    return narrow<Half>(rectifies ? rectified(x) : x);
  };
  return pair(one(small & 255u), one(small >> 8));
}

inline unsigned rank() {  // in the block
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned lane() { return rank() & 31u; }

/// The lane that a shfl.sync reads, and whether it lies within: b is its operand, c has the clamp in its low five bits and, from bit 8 on,
/// which bits of a lane's number say its segment.
enum class Shuffled : unsigned char { idx, up, down, bfly };
inline int shuffle_source(Shuffled how, unsigned b, unsigned c, bool& within) {
  const int mine = static_cast<int>(lane()), by = static_cast<int>(b & 31u);
  const int segment = static_cast<int>(c >> 8 & 31u), first = mine & segment;
  const int last = first | (static_cast<int>(c & 31u) & ~segment);
  int source = first | (by & ~segment);
  if (how == Shuffled::up) source = mine - by;
  if (how == Shuffled::down) source = mine + by;
  if (how == Shuffled::bfly) source = mine ^ by;
  within = how == Shuffled::up ? source >= last : source <= last;
  return within ? source : mine;
}
inline unsigned warp() { return rank() / 32u; }
inline int block_size() { return static_cast<int>(blockDim.x * blockDim.y * blockDim.z); }

}  // namespace plumb::simt::ptx
