// Long sums of e4m3 products in tensor cores: by wgmma, and by mma.sync.
#include "gpu/tests/kernels/tensor_sums.hpp"

#include "gpu/device/kernel.hpp"

namespace {

using plumb::shared_address;

// Cores of 8 rows by 16 bytes, the two along K one behind the other.
__device__ int place(int row, int k) { return (row / 8 * 2 + k / 16) * 128 + row % 8 * 16 + k % 16; }
__device__ unsigned long long describe(const void* start) {
  return (shared_address(start) & 0x3ffffu) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

__global__ void by_wgmma(const unsigned char* a, const unsigned char* b, int k, float* c) {
  __shared__ __align__(128) unsigned char of_a[64 * 32];
  __shared__ __align__(128) unsigned char of_b[16 * 32];
  float d[8] = {};
  for (int first = 0; first < k; first += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
      of_a[place(i / 32, i % 32)] = a[i / 32 * k + first + i % 32];
      if (i < 16 * 32) of_b[place(i / 32, i % 32)] = b[i / 32 * k + first + i % 32];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, "
        "1, 1;\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "l"(describe(of_a)), "l"(describe(of_b)));
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(0) : "memory");
  }
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int i = 0; i < 8; ++i) c[(row + i / 2 % 2 * 8) * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

__global__ void by_mma(const unsigned char* a, const unsigned char* b, int k, float* c) {
  const int lane = threadIdx.x, row = lane / 4;
  float d[4] = {};
  for (int first = 0; first < k; first += 32) {
    unsigned of_a[4], of_b[2];
    for (int r = 0; r < 4; ++r) {
      const unsigned char* const at = a + (row + r % 2 * 8) * k + first + r / 2 * 16 + lane % 4 * 4;
      of_a[r] = at[0] | at[1] << 8 | at[2] << 16 | static_cast<unsigned>(at[3]) << 24;
    }
    for (int r = 0; r < 2; ++r) {
      const unsigned char* const at = b + row * k + first + r * 16 + lane % 4 * 4;
      of_b[r] = at[0] | at[1] << 8 | at[2] << 16 | static_cast<unsigned>(at[3]) << 24;
    }
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]));
  }
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * 16 + lane % 4 * 2 + i % 2] = d[i];
}

}  // namespace

namespace plumb::simt_test {

void fp8_sums(Fp8Sum how, const unsigned char* a, const unsigned char* b, int k, float* c) {
  if (how == Fp8Sum::by_wgmma) launch(by_wgmma, 1, 128, 0, nullptr, a, b, k, c);
  if (how == Fp8Sum::by_mma) launch(by_mma, 1, 32, 0, nullptr, a, b, k, c);
}

}  // namespace plumb::simt_test
