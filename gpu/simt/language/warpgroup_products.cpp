#include "gpu/simt/language/warpgroup_products.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpu/simt/language/half_bits.hpp"

namespace plumb::simt {

namespace {

int bytes_of(Element element) {
  switch (element) {
    case Element::tf32:
      return 4;
    case Element::f16:
    case Element::bf16:
      return 2;
    default:
      return 1;
  }
}

double number(Element element, const unsigned char* at) {
  unsigned bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(bytes_of(element)));
  switch (element) {
    case Element::tf32:
      return static_cast<double>(from_bits(bits & 0xffffe000u));
    case Element::f16:
      return static_cast<double>(widen<Half>(static_cast<unsigned short>(bits)));
    case Element::bf16:
      return static_cast<double>(widen<Brain>(static_cast<unsigned short>(bits)));
    case Element::e4m3:
      return static_cast<double>(widen<E4m3>(static_cast<unsigned char>(bits)));
    case Element::e5m2:
      return static_cast<double>(widen<E5m2>(static_cast<unsigned char>(bits)));
    case Element::s8:
      return static_cast<signed char>(bits);
    case Element::u8:
      return bits;
  }
  return 0;
}

// A matrix descriptor's fields, in bytes. Rows of a swizzled layout are `width` bytes long, and eight of them make its pattern.
struct Layout {
  std::uint32_t start, leading, stride, width, swizzled_units, base;
  explicit Layout(unsigned long long d)
      : start(static_cast<std::uint32_t>(d & 0x3fffu) << 4),
        leading(static_cast<std::uint32_t>(d >> 16 & 0x3fffu) << 4),
        stride(static_cast<std::uint32_t>(d >> 32 & 0x3fffu) << 4),
        base(static_cast<std::uint32_t>(d >> 49 & 7u)) {
    static constexpr std::uint32_t kUnits[] = {1, 8, 4, 2};  // none, 128, 64 and 32 bytes
    swizzled_units = kUnits[d >> 62 & 3u];
    width = kUnit * swizzled_units;
  }
  // Units of a row are permuted by the row's place in the pattern, which is bits of its address.
  std::uint32_t swizzled(std::uint32_t at) const { return at ^ (at >> 7 & (swizzled_units - 1)) << 4; }
};

std::uint32_t place(const Layout& l, const Described& o, int row, int k) {
  const auto r = static_cast<std::uint32_t>(row), c = static_cast<std::uint32_t>(k);
  const bool plain = l.swizzled_units == 1;
  std::uint32_t at = l.start;
  if (!o.turned) {
    const std::uint32_t byte = c * static_cast<std::uint32_t>(bytes_of(o.element));
    at += r % 8 * l.width + r / 8 * l.stride + (plain ? byte / kUnit * l.leading + byte % kUnit : byte);
  } else if (plain) {
    at += r / 8 * l.stride + c / 8 * l.leading + c % 8 * kUnit + r % 8 * 2;
  } else {
    const std::uint32_t unit = r / 8;
    at += unit / l.swizzled_units * l.leading + unit % l.swizzled_units * kUnit + c % 8 * l.width +
          c / 8 * l.stride + r % 8 * 2;
  }
  return l.swizzled(at);
}

double bits_as_float(unsigned bits) { return static_cast<double>(from_bits(bits)); }

unsigned integer_sum(double product, unsigned before, bool saturate) {
  const auto sum = static_cast<long long>(product) + static_cast<int>(before);
  if (!saturate) return static_cast<unsigned>(static_cast<unsigned long long>(sum));
  return static_cast<unsigned>(static_cast<int>(std::clamp<long long>(sum, -0x7fffffffLL - 1, 0x7fffffffLL)));
}

}  // namespace

int depth_of(Element element) { return kBytesAlongK / bytes_of(element); }

const char* cannot_read(const Described& o) {
  if (o.turned && bytes_of(o.element) != 2)
    return "wgmma of other than 16-bit elements with rows that lie together";
  if (Layout(o.descriptor).base != 0) return "a base offset in a matrix descriptor of wgmma";
  return nullptr;
}

std::vector<std::uint32_t> units_of(const Described& o, int first, int rows) {
  const Layout l(o.descriptor);
  std::vector<std::uint32_t> out;
  const int depth = depth_of(o.element), row_step = o.turned ? 8 : 1, k_step = o.turned ? 1 : depth / 2;
  for (int row = first; row < first + rows; row += row_step) {
    for (int k = 0; k < depth; k += k_step) out.push_back(place(l, o, row, k));
  }
  return out;
}

