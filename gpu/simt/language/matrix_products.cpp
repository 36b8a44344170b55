// mma.sync and ldmatrix: matrix products across a warp and the loads that feed them, done where all lanes have met.
#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/language/half_bits.hpp"
#include "gpu/simt/language/tensor_products.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr int kMostRowBytes = 32;  // of an operand of mma.sync along K

// fp64 products are added one after another, each rounded once.
[[gnu::always_inline]] inline void multiply_in_order(int rows, int depth, const double (&a)[16][16],
                                                     const double (&b)[16][8], double (&c)[16][8]) {
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k)
      for (int col = 0; col < 8; ++col) c[row][col] = std::fma(a[row][k], b[k][col], c[row][col]);
  }
}
void multiply_by_calls(int rows, int depth, const double (&a)[16][16], const double (&b)[16][8],
                       double (&c)[16][8]) {
  multiply_in_order(rows, depth, a, b, c);
}
#if defined(__x86_64__)
// The same numbers by an instruction for four of them.
[[gnu::target("avx2,fma")]] void multiply_by_instructions(int rows, int depth, const double (&a)[16][16],
                                                          const double (&b)[16][8], double (&c)[16][8]) {
  multiply_in_order(rows, depth, a, b, c);
}
void multiply_f64(int rows, int depth, const double (&a)[16][16], const double (&b)[16][8],
                  double (&c)[16][8]) {
  static const bool has_them = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  (has_them ? multiply_by_instructions : multiply_by_calls)(rows, depth, a, b, c);
}
#else
void multiply_f64(int rows, int depth, const double (&a)[16][16], const double (&b)[16][8],
                  double (&c)[16][8]) {
  multiply_by_calls(rows, depth, a, b, c);
}
#endif

struct F64Lane {
  const double* a;
  const double* b;
  double* c;
  int m, k;
};

void multiply_lanes_f64(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const F64Lane*>(in[l]); };
  double a[16][16], b[16][8], c[16][8];
  const int depth = lane(0)->k, rows = lane(0)->m, tall = rows / 8;  // fragments of A for four columns
  for (int l = 0; l < kWarp; ++l) {
    for (int k = 0; k < depth / 4; ++k) {
      for (int i = 0; i < tall; ++i) a[l / 4 + i * 8][l % 4 + k * 4] = lane(l)->a[i + tall * k];
      b[l % 4 + k * 4][l / 4] = lane(l)->b[k];
    }
    for (int i = 0; i < 2 * tall; ++i) c[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2] = lane(l)->c[i];
  }
  multiply_f64(rows, depth, a, b, c);
  for (int l = 0; l < kWarp; ++l)
    for (int i = 0; i < 2 * tall; ++i) lane(l)->c[i] = c[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2];
}

struct WholeLane {
  Combine combine;
  void* in;
  bool met;
};

void combine_whole(unsigned mask, void* const* in, void* const*) {
  if (mask != ~0u) return;
  void* inner[kWarp];
  for (int l = 0; l < kWarp; ++l) {
    auto* lane = static_cast<WholeLane*>(in[l]);
    inner[l] = lane->in;
    lane->met = true;
  }
  const Combine combine = static_cast<WholeLane*>(in[0])->combine;
  if (combine != nullptr) combine(mask, inner, nullptr);
}

struct WordLane {
  Element a_of, b_of;
  Total total;
  int depth;
  void* c;
  const unsigned* a;
  const unsigned* b;
};

// The sums of a lane that are f16, in pairs, as numbers, and back.
void widen_pairs(const void* c, float (&to)[4]) {
  unsigned short codes[4];
  std::memcpy(codes, c, sizeof codes);
  for (int i = 0; i < 4; ++i) to[i] = widen<Half>(codes[i]);
}
void narrow_pairs(const float (&from)[4], void* c) {
  unsigned short codes[4];
  for (int i = 0; i < 4; ++i) codes[i] = narrow<Half>(static_cast<double>(from[i]));
  std::memcpy(c, codes, sizeof codes);
}

const char* name_of(Element a_of, Total total) {
  const bool half = total == Total::f16;
  switch (a_of) {
    case Element::tf32:
      return "mma.sync (tf32)";
    case Element::bf16:
      return "mma.sync (bf16)";
    case Element::e4m3:
      return half ? "mma.sync (e4m3, f16 accumulators)" : "mma.sync (e4m3)";
    case Element::e5m2:
      return half ? "mma.sync (e5m2, f16 accumulators)" : "mma.sync (e5m2)";
    default:
      return half ? "mma.sync (f16 accumulators)" : "mma.sync (f16)";
  }
}

