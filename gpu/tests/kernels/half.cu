// Test kernels in half precision: the types' own words, matrix products across a warp and the loads that feed them, each with the
// mistake that looks like it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::simt_test::HalfProduct;
using plumb::simt_test::RowFault;
using plumb::simt_test::WarpProduct;
namespace wmma = nvcuda::wmma;

// A block's sum in halves, by a tree. The fault has no barrier between its levels.
template <bool Right>
__global__ void sum_kernel(const half* in, half* out) {
  __shared__ half part[256];
  const int t = static_cast<int>(threadIdx.x);
  part[t] = in[t];
  __syncthreads();
  for (int step = static_cast<int>(blockDim.x) / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];  // <- half sum
    if (Right) __syncthreads();
  }
  if (t == 0) *out = part[0];
}

// Neighbours in one word: each thread owns one half of a pair. The fault writes the pair.
template <bool Right>
__global__ void pairs_kernel(half* out) {
  const int t = static_cast<int>(threadIdx.x);
  if (Right) {
    out[t] = __int2half_rn(t);
  } else {
    reinterpret_cast<half2*>(out)[t / 2] = __half2half2(__int2half_rn(t));  // <- half pair
  }
}

__global__ void wide_kernel(const half* in, half* out, int offset, int halves) {
  const int t = static_cast<int>(threadIdx.x);
  if (halves == 2) {
    *reinterpret_cast<half2*>(out + 2 * t) =
        *reinterpret_cast<const half2*>(in + offset + 2 * t);  // <- half2 load
  } else {
    const uint4 eight = *reinterpret_cast<const uint4*>(in + offset + 8 * t);  // <- eight halves
    half2 pair[4];
    memcpy(pair, &eight, sizeof pair);
    for (int i = 0; i < 4; ++i) reinterpret_cast<half2*>(out)[4 * t + i] = __hadd2(pair[i], pair[i]);
  }
}

// 32 lanes x 12 words
__global__ void algebra_kernel(const half* in, const __nv_bfloat16* brain, unsigned* out, half* total,
                               half2* pairs, __nv_bfloat16* brains) {
  const int t = static_cast<int>(threadIdx.x);
  unsigned v[12] = {};
  const half h = __ldg(in + t);
  const half2 both = __halves2half2(h, __hneg(h));
  const half2 swapped = __shfl_xor_sync(0xffffffffu, __lowhigh2highlow(both), 1);
  v[0] = __half_as_ushort(__low2half(swapped));
  v[1] = __half_as_ushort(__high2half(swapped));
  v[2] = __half_as_ushort(__hfma(h, h, h));
  v[3] = __bfloat16_as_ushort(__hfma(brain[t], brain[t], brain[t]));
  atomicAdd(total, half(1.0f));
  atomicAdd(pairs, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(brains, __nv_bfloat16(1.0f));
  half best = h;
  for (int d = 16; d > 0; d /= 2) best = __hmax(best, __shfl_down_sync(0xffffffffu, best, d));
  v[4] = __half_as_ushort(best);
  unsigned short bits;
  float x = __half2float(h);
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x * 1.0003f));
  v[5] = bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x * 1.0003f));
  v[6] = bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v[7]) : "f"(x), "f"(2.0f));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v[8]) : "f"(2.0f), "f"(x));
  asm("{ .reg .f16 one; cvt.rz.f16.f32 one, %1; cvt.f32.f16 %0, one; }" : "=f"(x) : "f"(x * 1.9996f));
  v[9] = __float_as_uint(x);
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(v[10]) : "r"(0x3c004000u), "r"(0x42004400u), "r"(0x3c003c00u));
  asm("{ .reg .b16 a; mul.f16 a, %1, %1; sub.rn.f16 a, a, %1; cvt.rn.relu.f16.f32 %0, %2; max.f16 %0, a, %0; "
      "}"
      : "=h"(bits)
      : "h"(__half_as_ushort(h)), "f"(-1.0f));
  v[11] = bits;
  for (int i = 0; i < 12; ++i) out[t * 12 + i] = v[i];
}

