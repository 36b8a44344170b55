// Bytes and half words of a word, each part by itself; sums of their products; and the minima and maxima of three numbers and of sums
// that dynamic programming asks for ("DPX").
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>

namespace plumb::simt {
template <class Part, class F>
unsigned by_parts(unsigned a, unsigned b, F f) {
  constexpr int bits = 8 * sizeof(Part);
  unsigned out = 0;
  for (int i = 0; i < 32; i += bits) {
    const auto part =
        static_cast<std::make_unsigned_t<Part>>(f(static_cast<Part>(a >> i), static_cast<Part>(b >> i)));
    out |= static_cast<unsigned>(part) << i;
  }
  return out;
}
/// c plus the products of four bytes of a with bytes, or half words from `first` on, of b.
template <class A, class B, class C>
C dot_of_bytes(unsigned a, unsigned b, C c, int parts, int first) {
  auto sum = static_cast<unsigned>(c);
  for (int i = 0; i < parts; ++i) {
    const int x = static_cast<A>(a >> 8 * (first + i));
    const int y = static_cast<B>(b >> 8 * static_cast<int>(sizeof(B)) * i);
    sum += static_cast<unsigned>(x) * static_cast<unsigned>(y);
  }
  return static_cast<C>(sum);
}
}  // namespace plumb::simt
#define PLUMB_SIMT_BY_PARTS_OF(name, type, expression)            \
  inline unsigned __v##name(unsigned a, unsigned b) {             \
    return ::plumb::simt::by_parts<type>(a, b, [](int x, int y) { \
      constexpr int low = std::numeric_limits<type>::min();       \
      constexpr int high = std::numeric_limits<type>::max();      \
      (void)low, (void)high;                                      \
      return static_cast<int>(expression);                        \
    });                                                           \
  }