// The PTX ISA's fragments of m16n8: with g = lane / 4 and t = lane % 4, A's words hold bytes 4t.. of row g and of row g + 8, and then those
// 16 bytes on; B's bytes 4t.. of column g, then 16 bytes on; the sums are (g, 2t), (g, 2t + 1), and those 8 rows on.
void multiply_words(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const WordLane*>(in[l]); };
  const WordLane& form = *lane(0);
  const int row_bytes = form.depth * bytes_of(form.a_of);
  unsigned char a[16 * kMostRowBytes], b[8 * kMostRowBytes];
  float c[16][8];
  for (int l = 0; l < kWarp; ++l) {
    const int g = l / 4, at = l % 4 * 4;
    for (int r = 0; r < row_bytes / 8; ++r)
      std::memcpy(a + (g + r % 2 * 8) * row_bytes + r / 2 * 16 + at, &lane(l)->a[r], 4);
    for (int r = 0; r < row_bytes / 16; ++r) std::memcpy(b + g * row_bytes + r * 16 + at, &lane(l)->b[r], 4);
    float mine[4];
    if (form.total == Total::f16) {
      widen_pairs(lane(l)->c, mine);
    } else {
      std::memcpy(mine, lane(l)->c, sizeof mine);
    }
    for (int i = 0; i < 4; ++i) c[g + i / 2 * 8][l % 4 * 2 + i % 2] = mine[i];
  }
  tensor_product({TensorInstruction::mma, form.a_of, form.b_of, form.total, 16, 8, form.depth}, a, b, c[0]);
  for (int l = 0; l < kWarp; ++l) {
    float mine[4];
    for (int i = 0; i < 4; ++i) mine[i] = c[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2];
    if (form.total == Total::f16) {
      narrow_pairs(mine, lane(l)->c);
    } else {
      std::memcpy(lane(l)->c, mine, sizeof mine);
    }
  }
}

struct RowLane {
  unsigned short row[8];
  unsigned* out;
  int count;
  bool transposed;
};

// Lane l receives row l / 4, columns 2 (l % 4) and the next, of each matrix or of its transpose.
void spread_rows(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const RowLane*>(in[l]); };
  for (int l = 0; l < kWarp; ++l) {
    for (int m = 0; m < lane(l)->count; ++m) {
      unsigned pair = 0;
      for (int i = 0; i < 2; ++i) {
        const int row = lane(l)->transposed ? l % 4 * 2 + i : l / 4;
        const int col = lane(l)->transposed ? l / 4 : l % 4 * 2 + i;
        pair |= static_cast<unsigned>(lane(m * 8 + row)->row[col]) << (16 * i);
      }
      lane(l)->out[m] = pair;
    }
  }
}

struct ScatteredRow {
  unsigned short row[8];
  const unsigned* in;
  int count;
  bool transposed;
};

// The reverse of spread_rows.
void gather_rows(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<ScatteredRow*>(in[l]); };
  for (int l = 0; l < kWarp; ++l) {
    for (int m = 0; m < lane(l)->count; ++m) {
      for (int i = 0; i < 2; ++i) {
        const int row = lane(l)->transposed ? l % 4 * 2 + i : l / 4;
        const int col = lane(l)->transposed ? l / 4 : l % 4 * 2 + i;
        lane(m * 8 + row)->row[col] = static_cast<unsigned short>(lane(l)->in[m] >> (16 * i));
      }
    }
  }
}

}  // namespace

// Whether lanes are missing shows only where the rest have met: one may yet exit without coming here.
void whole_warp_exchange(const char* name, Combine combine, void* in, Here here, WarpOrder order) {
  WholeLane mine{combine, in, false};
  warp_exchange(~0u, name, &combine_whole, &mine, nullptr, here, order);
  if (!mine.met) trap(fmt::format("{} needs all 32 lanes of the warp", name).c_str(), here);
}

void access_for(const char* what, const void* p, std::size_t bytes, std::size_t alignment, bool writes,
                Here here) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (at % alignment != 0) {
    note(FindingKind::misaligned,
         fmt::format("{} at an address that is no multiple of {} (remainder {})", what, alignment,
                     at % alignment),
         current().schedule.thread, locate(here));
    stop();
  }
  if (checking()) access(const_cast<void*>(p), bytes, writes ? Access::write : Access::read, locate(here));
}

void uses_unset_fragment(const char* what, const char* which, Here here) {
  RawFinding* f =
      note(FindingKind::uninitialised, fmt::format("{} reads {} that nothing has set", what, which),
           current().schedule.thread, locate(here));
  if (f != nullptr) f->finding.hint = "wmma::fill_fragment or wmma::load_matrix_sync comes before";
}

void mma_f64(double* c, const double* a, const double* b, int m, int k, Here here) {
  F64Lane mine{a, b, c, m, k};
  whole_warp_exchange("mma.sync (f64)", &multiply_lanes_f64, &mine, here);
}

void mma(Element a_of, Element b_of, Total total, int depth, void* c, const unsigned* a, const unsigned* b,
         Here here) {
  const char* const name = name_of(a_of, total);
  if (bytes_of(a_of) == 1) must_be_chip(89, name, here);
  WordLane mine{a_of, b_of, total, depth, c, a, b};
  whole_warp_exchange(name, &multiply_words, &mine, here);
}

void ldmatrix(unsigned* out, const void* row, int count, bool transposed, Here here) {
  current().schedule.thread->here = here;
  RowLane mine{{}, out, count, transposed};
  if (current().schedule.thread->lane < 8 * count) {
    if (!is_shared(row)) trap("ldmatrix reads shared memory", here);
    access_for("ldmatrix row", row, 16, 16, false, here);
    std::memcpy(mine.row, row, 16);
  }
  whole_warp_exchange("ldmatrix", &spread_rows, &mine, here);
}

void stmatrix(void* row, const unsigned* in, int count, bool transposed, Here here) {
  const Thread& t = *current().schedule.thread;
  ScatteredRow mine{{}, in, count, transposed};
  whole_warp_exchange("stmatrix", &gather_rows, &mine, here);
  if (t.lane >= 8 * count) return;
  if (!is_shared(row)) trap("stmatrix writes shared memory", here);
  access_for("stmatrix row", row, 16, 16, true, here);
  std::memcpy(row, mine.row, 16);
}

}  // namespace plumb::simt