// Words made of halves and halves of words, by the casts that such code is full of.
__global__ void punned_kernel(const float* in, uint4* out) {
  const int t = static_cast<int>(threadIdx.x);
  half2 pair = __floats2half2_rn(in[2 * t], in[2 * t + 1]);
  uint4 four;
  half2* const halves = reinterpret_cast<half2*>(&four);
  for (int i = 0; i < 4; ++i) {
    halves[i] = __hmul2(pair, __float2half2_rn(static_cast<float>(i)));
    pair.x = __hadd(pair.x, pair.y);
  }
  four.x = *reinterpret_cast<unsigned*>(&pair);
  half2 swapped = __lowhigh2highlow(pair);
  unsigned bits = reinterpret_cast<unsigned&>(swapped);
  bits ^= 0x80008000u;
  four.y = __half_as_ushort(__hadd(__low2half(reinterpret_cast<half2&>(bits)), half(1.0f)));
  unsigned words[4];
  for (int i = 0; i < 4; ++i) {
    reinterpret_cast<half*>(words)[2 * i] = half(in[2 * t] + static_cast<float>(i));
    reinterpret_cast<half*>(words)[2 * i + 1] = half(in[2 * t]);
  }
  four.y ^= words[0] ^ words[1] ^ words[2] ^ words[3];
  out[t] = four;
}

// a: 16 x k row-major, b: k x 8 row-major; fragments gathered by the PTX ISA's tables.
__device__ unsigned pair_of(const unsigned short* low, const unsigned short* high) {
  return *low | static_cast<unsigned>(*high) << 16;
}
template <HalfProduct What, int K>
__global__ void product_kernel(const unsigned short* a, const unsigned short* b, float* c) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  unsigned ra[4], rb[2];
  for (int i = 0; i < K / 4; ++i) {
    const unsigned short* at = a + (g + i % 2 * 8) * K + i / 2 * 8 + 2 * t;
    ra[i] = pair_of(at, at + 1);
  }
  for (int i = 0; i < K / 8; ++i) {
    const unsigned short* at = b + (i * 8 + 2 * t) * 8 + g;
    rb[i] = pair_of(at, at + 8);
  }
  float rc[4] = {1, 2, 3, 4};
  unsigned hc[2] = {0x40003c00u, 0x44004200u};
  if constexpr (What == HalfProduct::f16 && K == 16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};\n"
        : "+f"(rc[0]), "+f"(rc[1]), "+f"(rc[2]), "+f"(rc[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  } else if constexpr (What == HalfProduct::f16) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};\n"
        : "+f"(rc[0]), "+f"(rc[1]), "+f"(rc[2]), "+f"(rc[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
  } else if constexpr (What == HalfProduct::bf16 && K == 16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};\n"
        : "+f"(rc[0]), "+f"(rc[1]), "+f"(rc[2]), "+f"(rc[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  } else if constexpr (What == HalfProduct::bf16) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};\n"
        : "+f"(rc[0]), "+f"(rc[1]), "+f"(rc[2]), "+f"(rc[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
  } else if constexpr (K == 16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};\n"
        : "+r"(hc[0]), "+r"(hc[1])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  } else {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};\n"
                 : "+r"(hc[0]), "+r"(hc[1])
                 : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
  }
  if (What == HalfProduct::f16_in_f16) {
    for (int i = 0; i < 4; ++i)
      rc[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(hc[i / 2] >> (16 * (i % 2)))));
  }
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = rc[i];
}

