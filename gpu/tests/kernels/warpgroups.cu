// Test kernels of wgmma: each form of operand, laid out in shared memory by the canonical layouts of the PTX ISA, and a loop of products
// with the mistakes that are made in one.
#include <cstdint>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::shared_address;
using plumb::simt_test::GroupFault;
using plumb::simt_test::GroupForm;

__device__ __forceinline__ unsigned long long describe(const void* start, int leading, int stride,
                                                       unsigned swizzle) {
  return (shared_address(start) & 0x3ffffu) >> 4 | static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32 | static_cast<unsigned long long>(swizzle) << 62;
}

#define FENCE() asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(n) : "memory")
#define EIGHT(d, type)                                                                            \
  "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3]), "+" type(d[4]), "+" type(d[5]), \
      "+" type(d[6]), "+" type(d[7])

// 64 x 16 products of operands in shared memory, as people write them; `more` adds to what is there.
#define BY_DESCRIPTORS(name, what, type, word, flags)                                                       \
  __device__ __forceinline__ void name(type(&d)[8], unsigned long long a, unsigned long long b, int more) { \
    asm volatile(                                                                                           \
        "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"                                                        \
        "wgmma.mma_async.sync.aligned.m64n16" what " {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p" flags     \
        ";\n}\n"                                                                                            \
        : EIGHT(d, word)                                                                                    \
        : "l"(a), "l"(b), "r"(more));                                                                       \
  }
BY_DESCRIPTORS(product_f16, "k16.f32.f16.f16", float, "f", ", 1, 1, 0, 0")
BY_DESCRIPTORS(product_bf16, "k16.f32.bf16.bf16", float, "f", ", 1, 1, 0, 0")
BY_DESCRIPTORS(product_f16_turned, "k16.f32.f16.f16", float, "f", ", 1, -1, 1, 1")
BY_DESCRIPTORS(product_tf32, "k8.f32.tf32.tf32", float, "f", ", 1, 1")
BY_DESCRIPTORS(product_e4m3, "k32.f32.e4m3.e5m2", float, "f", ", 1, 1")
BY_DESCRIPTORS(product_s8, "k32.s32.s8.u8", int, "r", "")

__device__ __forceinline__ void product_f16_sums(unsigned (&d)[4], unsigned long long a,
                                                 unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "l"(a), "l"(b));
}

// Bytes from the operand's begin to byte `k` of row `row`, before the swizzle. Rows along K: groups of 8 rows one after the other, each row
// `width` bytes, in cores of 8 x 16 bytes without a swizzle; the second 16 bytes follow all groups there.
__device__ int place(int row, int k, int rows, int width) {
  if (width == 16) return k / 16 * (rows * 16) + row * 16 + k % 16;
  return row * width + k;
}
// Bytes from 8 elements along K to the next 8 of them.
__device__ int depth_stride(int rows, int width) { return rows * 16 > 8 * width ? rows * 16 : 8 * width; }
// Of 16-bit elements whose rows lie together: units of 8 rows; `k` counts elements. Groups of `width` bytes along rows, then 8 along K.
__device__ int place_turned(int row, int k, int rows, int width) {
  const int group = row / (width / 2), within = row % (width / 2) * 2;
  return k / 8 * depth_stride(rows, width) + group * (8 * width) + k % 8 * width + within;
}
__device__ unsigned swizzled(unsigned address, int width) {
  return address ^ ((address >> 7 & static_cast<unsigned>(width / 16 - 1)) << 4);
}

