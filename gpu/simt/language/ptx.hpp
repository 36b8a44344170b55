// What inline PTX becomes on the CPU executor: rewrite.py (ptx.py) writes these calls in place of asm statements. Only what a kernel
// cannot say in plain C++ is here; loads and stores without an order are written out, so that a finding names the kernel's own line.
#pragma once
#include <cstring>
#include <type_traits>

#include "gpu/simt/language/device_api.hpp"
#include "gpu/simt/language/half_bits.hpp"

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
inline unsigned bfe(unsigned a, unsigned at, unsigned bits) {
  at &= 255u, bits &= 255u;
  if (at > 31u || bits == 0) return 0;
  return bits > 31u ? a >> at : a >> at & ((1u << bits) - 1u);
}
inline unsigned bfi(unsigned a, unsigned b, unsigned at, unsigned bits) {
  at &= 255u, bits &= 255u;
  if (at > 31u || bits == 0) return b;
  const unsigned mask = (bits > 31u ? ~0u : (1u << bits) - 1u) << at;
  return (b & ~mask) | (a << at & mask);
}

/// x rounded to tf32 (10 explicit mantissa bits), ties away from zero (cvt.rna); NaN and infinities keep their class.
inline unsigned to_tf32(float x) {
  const unsigned bits = bits_of(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return (bits & 0x007fffffu) != 0 ? bits | 0x00400000u : bits;
  return (bits + 0x1000u) & 0xffffe000u;
}

/// Arithmetic on 16-bit floats as their bits, one or in pairs: op of each, rounded once.
enum class HalfOp { add, sub, mul, fma, min, max, neg, abs, ex2, tanh };
template <class F, HalfOp Op>
inline unsigned short half_op(unsigned short a, unsigned short b = 0, unsigned short c = 0) {
  if constexpr (Op == HalfOp::add) return sum<F>(a, b);
  if constexpr (Op == HalfOp::sub) return difference<F>(a, b);
  if constexpr (Op == HalfOp::mul) return product<F>(a, b);
  if constexpr (Op == HalfOp::fma) return fused<F>(a, b, c);
  if constexpr (Op == HalfOp::min) return extreme<F>(a, b, true);
  if constexpr (Op == HalfOp::max) return extreme<F>(a, b, false);
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