// in: 32 rows of 8; each lane writes its own row to shared memory and reads by ldmatrix.
template <int Count, bool Transposed, RowFault Fault>
__global__ void rows_kernel(const unsigned short* in, unsigned* out) {
  __shared__ alignas(16) unsigned short rows[32 * 8];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 8; ++i) rows[t * 8 + i] = in[t * 8 + i];  // <- rows written
  if (Fault != RowFault::no_barrier) __syncthreads();
  // The fault reads rows that other lanes wrote.
  const int row = Fault == RowFault::no_barrier ? t ^ 1 : Fault == RowFault::beyond ? t + 1 : t;
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(rows)) + static_cast<unsigned>(row) * 16u;
  if (Fault == RowFault::misaligned && t == 3) at += 2u;
  unsigned m[4] = {};
  if constexpr (Count == 1 && !Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(m[0]) : "r"(at) : "memory");
  } else if constexpr (Count == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(m[0]) : "r"(at));
  } else if constexpr (Count == 2 && !Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(m[0]), "=r"(m[1])
                 : "r"(at));
  } else if constexpr (Count == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];"
                 : "=r"(m[0]), "=r"(m[1])
                 : "r"(at));
  } else if constexpr (!Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(at)
                 : "memory");  // <- rows read
  } else {
    asm volatile("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(at));
  }
  for (int i = 0; i < Count; ++i) out[t * Count + i] = m[i];
}

// As such kernels are written: tiles by cp.async one step ahead, fragments by ldmatrix, products by mma. c (32 x 16) = a (32 x k) b (k x
// 16), four warps of 16 x 8. The fault has no barrier between a tile's last use and the copy that replaces it.
#define LOAD_X4(m, at)                                                            \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])                   \
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at))))
#define LOAD_X2_TRANSPOSED(m, at)                                               \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" \
               : "=r"(m[0]), "=r"(m[1])                                         \
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at))))
#define COPY_16(to, from)                                                \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(        \
                   static_cast<unsigned>(__cvta_generic_to_shared(to))), \
               "l"(from)                                                 \
               : "memory")
template <bool Right>
__global__ void gemm_kernel(const half* a, const half* b, float* c, int k) {
  __shared__ alignas(16) half tile_a[2][32][16 + 8];
  __shared__ alignas(16) half tile_b[2][16][16 + 8];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, down = t / 64, across = t / 32 % 2;
  const auto fetch = [&](int step) {
    if (t < 64) {
      COPY_16(&tile_a[step % 2][t / 2][t % 2 * 8], a + t / 2 * k + step * 16 + t % 2 * 8);  // <- gemm copy
    } else if (t < 96) {
      const int row = (t - 64) / 2, col = t % 2 * 8;
      COPY_16(&tile_b[step % 2][row][col], b + (step * 16 + row) * 16 + col);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sum[4] = {};
  fetch(0);
  for (int step = 0; step < k / 16; ++step) {
    if (step + 1 < k / 16) {
      fetch(step + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    unsigned fa[4], fb[2];
    LOAD_X4(fa, &tile_a[step % 2][down * 16 + lane % 16][lane / 16 * 8]);  // <- gemm load
    LOAD_X2_TRANSPOSED(fb, &tile_b[step % 2][lane % 16][across * 8]);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    if (Right) __syncthreads();
  }
  float* const at = c + (down * 16 + lane / 4) * 16 + across * 8 + lane % 4 * 2;
  *reinterpret_cast<float2*>(at) = make_float2(sum[0], sum[1]);
  *reinterpret_cast<float2*>(at + 8 * 16) = make_float2(sum[2], sum[3]);
}

// c = a b + c; leading dimensions 8 beyond a line's length, or 16 in c.
template <int M, int N, int K, class T, class C, class LayoutA, class LayoutB>
__global__ void wmma_kernel(const void* a, const void* b, void* c, bool by_columns) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc, fd;
  using S = typename decltype(fa)::storage_element_type;
  constexpr bool kA = std::is_same<LayoutA, wmma::row_major>::value,
                 kB = std::is_same<LayoutB, wmma::row_major>::value;
  const auto layout = by_columns ? wmma::mem_col_major : wmma::mem_row_major;
  constexpr int kPad = 16 / sizeof(S);
  wmma::load_matrix_sync(fa, static_cast<const S*>(a), (kA ? K : M) + kPad);
  wmma::load_matrix_sync(fb, static_cast<const S*>(b), (kB ? N : K) + kPad);
  wmma::load_matrix_sync(fc, static_cast<const C*>(c), (by_columns ? M : N) + 16, layout);
  wmma::fill_fragment(fd, C(2));
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] + fc.x[i];
  wmma::mma_sync(fd, fa, fb, fd);
  wmma::store_matrix_sync(static_cast<C*>(c), fd, (by_columns ? M : N) + 16, layout);
}

// A tile goes through shared memory. The fault loads it before the warp has met.
template <bool Right>
__global__ void wmma_tile_kernel(const half* in, half* out) {
  __shared__ alignas(32) half tile[256];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 256; i += 32) tile[i] = in[i];  // <- tile written
  if (Right) __syncwarp();
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> f;
  wmma::load_matrix_sync(f, tile, 16, wmma::mem_row_major);  // <- tile loaded
  for (auto& x : f.x) x *= half(2.0f);
  wmma::store_matrix_sync(out, f, 16, wmma::mem_col_major);
}

__global__ void wmma_absent_kernel(half* out) {
  if (threadIdx.x == 31) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> f;
  wmma::fill_fragment(f, half(0.0f));
  wmma::store_matrix_sync(out, f, 16, wmma::mem_row_major);  // <- store without a lane
}

__global__ void wmma_misaligned_kernel(const half* in, half* out, int offset) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> f;
  wmma::load_matrix_sync(f, in + offset, 16, wmma::mem_row_major);  // <- tile at an odd place
  wmma::store_matrix_sync(out, f, 16, wmma::mem_row_major);
}

