// mma.sync and ldmatrix: matrix products across a warp and the loads that feed them, done where all lanes have met.
#include <fmt/core.h>

#include <cmath>
#include <cstring>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/language/half_bits.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

/// A's rows, B's rows and the sums of a product, as the fragments of the lanes hold them.
struct Fragments {
  double a[16][16], b[16][8], c[16][8];
  int rows = 16, depth = 0;
  /// Element `i` of the sums that a lane holds.
  double& sum(int lane, int i) { return c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]; }
};

// Products are added one after another, each rounded once; those of types below fp64 are exact in themselves.
[[gnu::always_inline]] inline void multiply_in_order(Fragments& f) {
  for (int row = 0; row < f.rows; ++row) {
    for (int k = 0; k < f.depth; ++k)
      for (int col = 0; col < 8; ++col) f.c[row][col] = std::fma(f.a[row][k], f.b[k][col], f.c[row][col]);
  }
}
void multiply_by_calls(Fragments& f) { multiply_in_order(f); }
#if defined(__x86_64__)
// The same numbers by an instruction for four of them.
[[gnu::target("avx2,fma")]] void multiply_by_instructions(Fragments& f) { multiply_in_order(f); }
void multiply(Fragments& f) {
  static const bool has_them = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  (has_them ? multiply_by_instructions : multiply_by_calls)(f);
}
#else
void multiply(Fragments& f) { multiply_by_calls(f); }
#endif

struct Tf32Lane {
  const unsigned* a;
  const unsigned* b;
  float* c;
};

void multiply_tf32(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const Tf32Lane*>(in[l]); };
  const auto tf32 = [](unsigned bits) { return static_cast<double>(from_bits(bits & 0xffffe000u)); };
  Fragments f;
  f.depth = 8;
  for (int l = 0; l < kWarp; ++l) {
    for (int i = 0; i < 4; ++i) f.a[l / 4 + i % 2 * 8][l % 4 + i / 2 * 4] = tf32(lane(l)->a[i]);
    for (int i = 0; i < 2; ++i) f.b[l % 4 + i * 4][l / 4] = tf32(lane(l)->b[i]);
    for (int i = 0; i < 4; ++i) f.sum(l, i) = lane(l)->c[i];
  }
  multiply(f);
  for (int l = 0; l < kWarp; ++l)
    for (int i = 0; i < 4; ++i) lane(l)->c[i] = static_cast<float>(f.sum(l, i));
}

struct F64Lane {
  const double* a;
  const double* b;
  double* c;
  int m, k;
};

void multiply_f64(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const F64Lane*>(in[l]); };
  Fragments f;
  f.depth = lane(0)->k;
  f.rows = lane(0)->m;
  const int tall = f.rows / 8;  // A fragments per column step
  for (int l = 0; l < kWarp; ++l) {
    for (int k = 0; k < f.depth / 4; ++k) {
      for (int i = 0; i < tall; ++i) f.a[l / 4 + i * 8][l % 4 + k * 4] = lane(l)->a[i + tall * k];
      f.b[l % 4 + k * 4][l / 4] = lane(l)->b[k];
    }
    for (int i = 0; i < 2 * tall; ++i) f.sum(l, i) = lane(l)->c[i];
  }
  multiply(f);
  for (int l = 0; l < kWarp; ++l)
    for (int i = 0; i < 2 * tall; ++i) lane(l)->c[i] = f.sum(l, i);
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

struct PairLane {
  const unsigned* a;
  const unsigned* b;
  float* c;
  unsigned* half_c;  // in place of c
  int k;
  bool brain;
};

// The PTX ISA's fragments for m16n8k8 and m16n8k16 of 16-bit elements: with g = lane / 4 and t = lane % 4, A holds the pairs (g, 2t),
// (g + 8, 2t), and then those 8 columns on; B (2t, g), then 8 rows on; C (g, 2t) and (g + 8, 2t).
void multiply_pairs(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const PairLane*>(in[l]); };
  const int depth = lane(0)->k;
  const bool brain = lane(0)->brain;
  const auto element = [brain](unsigned pair, int which) {
    const auto bits = static_cast<unsigned short>(which != 0 ? pair >> 16 : pair);
    return static_cast<double>(brain ? widen<Brain>(bits) : widen<Half>(bits));
  };
  Fragments f{};
  f.depth = depth;
  for (int k = 0; k < depth; ++k) {
    for (int row = 0; row < 16; ++row)
      f.a[row][k] = element(lane(row % 8 * 4 + k % 8 / 2)->a[row / 8 + 2 * (k / 8)], k % 2);
    for (int col = 0; col < 8; ++col) f.b[k][col] = element(lane(col * 4 + k % 8 / 2)->b[k / 8], k % 2);
  }
  multiply(f);
  for (int l = 0; l < kWarp; ++l) {
    const PairLane& mine = *lane(l);
    for (int i = 0; i < 4; ++i) {
      if (mine.half_c == nullptr) {
        mine.c[i] = static_cast<float>(mine.c[i] + f.sum(l, i));
      } else {
        unsigned& pair = mine.half_c[i / 2];
        const int shift = i % 2 * 16;
        const auto before = static_cast<unsigned short>(pair >> shift);
        const unsigned now = narrow<Half>(static_cast<double>(widen<Half>(before)) + f.sum(l, i));
        pair = (pair & ~(0xffffu << shift)) | now << shift;
      }
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

void mma_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], Here here) {
  Tf32Lane mine{a, b, c};
  whole_warp_exchange("mma.sync (tf32)", &multiply_tf32, &mine, here);
}

void mma_f64(double* c, const double* a, const double* b, int m, int k, Here here) {
  F64Lane mine{a, b, c, m, k};
  whole_warp_exchange("mma.sync (f64)", &multiply_f64, &mine, here);
}

void mma_16bit(float* c, const unsigned* a, const unsigned* b, int k, bool brain, Here here) {
  PairLane mine{a, b, c, nullptr, k, brain};
  whole_warp_exchange(brain ? "mma.sync (bf16)" : "mma.sync (f16)", &multiply_pairs, &mine, here);
}

void mma_f16(unsigned* c, const unsigned* a, const unsigned* b, int k, Here here) {
  PairLane mine{a, b, nullptr, c, k, false};
  whole_warp_exchange("mma.sync (f16 accumulators)", &multiply_pairs, &mine, here);
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
