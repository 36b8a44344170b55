// Test kernels of launches that a device refuses, and of atomic additions that it rounds its own way.
#include <cooperative_groups.h>

#include "gpu/device/kernel.hpp"
#include "gpu/device/launch.hpp"
#include "gpu/device/memory.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

constexpr int kStaticWords = 4 * 1024;  // 16 KiB

__global__ void static_and_dynamic_kernel(int* out, int words) {
  __shared__ int fixed[kStaticWords];
  extern __shared__ int asked[];
  fixed[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (words > 0) asked[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = fixed[threadIdx.x] + (words > 0 ? asked[threadIdx.x] : 0);
}

template <int Most>
__global__ void __launch_bounds__(Most, 2) bounded_kernel(int* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(blockDim.x);
}

__global__ void big_blocks_kernel(int* out) { out[blockIdx.x] = 1; }
__global__ void meeting_blocks_kernel(int* out) {
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = 1;
}

__global__ void atomic_sums_kernel(const float* terms, float* global, float* shared, double* wide) {
  __shared__ float sums[4];
  const unsigned t = threadIdx.x;
  sums[t] = terms[t];
  global[t] = terms[t];
  wide[t] = 4e-320;
  __syncthreads();
  atomicAdd(&global[t], terms[4 + t]);
  atomicAdd(&sums[t], terms[4 + t]);
  atomicAdd(&wide[t], 4e-320);
  shared[t] = sums[t];
}

__global__ void ptx_sums_kernel(const float* terms, float* global, float* shared) {
  __shared__ float sums[4];
  const unsigned t = threadIdx.x;
  sums[t] = terms[t];
  global[t] = terms[t];
  __syncthreads();
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(&global[t])), "f"(terms[4 + t])
               : "memory");
  asm volatile(
      "red.shared.add.f32 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(&sums[t]))),
      "f"(terms[4 + t])
      : "memory");
  shared[t] = sums[t];
}

__global__ void updated_kernel(int* sum) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  total += static_cast<int>(threadIdx.x) + 1;  // <- updated
  __syncthreads();
  if (threadIdx.x == 0) *sum = total;
}

__global__ void shifted_kernel(int* out) {
  __shared__ int line[64];
  line[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  line[threadIdx.x] = line[(threadIdx.x + 1) % blockDim.x];  // <- shifted
  __syncthreads();
  out[threadIdx.x] = line[threadIdx.x];
}

struct Three {
  int a, b, c;
};

// 12 bytes each, copied whole, `apart` numbers apart.
__global__ void copies_kernel(const Three* in, int* out, int apart) {
  __shared__ int line[96];
  *reinterpret_cast<Three*>(&line[apart * threadIdx.x]) = in[threadIdx.x];  // <- copies
  __syncthreads();
  if (threadIdx.x < 3) out[threadIdx.x] = line[threadIdx.x];
}

// Eight doubles, and behind them eight integers, which begin at element 8 of the bytes.
__global__ void carved_kernel(int* out) {
  __shared__ alignas(16) unsigned char memory[96];
  double* const sums = reinterpret_cast<double*>(memory);
  int* const counts = reinterpret_cast<int*>(memory + 8);
  if (threadIdx.x < 8)
    sums[threadIdx.x] = threadIdx.x + 0.5;  // <- carved sums
  else
    counts[threadIdx.x - 8] = static_cast<int>(threadIdx.x);  // <- carved counts
  __syncthreads();
  out[threadIdx.x] = counts[threadIdx.x % 8];
}

// Read by fours what is written one by one: the barrier is missing.
__global__ void by_fours_kernel(int* out) {
  __shared__ alignas(16) int line[64];
  line[threadIdx.x] = static_cast<int>(threadIdx.x);
  const int4 four = reinterpret_cast<const int4*>(line)[threadIdx.x / 4];  // <- by fours
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

__global__ void hopper_kernel(int which) {
  __shared__ alignas(16) unsigned long long words[32];
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words));
  unsigned got = 0;
  switch (which) {
    case 0:
      asm volatile("{ .reg .pred p; .reg .b32 lane; elect.sync lane|p, %1; selp.u32 %0, 1, 0, p; }"
                   : "=r"(got)
                   : "r"(~0u));
      break;
    case 1:
      asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
      break;
    case 2:
      asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at + 16 * (threadIdx.x % 8)),
                   "r"(got)
                   : "memory");
      break;
    case 3:
      asm volatile("griddepcontrol.wait;" ::: "memory");
      break;
    case 4:
      asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(got) : "r"(at), "r"(0));
      break;
    case 5:
      asm volatile("fence.proxy.async;" ::: "memory");
      break;
    case 6:
      asm volatile("fence.acq_rel.cluster;" ::: "memory");
      break;
    default:
      asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  }
}

}  // namespace

namespace plumb::simt_test {

int static_shared_bytes() { return kStaticWords * static_cast<int>(sizeof(int)); }
void static_and_dynamic(int* out, int bytes) {
  launch(static_and_dynamic_kernel, 1, 32, static_cast<std::size_t>(bytes), nullptr, out, bytes / 4);
}
void static_and_dynamic_written(int* out, int bytes) {
  static_and_dynamic_kernel<<<1, 32, static_cast<std::size_t>(bytes)>>>(out, bytes / 4);
}
const void* static_and_dynamic_address() { return reinterpret_cast<const void*>(&static_and_dynamic_kernel); }
void bounded(int threads, int* out) { launch(bounded_kernel<128>, 1, threads, 0, nullptr, out); }
void cooperative_blocks(int blocks, int threads, int* out) {
  launch_cooperative(meeting_blocks_kernel, blocks, threads, 0, nullptr, out);
}
int read_first(const int* device) {
  int first = 0;
  device_read(&first, device, sizeof first, nullptr);
  return first;
}
void shaped(unsigned grid_x, unsigned grid_y, unsigned threads, int* out) {
  big_blocks_kernel<<<dim3(grid_x, grid_y), threads>>>(out);
}
void atomic_sums(const float* terms, float* global, float* shared, double* wide) {
  launch(atomic_sums_kernel, 1, 4, 0, nullptr, terms, global, shared, wide);
}
void ptx_sums(const float* terms, float* global, float* shared) {
  launch(ptx_sums_kernel, 1, 4, 0, nullptr, terms, global, shared);
}
void updated(int* sum) { launch(updated_kernel, 1, 64, 0, nullptr, sum); }
void shifted(int* out) { launch(shifted_kernel, 1, 64, 0, nullptr, out); }
void copies(const int* in, int* out, int apart) {
  launch(copies_kernel, 1, 32, 0, nullptr, reinterpret_cast<const Three*>(in), out, apart);
}
void carved(const int*, int* out) { launch(carved_kernel, 1, 16, 0, nullptr, out); }
void by_fours(const int*, int* out) { launch(by_fours_kernel, 1, 64, 0, nullptr, out); }
void hopper_instruction(int which) { launch(hopper_kernel, 1, 32, 0, nullptr, which); }

}  // namespace plumb::simt_test