template <HalfProduct What>
void product_of(int k, const unsigned short* a, const unsigned short* b, float* c) {
  if (k == 16) {
    plumb::launch(product_kernel<What, 16>, 1, 32, 0, nullptr, a, b, c);
  } else {
    plumb::launch(product_kernel<What, 8>, 1, 32, 0, nullptr, a, b, c);
  }
}

template <int M, int N, int K, class T, class C>
void wmma_of(bool a_by_columns, bool b_by_columns, bool c_by_columns, const void* a, const void* b, void* c) {
  using Row = wmma::row_major;
  using Col = wmma::col_major;
  const auto go = [&](auto kernel) { plumb::launch(kernel, 1, 32, 0, nullptr, a, b, c, c_by_columns); };
  if (a_by_columns) {
    b_by_columns ? go(wmma_kernel<M, N, K, T, C, Col, Col>) : go(wmma_kernel<M, N, K, T, C, Col, Row>);
  } else {
    b_by_columns ? go(wmma_kernel<M, N, K, T, C, Row, Col>) : go(wmma_kernel<M, N, K, T, C, Row, Row>);
  }
}

}  // namespace

namespace plumb::simt_test {

void half_sum(Form f, int threads, const void* in, void* out) {
  launch(f == Form::right ? sum_kernel<true> : sum_kernel<false>, 1, threads, 0, nullptr,
         static_cast<const half*>(in), static_cast<half*>(out));
}
void half_pairs(Form f, int threads, void* out) {
  launch(f == Form::right ? pairs_kernel<true> : pairs_kernel<false>, 1, threads, 0, nullptr,
         static_cast<half*>(out));
}
void half_wide(const void* in, void* out, int threads, int offset, int halves) {
  launch(wide_kernel, 1, threads, 0, nullptr, static_cast<const half*>(in), static_cast<half*>(out), offset,
         halves);
}
void half_algebra(const void* in, const void* brain, unsigned* out, void* total, void* pairs, void* brains) {
  launch(algebra_kernel, 1, 32, 0, nullptr, static_cast<const half*>(in),
         static_cast<const __nv_bfloat16*>(brain), out, static_cast<half*>(total), static_cast<half2*>(pairs),
         static_cast<__nv_bfloat16*>(brains));
}
void half_punned(const float* in, unsigned* out) {
  launch(punned_kernel, 1, 32, 0, nullptr, in, reinterpret_cast<uint4*>(out));
}
void half_product(HalfProduct what, int k, const unsigned short* a, const unsigned short* b, float* c) {
  if (what == HalfProduct::f16) product_of<HalfProduct::f16>(k, a, b, c);
  if (what == HalfProduct::bf16) product_of<HalfProduct::bf16>(k, a, b, c);
  if (what == HalfProduct::f16_in_f16) product_of<HalfProduct::f16_in_f16>(k, a, b, c);
}
void half_gemm(Form f, const void* a, const void* b, float* c, int k) {
  launch(f == Form::right ? gemm_kernel<true> : gemm_kernel<false>, 1, 128, 0, nullptr,
         static_cast<const half*>(a), static_cast<const half*>(b), c, k);
}
void matrix_rows(RowFault fault, int count, bool transposed, const unsigned short* in, unsigned* out) {
  const auto go = [&](auto kernel) { launch(kernel, 1, 32, 0, nullptr, in, out); };
  constexpr RowFault kNone = RowFault::none;
  if (fault == RowFault::no_barrier) return go(rows_kernel<4, false, RowFault::no_barrier>);
  if (fault == RowFault::misaligned) return go(rows_kernel<4, false, RowFault::misaligned>);
  if (fault == RowFault::beyond) return go(rows_kernel<4, false, RowFault::beyond>);
  if (count == 1) return transposed ? go(rows_kernel<1, true, kNone>) : go(rows_kernel<1, false, kNone>);
  if (count == 2) return transposed ? go(rows_kernel<2, true, kNone>) : go(rows_kernel<2, false, kNone>);
  return transposed ? go(rows_kernel<4, true, kNone>) : go(rows_kernel<4, false, kNone>);
}
void warp_product(WarpProduct what, bool a_by_columns, bool b_by_columns, bool c_by_columns, const void* a,
                  const void* b, void* c) {
  const auto go = [&](auto of) { of(a_by_columns, b_by_columns, c_by_columns, a, b, c); };
  if (what == WarpProduct::f16_f32) go(wmma_of<16, 16, 16, half, float>);
  if (what == WarpProduct::f16_f16) go(wmma_of<16, 16, 16, half, half>);
  if (what == WarpProduct::f16_tall) go(wmma_of<32, 8, 16, half, float>);
  if (what == WarpProduct::f16_wide) go(wmma_of<8, 32, 16, half, float>);
  if (what == WarpProduct::bf16) go(wmma_of<16, 16, 16, __nv_bfloat16, float>);
  if (what == WarpProduct::tf32) go(wmma_of<16, 16, 8, wmma::precision::tf32, float>);
  if (what == WarpProduct::f64) go(wmma_of<8, 8, 4, double, double>);
  if (what == WarpProduct::s8) go(wmma_of<16, 16, 16, signed char, int>);
}
void warp_tile(Form f, const void* in, void* out) {
  launch(f == Form::right ? wmma_tile_kernel<true> : wmma_tile_kernel<false>, 1, 32, 0, nullptr,
         static_cast<const half*>(in), static_cast<half*>(out));
}
void warp_tile_absent(void* out) { launch(wmma_absent_kernel, 1, 32, 0, nullptr, static_cast<half*>(out)); }
void warp_tile_misaligned(const void* in, void* out, int offset) {
  launch(wmma_misaligned_kernel, 1, 32, 0, nullptr, static_cast<const half*>(in), static_cast<half*>(out),
         offset);
}

}  // namespace plumb::simt_test
