// Test kernel of arithmetic intrinsics: one thread, one value each.
#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

__global__ void rounded_kernel(const float* x, const double* y, float* f, double* d) {
  const float a = x[0], b = x[1], c = x[2];
  f[0] = __fadd_rn(a, b), f[1] = __fadd_rz(a, b), f[2] = __fadd_ru(a, b), f[3] = __fadd_rd(a, b);
  f[4] = __fmul_rd(c, c), f[5] = __fmul_ru(c, c), f[6] = __fdiv_rd(a, c), f[7] = __fdiv_ru(a, c);
  f[8] = __frcp_rz(c), f[9] = __fsqrt_rd(c), f[10] = __fsqrt_ru(c), f[11] = __fmaf_rd(c, c, b);
  f[12] = __fsub_rd(a, b), f[13] = __fsub_ru(a, b), f[14] = __int2float_rz(16777217),
  f[15] = __int2float_ru(16777217);
  const double p = y[0], q = y[1], r = y[2];
  d[0] = __dadd_rd(p, q), d[1] = __dadd_ru(p, q), d[2] = __dmul_rd(r, r), d[3] = __dmul_ru(r, r);
  d[4] = __ddiv_rz(p, r), d[5] = __ddiv_ru(p, r), d[6] = __dsqrt_rd(r), d[7] = __dsqrt_ru(r);
  d[8] = __double2float_rd(y[3]), d[9] = __double2float_ru(y[3]);
}

__global__ void packed_kernel(const unsigned* x, int* out) {
  const unsigned a = x[0], b = x[1];
  out[0] = __dp4a(static_cast<int>(a), static_cast<int>(b), 100);
  out[1] = static_cast<int>(__dp4a(a, b, 100u));
  out[2] = __dp2a_lo(static_cast<int>(a), static_cast<int>(b), 0);
  out[3] = __dp2a_hi(static_cast<int>(a), static_cast<int>(b), 0);
  out[4] = static_cast<int>(__vadd4(a, b));
  out[5] = static_cast<int>(__vsub2(a, b));
  out[6] = static_cast<int>(__vmaxs4(a, b));
  out[7] = static_cast<int>(__vabsdiffu4(a, b));
  out[8] = static_cast<int>(__vcmpgtu4(a, b));
  out[9] = static_cast<int>(__sad(-3, 4, 10u));
  out[10] = __mul24(0x01fffffe, 3);
  out[11] = static_cast<int>(__umul24(0x01000002u, 3u));
  out[12] = __hadd(-3, 2), out[13] = __rhadd(-3, 2);
  out[14] = __float2int_rz(__uint_as_float(x[2])), out[15] = __float2int_rn(__uint_as_float(x[3]));
  out[16] = static_cast<int>(__float2uint_rz(-5.0f)), out[17] = __double2int_rd(-2.5),
  out[18] = __float2int_rn(2.5f);
}

// Bytes and half words of a word: saturation, signs, comparisons, sums.
__global__ void parts_kernel(const unsigned* x, unsigned* out) {
  const unsigned a = x[0], b = x[1];
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(out[0]) : "r"(a), "r"(b), "r"(5u));
  asm("vabsdiff2.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(out[1]) : "r"(a), "r"(b), "r"(1u));
  out[2] = __vaddss4(a, b), out[3] = __vaddus4(a, b), out[4] = __vsubss2(a, b), out[5] = __vsubus4(a, b);
  out[6] = __vabs4(a), out[7] = __vabsss4(a), out[8] = __vneg2(a), out[9] = __vnegss4(a);
  out[10] = __vsetgts4(a, b), out[11] = __vcmpleu4(a, b), out[12] = __vsetges2(a, b);
  out[13] = __vsads4(a, b), out[14] = __vsadu2(a, b), out[15] = __vhaddu4(a, b);
}

}  // namespace

namespace plumb::simt_test {

void parts_of_words(const unsigned* x, unsigned* out) { launch(parts_kernel, 1, 1, 0, nullptr, x, out); }
void rounded_intrinsics(const float* x, const double* y, float* f, double* d) {
  launch(rounded_kernel, 1, 1, 0, nullptr, x, y, f, d);
}
void packed_intrinsics(const unsigned* x, int* out) { launch(packed_kernel, 1, 1, 0, nullptr, x, out); }

}  // namespace plumb::simt_test
