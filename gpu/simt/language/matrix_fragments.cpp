#include "gpu/simt/language/matrix_fragments.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "gpu/simt/language/half_bits.hpp"

namespace plumb::simt {

namespace {

constexpr int kLanes = 32, kColumns = 8;

double number(ByteElement element, unsigned byte) {
  switch (element) {
    case ByteElement::s8:
      return static_cast<signed char>(byte);
    case ByteElement::u8:
      return byte;
    case ByteElement::e4m3:
      return static_cast<double>(widen<E4m3>(static_cast<unsigned char>(byte)));
    case ByteElement::e5m2:
      return static_cast<double>(widen<E5m2>(static_cast<unsigned char>(byte)));
  }
  return 0;
}

template <class Sum>
struct ByteLane {
  const unsigned* a;
  const unsigned* b;
  Sum* c;
  ByteProduct form;
};

int sum_of(int c, double products, bool saturates) {
  const auto whole = static_cast<std::int64_t>(products) + c;
  if (!saturates) return static_cast<int>(static_cast<std::uint32_t>(whole));
  constexpr std::int64_t kLow = std::numeric_limits<int>::min(), kHigh = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(whole, kLow, kHigh));
}
float sum_of(float c, double products, bool) { return static_cast<float>(static_cast<double>(c) + products); }

// A register holds four elements along K. With g = lane / 4 and t = lane % 4, those of A are of row g (and g + 8, then 16 columns on) from
// column 4t on, of B of column g from row 4t on (then 16 rows on); C is (g, 2t), (g, 2t + 1) and the same of row g + 8.
template <class Sum>
void multiply_bytes(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const ByteLane<Sum>*>(in[l]); };
  const ByteProduct& form = lane(0)->form;
  const int tall = form.rows / 8;
  const auto a_at = [&](int row, int k) {
    const unsigned word = lane(row % 8 * 4 + k % 16 / 4)->a[row / 8 + tall * (k / 16)];
    return number(form.a, word >> (8 * (k % 4)) & 255u);
  };
  const auto b_at = [&](int k, int column) {
    return number(form.b, lane(column * 4 + k % 16 / 4)->b[k / 16] >> (8 * (k % 4)) & 255u);
  };
  for (int row = 0; row < form.rows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (int k = 0; k < form.depth; ++k) sum += a_at(row, k) * b_at(k, column);
      Sum& c = lane(row % 8 * 4 + column / 2)->c[row / 8 * 2 + column % 2];
      c = sum_of(c, sum, form.saturates);
    }
  }
}

struct PairOfLane {
  unsigned pair;
};
void transpose_pairs(unsigned, void* const* in, void* const*) {
  unsigned short matrix[8][8];
  for (int l = 0; l < kLanes; ++l)
    for (int i = 0; i < 2; ++i)
      matrix[l / 4][l % 4 * 2 + i] =
          static_cast<unsigned short>(static_cast<PairOfLane*>(in[l])->pair >> (16 * i));
  for (int l = 0; l < kLanes; ++l) {
    unsigned& pair = static_cast<PairOfLane*>(in[l])->pair;
    pair = matrix[l % 4 * 2][l / 4] | static_cast<unsigned>(matrix[l % 4 * 2 + 1][l / 4]) << 16;
  }
}

}  // namespace

void mma_bytes(int* c, const unsigned* a, const unsigned* b, const ByteProduct& form, Here here) {
  ByteLane<int> mine{a, b, c, form};
  whole_warp_exchange("mma.sync (8-bit integers)", &multiply_bytes<int>, &mine, here);
}
void mma_bytes(float* c, const unsigned* a, const unsigned* b, const ByteProduct& form, Here here) {
  ByteLane<float> mine{a, b, c, form};
  whole_warp_exchange("mma.sync (fp8)", &multiply_bytes<float>, &mine, here);
}

unsigned movmatrix(unsigned pair, Here here) {
  PairOfLane mine{pair};
  whole_warp_exchange("movmatrix", &transpose_pairs, &mine, here);
  return mine.pair;
}

}  // namespace plumb::simt