// C(64 x 16) of A(64 x 32 bytes) and B(16 x 32 bytes), both by rows along K in `a` and `b`.
__global__ void form_kernel(GroupForm form, int width, const unsigned char* a, const unsigned char* b,
                            unsigned* c) {
  __shared__ __align__(1024) unsigned char tile[2][8192];
  const bool turned = form == GroupForm::f16_turned;
  const int element = turned ? 2 : 1;
  for (int i = threadIdx.x; i < 80 * 32 / element; i += blockDim.x) {
    const int row = i * element / 32, k = i % (32 / element);
    const bool of_a = row < 64;
    const int r = of_a ? row : row - 64, rows = of_a ? 64 : 16;
    unsigned char* const to = tile[of_a ? 0 : 1];
    const unsigned char* const from = (of_a ? a : b) + r * 32 + k * element;
    const int at = turned ? place_turned(r, k, rows, width) : place(r, k, rows, width);
    for (int e = 0; e < element; ++e)
      *static_cast<unsigned char*>(plumb::simt::shared_at(swizzled(shared_address(to) + at, width) + e)) =
          from[e];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned swizzle = width == 16 ? 0 : width == 128 ? 1 : width == 64 ? 2 : 3;
  const auto operand = [&](const unsigned char* at, int rows) {
    if (turned && width == 16) return describe(at, rows * 16, 128, swizzle);
    if (turned) return describe(at, 8 * width, depth_stride(rows, width), swizzle);
    return width == 16 ? describe(at, rows * 16, 128, swizzle) : describe(at, 0, 8 * width, swizzle);
  };
  const unsigned long long of_a = operand(tile[0], 64), of_b = operand(tile[1], 16);
  float d[8];
  int n[8];
  unsigned half[4] = {};
  FENCE();
  switch (form) {
    case GroupForm::f16:
      product_f16(d, of_a, of_b, 0);
      break;
    case GroupForm::bf16:
      product_bf16(d, of_a, of_b, 0);
      break;
    case GroupForm::f16_turned:
      product_f16_turned(d, of_a, of_b, 0);
      break;
    case GroupForm::tf32:
      product_tf32(d, of_a, of_b, 0);
      break;
    case GroupForm::fp8:
      product_e4m3(d, of_a, of_b, 0);
      break;
    case GroupForm::int8:
      product_s8(n, of_a, of_b, 0);
      break;
    case GroupForm::f16_sums:
      product_f16_sums(half, of_a, of_b);
      break;
  }
  COMMIT();
  WAIT(0);
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int i = 0; i < 8; ++i) {
    unsigned word = form == GroupForm::int8 ? static_cast<unsigned>(n[i]) : __float_as_uint(d[i]);
    if (form == GroupForm::f16_sums) word = half[i / 2] >> 16 * (i % 2) & 0xffffu;
    c[(row + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2] = word;
  }
}

// C(64 x 16) = A(64 x 8 chunks) B(8 chunks x 16), A in registers, a chunk of B in shared memory at a time.
template <GroupFault F>
__global__ void loop_kernel(const float* a, const float* b, float* c, int chunks) {
  __shared__ __align__(
      128) float tile[128];  // cores of 8 columns by 4 elements of K: the second four of K follow
  const int t = threadIdx.x, lane = t % 32, row = t / 32 * 16 + lane / 4;
  if (F == GroupFault::missing_warp && t >= 96) return;
  float d[8] = {};
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (F != GroupFault::missing_warp && (F != GroupFault::refilled || chunk == 0)) __syncthreads();
    if (t < 128) {
      const int k = t / 16, n = t % 16;
      tile[k / 4 * 64 + n * 4 + k % 4] = b[(chunk * 8 + k) * 16 + n];  // <- product write
    }
    if (F != GroupFault::no_proxy_fence) asm volatile("fence.proxy.async;" ::: "memory");
    if (F != GroupFault::missing_warp) __syncthreads();
    unsigned r[4];
    for (int i = 0; i < 4; ++i) {
      r[i] = __float_as_uint(a[(row + i % 2 * 8) * (8 * chunks) + chunk * 8 + i / 2 * 4 + lane % 4]);
    }
    if (F != GroupFault::no_fence) FENCE();
    const bool narrow = F == GroupFault::stride || (F == GroupFault::other_product && t >= 96);
    const unsigned long long of_b = describe(tile, 256, narrow ? 64 : 128, 0);
    asm volatile(  // <- product
        "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, "
        "%11}, %12, 1, 1, 1;\n"
        : EIGHT(d, "f")
        : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(of_b));
    COMMIT();
    if (F == GroupFault::written_early) d[chunk % 8] = 0.0f;  // <- product early
    if (F != GroupFault::no_wait) WAIT(0);                    // <- product wait
  }
  if (F == GroupFault::no_wait) WAIT(0);
  for (int i = 0; i < 8; ++i) c[(row + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// The loop's end without a wait.
__global__ void unfinished_kernel(const float* a, float* c) {
  __shared__ __align__(128) float tile[128];
  const int t = threadIdx.x;
  tile[t] = a[t];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float d[8] = {};
  FENCE();
  product_tf32(d, describe(tile, 0, 0, 0), describe(tile, 256, 128, 0), 0);
  COMMIT();
  c[t] = d[0];
}

template <GroupFault F>
void launch_loop(const float* a, const float* b, float* c, int chunks) {
  plumb::launch(loop_kernel<F>, 1, 128, 0, nullptr, a, b, c, chunks);
}

}  // namespace

namespace plumb::simt_test {

void group_form(GroupForm form, int width, const unsigned char* a, const unsigned char* b, unsigned* c) {
  launch(form_kernel, 1, 128, 0, nullptr, form, width, a, b, c);
}
void group_loop(GroupFault fault, const float* a, const float* b, float* c, int chunks) {
  switch (fault) {
    case GroupFault::none:
      return launch_loop<GroupFault::none>(a, b, c, chunks);
    case GroupFault::refilled:
      return launch_loop<GroupFault::refilled>(a, b, c, chunks);
    case GroupFault::no_wait:
      return launch_loop<GroupFault::no_wait>(a, b, c, chunks);
    case GroupFault::no_proxy_fence:
      return launch_loop<GroupFault::no_proxy_fence>(a, b, c, chunks);
    case GroupFault::no_fence:
      return launch_loop<GroupFault::no_fence>(a, b, c, chunks);
    case GroupFault::written_early:
      return launch_loop<GroupFault::written_early>(a, b, c, chunks);
    case GroupFault::stride:
      return launch_loop<GroupFault::stride>(a, b, c, chunks);
    case GroupFault::missing_warp:
      return launch_loop<GroupFault::missing_warp>(a, b, c, chunks);
    case GroupFault::other_product:
      return launch_loop<GroupFault::other_product>(a, b, c, chunks);
  }
}
void group_unfinished(const float* a, float* c) { launch(unfinished_kernel, 1, 128, 0, nullptr, a, c); }

}  // namespace plumb::simt_test
