// Calls that two threads of the host make at once.
#include "gpu/device/launch.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace plumb::simt_test {

namespace {

__device__ unsigned g_common_count;
__device__ int g_common_parts[16];
__device__ int g_common_lock;

// Each block leaves its number, and the last adds all of them; the count wraps to 0.
template <bool kOwn>
__global__ void counted_kernel(int* parts, unsigned* count, int* out) {
  unsigned* const counter = kOwn ? count : &g_common_count;
  parts[blockIdx.x] = static_cast<int>(blockIdx.x);  // <- part written
  __threadfence();
  if (atomicInc(counter, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];  // <- part read
  *out = sum;
}

__global__ void leaves_parts_kernel(int* parts) { parts[blockIdx.x] = static_cast<int>(blockIdx.x); }
__global__ void adds_parts_kernel(const int* parts, int blocks, int* out) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) sum += parts[b];
  *out = sum;
}
template <bool kOwn>
int* parts_of(int* parts) {
#if defined(PLUMB_SIMT)
  return kOwn ? parts : g_common_parts;
#else
  return parts;
#endif
}

// All calls add to one value, one block at a time.
__global__ void locked_sum_kernel(int* value) {
  while (atomicCAS(&g_common_lock, 0, 1) != 0) {}
  __threadfence();
  *value += 1;
  __threadfence();
  atomicExch(&g_common_lock, 0);
}

}  // namespace

void counted_blocks(Form f, int blocks, int* parts, unsigned* count, int* out, void* stream) {
  device_fill(count, 0, sizeof *count, stream);
  launch(f == Form::right ? counted_kernel<true> : counted_kernel<false>, blocks, 1, 0, stream, parts, count,
         out);
}
void parts_of_two_launches(Form f, int blocks, int* parts, int* out, void* stream) {
  int* const where = f == Form::right ? parts_of<true>(parts) : parts_of<false>(parts);
  launch(leaves_parts_kernel, blocks, 1, 0, stream, where);
  launch(adds_parts_kernel, 1, 1, 0, stream, static_cast<const int*>(where), blocks, out);
}
void locked_sum(int blocks, int* value, void* stream) {
  launch(locked_sum_kernel, blocks, 1, 0, stream, value);
}

}  // namespace plumb::simt_test
