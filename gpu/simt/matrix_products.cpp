// mma.sync: matrix products across a warp, computed where all lanes have met.
#include <fmt/core.h>

#include <cmath>

#include "gpu/simt/engine.hpp"

namespace plumb::simt {

namespace {

struct Tf32Lane {
  const unsigned* a;
  const unsigned* b;
  float* c;
};

void multiply_tf32(unsigned, void* const* in, void* const* out) {
  const auto lane = [&](int l) { return static_cast<const Tf32Lane*>(in[l]); };
  const auto tf32 = [](unsigned bits) { return static_cast<double>(from_bits(bits & 0xffffe000u)); };
  (void)out;
  for (int l = 0; l < kWarp; ++l) {
    for (int i = 0; i < 4; ++i) {
      const int row = l / 4 + (i >= 2 ? 8 : 0);
      const int col = l % 4 * 2 + i % 2;
      double sum = lane(l)->c[i];
      for (int k = 0; k < 8; ++k) {
        const double a = tf32(lane(row % 8 * 4 + k % 4)->a[(row >= 8 ? 1 : 0) + (k >= 4 ? 2 : 0)]);
        const double b = tf32(lane(col * 4 + k % 4)->b[k / 4]);
        sum += a * b;
      }
      lane(l)->c[i] = static_cast<float>(sum);
    }
  }
}

struct F64Lane {
  const double* a;
  const double* b;
  double* c;
  int m, k;
};

void multiply_f64(unsigned, void* const* in, void* const*) {
  const auto lane = [&](int l) { return static_cast<const F64Lane*>(in[l]); };
  const int m = lane(0)->m;
  const int depth = lane(0)->k;
  const int tall = m / 8;  // A fragments per column step
  for (int l = 0; l < kWarp; ++l) {
    for (int i = 0; i < 2 * tall; ++i) {
      const int row = l / 4 + (i >= 2 ? 8 : 0);
      const int col = l % 4 * 2 + i % 2;
      double sum = lane(l)->c[i];
      for (int k = 0; k < depth; ++k) {
        const double a = lane(row % 8 * 4 + k % 4)->a[(row >= 8 ? 1 : 0) + tall * (k / 4)];
        const double b = lane(col * 4 + k % 4)->b[k / 4];
        sum = std::fma(a, b, sum);
      }
      lane(l)->c[i] = sum;
    }
  }
}

void whole_warp(const char* what, Here here) {
  if (present(~0u) != ~0u) trap(what, here);
}

}  // namespace

void mma_tf32(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], Here here) {
  whole_warp("mma.sync needs all 32 lanes of the warp", here);
  Tf32Lane mine{a, b, c};
  warp_exchange(~0u, "mma.sync (tf32)", &multiply_tf32, &mine, nullptr, here);
}

void mma_f64(double* c, const double* a, const double* b, int m, int k, Here here) {
  whole_warp("mma.sync needs all 32 lanes of the warp", here);
  F64Lane mine{a, b, c, m, k};
  warp_exchange(~0u, "mma.sync (f64)", &multiply_f64, &mine, nullptr, here);
}

}  // namespace plumb::simt