#define PLUMB_SIMT_BY_PARTS(name, signed_or_not, expression)      \
  PLUMB_SIMT_BY_PARTS_OF(name##4, signed_or_not char, expression) \
  PLUMB_SIMT_BY_PARTS_OF(name##2, signed_or_not short, expression)
// A comparison: all ones where it holds, or 1.
#define PLUMB_SIMT_COMPARES(name, signed_or_not, holds)           \
  PLUMB_SIMT_BY_PARTS(cmp##name, signed_or_not, (holds) ? -1 : 0) \
  PLUMB_SIMT_BY_PARTS(set##name, signed_or_not, (holds) ? 1 : 0)
PLUMB_SIMT_BY_PARTS(add, unsigned, x + y)
PLUMB_SIMT_BY_PARTS(sub, unsigned, x - y)
PLUMB_SIMT_BY_PARTS(maxs, signed, x < y ? y : x)
PLUMB_SIMT_BY_PARTS(maxu, unsigned, x < y ? y : x)
PLUMB_SIMT_BY_PARTS(mins, signed, y < x ? y : x)
PLUMB_SIMT_BY_PARTS(minu, unsigned, y < x ? y : x)
PLUMB_SIMT_BY_PARTS(avgs, signed, (x + y + (x + y >= 0)) >> 1)
PLUMB_SIMT_BY_PARTS(avgu, unsigned, (x + y + 1) >> 1)
PLUMB_SIMT_BY_PARTS(absdiffs, signed, x < y ? y - x : x - y)
PLUMB_SIMT_BY_PARTS(absdiffu, unsigned, x < y ? y - x : x - y)
PLUMB_SIMT_BY_PARTS(haddu, unsigned, (x + y) >> 1)
PLUMB_SIMT_BY_PARTS(addss, signed, std::clamp(x + y, low, high))
PLUMB_SIMT_BY_PARTS(addus, unsigned, std::clamp(x + y, low, high))
PLUMB_SIMT_BY_PARTS(subss, signed, std::clamp(x - y, low, high))
PLUMB_SIMT_BY_PARTS(subus, unsigned, std::clamp(x - y, low, high))
PLUMB_SIMT_COMPARES(eq, unsigned, x == y)
PLUMB_SIMT_COMPARES(ne, unsigned, x != y)
PLUMB_SIMT_COMPARES(gts, signed, x > y)
PLUMB_SIMT_COMPARES(gtu, unsigned, x > y)
PLUMB_SIMT_COMPARES(ges, signed, x >= y)
PLUMB_SIMT_COMPARES(geu, unsigned, x >= y)
PLUMB_SIMT_COMPARES(lts, signed, x < y)
PLUMB_SIMT_COMPARES(ltu, unsigned, x < y)
PLUMB_SIMT_COMPARES(les, signed, x <= y)
PLUMB_SIMT_COMPARES(leu, unsigned, x <= y)
// Of one word, and sums of the parts' differences.
#define PLUMB_SIMT_OF_ONE(parts)                                                 \
  inline unsigned __vneg##parts(unsigned a) { return __vsub##parts(0, a); }      \
  inline unsigned __vnegss##parts(unsigned a) { return __vsubss##parts(0, a); }  \
  inline unsigned __vabs##parts(unsigned a) { return __vabsdiffs##parts(a, 0); } \
  inline unsigned __vabsss##parts(unsigned a) { return __vmaxs##parts(a, __vsubss##parts(0, a)); }
PLUMB_SIMT_OF_ONE(2)
PLUMB_SIMT_OF_ONE(4)
#undef PLUMB_SIMT_OF_ONE
inline unsigned __vsads2(unsigned a, unsigned b) {
  const unsigned d = __vabsdiffs2(a, b);
  return (d & 0xffffu) + (d >> 16);
}
inline unsigned __vsadu2(unsigned a, unsigned b) {
  const unsigned d = __vabsdiffu2(a, b);
  return (d & 0xffffu) + (d >> 16);
}
inline unsigned __vsads4(unsigned a, unsigned b) {
  return ::plumb::simt::dot_of_bytes<unsigned char, unsigned char>(__vabsdiffs4(a, b), 0x01010101u, 0u, 4, 0);
}
inline unsigned __vsadu4(unsigned a, unsigned b) {
  return ::plumb::simt::dot_of_bytes<unsigned char, unsigned char>(__vabsdiffu4(a, b), 0x01010101u, 0u, 4, 0);
}
#undef PLUMB_SIMT_COMPARES
#undef PLUMB_SIMT_BY_PARTS_OF
#undef PLUMB_SIMT_BY_PARTS
inline int __dp4a(int a, int b, int c) {
  return ::plumb::simt::dot_of_bytes<signed char, signed char>(static_cast<unsigned>(a),
                                                               static_cast<unsigned>(b), c, 4, 0);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return ::plumb::simt::dot_of_bytes<unsigned char, unsigned char>(a, b, c, 4, 0);
}
// Half words of the first with the low or the high bytes of the second.
inline int __dp2a_lo(int a, int b, int c) {
  return ::plumb::simt::dot_of_bytes<signed char, short>(static_cast<unsigned>(b), static_cast<unsigned>(a),
                                                         c, 2, 0);
}
inline int __dp2a_hi(int a, int b, int c) {
  return ::plumb::simt::dot_of_bytes<signed char, short>(static_cast<unsigned>(b), static_cast<unsigned>(a),
                                                         c, 2, 2);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return ::plumb::simt::dot_of_bytes<unsigned char, unsigned short>(b, a, c, 2, 0);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return ::plumb::simt::dot_of_bytes<unsigned char, unsigned short>(b, a, c, 2, 2);
}

// ---- DPX: of 32 bits (s32, u32) and of two half words (s16x2, u16x2); "relu": no less than 0 ----
#define PLUMB_SIMT_DPX_OF(T, type, max, min, add)                         \
  inline T __vimax3_##type(T a, T b, T c) { return max(max(a, b), c); }   \
  inline T __vimin3_##type(T a, T b, T c) { return min(min(a, b), c); }   \
  inline T __viaddmax_##type(T a, T b, T c) { return max(add(a, b), c); } \
  inline T __viaddmin_##type(T a, T b, T c) { return min(add(a, b), c); }
#define PLUMB_SIMT_DPX_RELU(T, type, max, min, add)                                                  \
  PLUMB_SIMT_DPX_OF(T, type, max, min, add)                                                          \
  inline T __vimax_##type##_relu(T a, T b) { return max(max(a, b), T{0}); }                          \
  inline T __vimin_##type##_relu(T a, T b) { return max(min(a, b), T{0}); }                          \
  inline T __vimax3_##type##_relu(T a, T b, T c) { return max(__vimax3_##type(a, b, c), T{0}); }     \
  inline T __vimin3_##type##_relu(T a, T b, T c) { return max(__vimin3_##type(a, b, c), T{0}); }     \
  inline T __viaddmax_##type##_relu(T a, T b, T c) { return max(__viaddmax_##type(a, b, c), T{0}); } \
  inline T __viaddmin_##type##_relu(T a, T b, T c) { return max(__viaddmin_##type(a, b, c), T{0}); }
namespace plumb::simt {
template <class T>
T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
}  // namespace plumb::simt
PLUMB_SIMT_DPX_RELU(int, s32, std::max, std::min, ::plumb::simt::wrapped_sum)
PLUMB_SIMT_DPX_OF(unsigned, u32, std::max, std::min, ::plumb::simt::wrapped_sum)
PLUMB_SIMT_DPX_RELU(unsigned, s16x2, __vmaxs2, __vmins2, __vadd2)
PLUMB_SIMT_DPX_OF(unsigned, u16x2, __vmaxu2, __vminu2, __vadd2)
#undef PLUMB_SIMT_DPX_RELU
#undef PLUMB_SIMT_DPX_OF
// Which of the two it was: the first, where they are alike.
#define PLUMB_SIMT_DPX_WHICH(name, T, type, half, choose, compare)                          \
  inline T __vib##name##_##type(T a, T b, bool* first) {                                    \
    *first = a compare b;                                                                   \
    return std::name(a, b);                                                                 \
  }                                                                                         \
  inline unsigned __vib##name##_##half##x2(unsigned a, unsigned b, bool* high, bool* low) { \
    const unsigned one = choose(a, b);                                                      \
    *high = one >> 16 == a >> 16;                                                           \
    *low = (one & 0xffffu) == (a & 0xffffu);                                                \
    return one;                                                                             \
  }
PLUMB_SIMT_DPX_WHICH(max, int, s32, s16, __vmaxs2, >=)
PLUMB_SIMT_DPX_WHICH(max, unsigned, u32, u16, __vmaxu2, >=)
PLUMB_SIMT_DPX_WHICH(min, int, s32, s16, __vmins2, <=)
PLUMB_SIMT_DPX_WHICH(min, unsigned, u32, u16, __vminu2, <=)
#undef PLUMB_SIMT_DPX_WHICH
