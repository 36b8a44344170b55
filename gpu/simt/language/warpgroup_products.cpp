#include "gpu/simt/language/warpgroup_products.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/simt/language/half_bits.hpp"
#include "gpu/simt/language/tensor_products.hpp"

namespace plumb::simt {

namespace {

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

// Two elements of a lane's sums that lie together, by row and column of the warp's: registers 2 pair and 2 pair + 1, or `pair` of f16.
struct SumPair {
  int row, column, pair;
};
template <class Visit>
void each_pair(const ProductForm& form, int lane, const Visit& visit) {
  for (int pair = 0; pair < form.columns / 4; ++pair)
    visit(SumPair{lane / 4 + pair % 2 * 8, pair / 2 * 8 + lane % 4 * 2, pair});
}

void take_pair(const ProductForm& form, const unsigned* sums, int pair, float* out) {
  if (form.total == Total::f32) {
    std::memcpy(out, sums + 2 * pair, 2 * sizeof *out);
    return;
  }
  for (int i = 0; i < 2; ++i) out[i] = widen<Half>(static_cast<unsigned short>(sums[pair] >> 16 * i));
}
void put_pair(const ProductForm& form, const float* pair_of, unsigned* sums, int pair) {
  if (form.total == Total::f32) {
    std::memcpy(sums + 2 * pair, pair_of, 2 * sizeof *pair_of);
    return;
  }
  const unsigned low = narrow<Half>(static_cast<double>(pair_of[0]));
  sums[pair] = low | static_cast<unsigned>(narrow<Half>(static_cast<double>(pair_of[1]))) << 16;
}

unsigned integer_sum(int product, unsigned before, bool saturate) {
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

void fetch(const Described& o, const unsigned char* shared, int first, int rows, unsigned char* to) {
  const Layout l(o.descriptor);
  const int depth = depth_of(o.element), bytes = bytes_of(o.element);
  const int together = o.turned ? 1 : static_cast<int>(kUnit) / bytes;  // elements along K of a unit
  const auto count = static_cast<std::size_t>(together * bytes);
  for (int row = first; row < first + rows; ++row) {
    for (int k = 0; k < depth; k += together, to += count)
      std::memcpy(to, shared + place(l, o, row, k), count);
  }
}

// Register r of lane 4 g + t holds bytes [16 (r / 2) + 4 t, + 4) of row g + 8 (r % 2).
void fetch(const unsigned (&a)[32][4], unsigned char* to) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r)
      std::memcpy(to + (lane / 4 + r % 2 * 8) * kBytesAlongK + r / 2 * 16 + lane % 4 * 4, &a[lane][r], 4);
  }
}

namespace {

void add_integers(const ProductForm& form, const unsigned char* a, const unsigned char* b, bool add,
                  const WarpSums& sums) {
  const auto number = [](Element element, unsigned char code) {
    return element == Element::s8 ? static_cast<int>(static_cast<signed char>(code)) : static_cast<int>(code);
  };
  for (int lane = 0; lane < 32; ++lane) {
    each_pair(form, lane, [&](const SumPair& s) {
      for (int i = 0; i < 2; ++i) {
        int product = 0;
        for (int k = 0; k < kBytesAlongK; ++k)
          product += number(form.a, a[s.row * kBytesAlongK + k]) *
                     number(form.b, b[(s.column + i) * kBytesAlongK + k]);
        unsigned& sum = sums[lane][2 * s.pair + i];
        sum = integer_sum(product, add ? sum : 0, form.saturate);
      }
    });
  }
}

}  // namespace

void add_product(const ProductForm& form, const unsigned char* a, const unsigned char* b, bool add,
                 const WarpSums& sums) {
  if (form.total == Total::s32) return add_integers(form, a, b, add, sums);
  std::vector<float> numbers(static_cast<std::size_t>(kRowsOfWarp * form.columns));
  const auto place_of = [&](const SumPair& s) { return numbers.data() + s.row * form.columns + s.column; };
  for (int lane = 0; lane < 32 && add; ++lane)
    each_pair(form, lane, [&](const SumPair& s) { take_pair(form, sums[lane], s.pair, place_of(s)); });
  tensor_product({TensorInstruction::wgmma, form.a, form.b, form.total, kRowsOfWarp, form.columns,
                  depth_of(form.a), form.negate_a != form.negate_b},
                 a, b, numbers.data());
  for (int lane = 0; lane < 32; ++lane)
    each_pair(form, lane, [&](const SumPair& s) { put_pair(form, place_of(s), sums[lane], s.pair); });
}

}  // namespace plumb::simt
