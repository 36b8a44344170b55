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

__global__ void special_kernel(const double* x, double* out) {
  const float f = static_cast<float>(x[0]);
  const float v[4] = {2 * f, 4 * f, 4 * f, 8 * f};
  out[0] = norm3d(x[0], 2 * x[0], 2 * x[0]), out[1] = norm4df(v[0], v[1], v[2], v[3]);
  out[2] = normf(4, v), out[3] = norm(2, x), out[4] = rnorm3d(x[0], 2 * x[0], 2 * x[0]),
  out[5] = rnormf(4, v);
  out[6] = rhypot(3 * x[0], 4 * x[0]), out[7] = rcbrt(8 * x[0]), out[8] = erfcx(x[0]),
  out[9] = erfcx(30 * x[0]);
  out[10] = erfcx(-x[0]), out[11] = cyl_bessel_i0(x[0]), out[12] = cyl_bessel_i1(-x[0]);
  out[13] = cyl_bessel_i0(1e4 * x[0]), out[14] = static_cast<double>(llmin(-1, 1) + llmax(-1, 3));
  // of a float, the function of float
  static_assert(sizeof(rsqrt(f)) == 4 && sizeof(exp10(f)) == 4 && sizeof(normcdf(f)) == 4 &&
                sizeof(jn(1, f)) == 4);
}

// The functions for dynamic programming, on words and on half words.
__global__ void dpx_kernel(const int* x, int* out) {
  const int a = x[0], b = x[1], c = x[2];
  const auto p = static_cast<unsigned>(x[3]), q = static_cast<unsigned>(x[4]),
             r = static_cast<unsigned>(x[5]);
  bool first = false, high = false, low = false;
  out[0] = __vimax3_s32(a, b, c), out[1] = __vimin3_s32(a, b, c), out[2] = __vimin3_s32_relu(a, b, c);
  out[3] = __viaddmax_s32(a, b, c), out[4] = __viaddmin_s32_relu(a, b, c);
  out[5] = static_cast<int>(__vimax3_u32(static_cast<unsigned>(a), 1u, 2u));
  out[6] = static_cast<int>(__viaddmax_s16x2(p, q, r)), out[7] = static_cast<int>(__viaddmin_u16x2(p, q, r));
  out[8] = static_cast<int>(__vimax_s16x2_relu(p, q)), out[9] = static_cast<int>(__vimin3_s16x2(p, q, r));
  out[10] = __vibmax_s32(c, b, &first) * 10 - first;
  out[11] = static_cast<int>(__vibmin_s16x2(p, q, &high, &low)), out[12] = high * 2 + low;
}

// What shifts and bits are searched for, whether lanes agree, and a barrier of the block by its number.
__global__ void searched_kernel(unsigned* out) {
  __shared__ unsigned sum[64];
  const unsigned lane = threadIdx.x % 32u;
  sum[threadIdx.x] = threadIdx.x;
  __barrier_sync(3);
  const unsigned other = sum[63u - threadIdx.x];
  const int agree = __uni_sync(~0u, 1), differ = __uni_sync(~0u, lane < 5u);
  if (threadIdx.x != 0u) return;
  out[0] = other, out[1] = static_cast<unsigned>(agree), out[2] = static_cast<unsigned>(differ);
  out[3] = __fns(0xf0u, 0, 2), out[4] = __fns(0xf0u, 6, -3), out[5] = __fns(0xf0u, 3, 0),
  out[6] = __fns(0xf0u, 5, 0);
  out[7] = __funnelshift_lc(1u, 2u, 32u), out[8] = __funnelshift_rc(1u, 2u, 40u),
  out[9] = __funnelshift_lc(0x80000000u, 2u, 1u);
}

}  // namespace

namespace plumb::simt_test {

void special_functions(const double* x, double* out) { launch(special_kernel, 1, 1, 0, nullptr, x, out); }
void dpx_functions(const int* x, int* out) { launch(dpx_kernel, 1, 1, 0, nullptr, x, out); }
void searched_bits(unsigned* out) { launch(searched_kernel, 1, 64, 0, nullptr, out); }

void parts_of_words(const unsigned* x, unsigned* out) { launch(parts_kernel, 1, 1, 0, nullptr, x, out); }
void rounded_intrinsics(const float* x, const double* y, float* f, double* d) {
  launch(rounded_kernel, 1, 1, 0, nullptr, x, y, f, d);
}
void packed_intrinsics(const unsigned* x, int* out) { launch(packed_kernel, 1, 1, 0, nullptr, x, out); }

}  // namespace plumb::simt_test