void fetch(const Described& o, const unsigned char* shared, int first, int rows, double* to) {
  const Layout l(o.descriptor);
  const int depth = depth_of(o.element), bytes = bytes_of(o.element);
  const int together = o.turned ? 1 : static_cast<int>(kUnit) / bytes;  // elements along K of a unit
  for (int row = first; row < first + rows; ++row) {
    for (int k = 0; k < depth; k += together) {
      const unsigned char* const unit = shared + place(l, o, row, k);
      for (int i = 0; i < together; ++i) *to++ = number(o.element, unit + i * bytes);
    }
  }
}

// Register r of lane 4 g + t holds bytes [16 (r / 2) + 4 t, + 4) of row g + 8 (r % 2).
void fetch(Element element, const unsigned (&a)[32][4], double* to) {
  unsigned char rows[kRowsOfWarp][kBytesAlongK];
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r)
      std::memcpy(&rows[lane / 4 + r % 2 * 8][r / 2 * 16 + lane % 4 * 4], &a[lane][r], 4);
  }
  const int depth = depth_of(element);
  for (const auto& row : rows) {
    for (int k = 0; k < depth; ++k) *to++ = number(element, row + k * bytes_of(element));
  }
}

namespace {

// to += factor * from, of `count` elements, a multiple of 8. The products are exact: a fused addition rounds as one behind them does.
[[gnu::always_inline]] inline void add_scaled(double factor, const double* __restrict from, int count,
                                              double* __restrict to) {
  for (int first = 0; first < count; first += 8)
    for (int i = 0; i < 8; ++i) to[first + i] += factor * from[first + i];
}

[[gnu::always_inline]] inline void multiply_in_order(const ProductForm& form, const double* a,
                                                     const double* b, double* product) {
  const int depth = depth_of(form.a), columns = form.columns;
  double row_of_b[kMostColumns];
  for (int k = 0; k < depth; ++k) {
    bool all_finite = true;
    for (int column = 0; column < columns; ++column) {
      row_of_b[column] = b[column * depth + k];
      all_finite = all_finite && std::isfinite(row_of_b[column]);
    }
    for (int row = 0; row < kRowsOfWarp; ++row) {
      const double factor = a[row * depth + k];
      if (factor == 0 && all_finite) continue;  // sums begin at +0, which no zero changes
      add_scaled(factor, row_of_b, columns, product + row * columns);
    }
  }
}
void multiply_by_calls(const ProductForm& form, const double* a, const double* b, double* product) {
  multiply_in_order(form, a, b, product);
}
#if defined(__x86_64__)
// The same numbers by an instruction for four of them.
[[gnu::target("avx2,fma")]] void multiply_by_instructions(const ProductForm& form, const double* a,
                                                          const double* b, double* product) {
  multiply_in_order(form, a, b, product);
}
#endif

}  // namespace

void multiply(const ProductForm& form, const double* a, const double* b, double* product) {
#if defined(__x86_64__)
  static const bool has_them = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  if (has_them) return multiply_by_instructions(form, a, b, product);
#endif
  multiply_by_calls(form, a, b, product);
}

void add_product(const ProductForm& form, const double* product, bool add, int lane, unsigned* sums) {
  const double sign = form.negate_a != form.negate_b ? -1.0 : 1.0;
  const auto dot = [&](int row, int column) { return sign * product[row * form.columns + column]; };
  for (int j = 0; j < form.columns / 8; ++j) {
    for (int h = 0; h < 2; ++h) {
      const int row = lane / 4 + 8 * h, column = 8 * j + lane % 4 * 2;
      const double two[2] = {dot(row, column), dot(row, column + 1)};
      if (form.total == Total::f16) {
        unsigned& pair = sums[2 * j + h];
        unsigned now = 0;
        for (unsigned i = 0; i < 2; ++i) {
          const auto before = static_cast<unsigned short>(add ? pair >> 16 * i : 0);
          now |= static_cast<unsigned>(narrow<Half>(static_cast<double>(widen<Half>(before)) + two[i]))
                 << 16 * i;
        }
        pair = now;
        continue;
      }
      for (int i = 0; i < 2; ++i) {
        unsigned& sum = sums[4 * j + 2 * h + i];
        if (form.total == Total::s32) {
          sum = integer_sum(two[i], add ? sum : 0, form.saturate);
        } else {
          sum = bits_of(static_cast<float>((add ? bits_as_float(sum) : 0.0) + two[i]));
        }
      }
    }
  }
}

}  // namespace plumb::simt
