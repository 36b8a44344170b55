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

template <bool kOwn>
__global__ void leaves_parts_kernel(int* parts) {
  (kOwn ? parts : g_common_parts)[blockIdx.x] = static_cast<int>(blockIdx.x);
}
template <bool kOwn>
__global__ void adds_parts_kernel(const int* parts, int blocks, int* out) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) sum += (kOwn ? parts : g_common_parts)[b];
  *out = sum;
}

__constant__ int c_factor[2];
__global__ void scaled_kernel(int* out) {
  out[threadIdx.x] = c_factor[1] * static_cast<int>(threadIdx.x);  // <- constant read
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
  const bool own = f == Form::right;
  launch(own ? leaves_parts_kernel<true> : leaves_parts_kernel<false>, blocks, 1, 0, stream, parts);
  launch(own ? adds_parts_kernel<true> : adds_parts_kernel<false>, 1, 1, 0, stream,
         static_cast<const int*>(parts), blocks, out);
}
void constant_beside(Form f, int n, bool before, int* out) {
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) cudaStreamCreate(&s);
  const int factors[2] = {1, 3};
  const auto set = [&](cudaStream_t stream) {
    const auto to_device = cudaMemcpyHostToDevice;
    cudaMemcpyToSymbolAsync(c_factor, factors, sizeof factors, 0, to_device, stream);  // <- constant set
  };
  cudaStream_t const other = streams[f == Form::right ? 0 : 1];
  set(streams[0]);
  cudaStreamSynchronize(streams[0]);
  if (before) set(other);
  launch(scaled_kernel, 1, n, 0, streams[0], out);
  if (!before) set(other);
  for (cudaStream_t s : streams) cudaStreamDestroy(s);
}
void locked_sum(int blocks, int* value, void* stream) {
  launch(locked_sum_kernel, blocks, 1, 0, stream, value);
}

}  // namespace plumb::simt_test
