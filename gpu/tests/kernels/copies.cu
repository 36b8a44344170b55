// Test kernels with asynchronous copies: a two-stage pipeline, right and with each of its usual mistakes.
#include <cuda_pipeline_primitives.h>

#include "gpu/device/groups.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::simt_test::CopyFault;

template <CopyFault Fault>
__global__ void pipelined_kernel(const float* in, float* out, int tiles) {
  __shared__ float4 stage[2][256];
  const int t = static_cast<int>(threadIdx.x);
  const int size = static_cast<int>(blockDim.x);
  const float4* source = reinterpret_cast<const float4*>(in);
  float sum = 0;
  plumb::cp_async16(&stage[0][t], source + t);
  plumb::cp_async_commit();
  for (int k = 0; k < tiles; ++k) {
    if (Fault == CopyFault::reused_early && k + 1 < tiles) {
      plumb::cp_async16(&stage[(k + 1) & 1][t], source + (k + 1) * size + t);  // <- reused early
    }
    if (Fault != CopyFault::reused_early && k > 0) __syncthreads();  // the buffer filled next has been read
    if (Fault != CopyFault::reused_early && k + 1 < tiles) {
      plumb::cp_async16(&stage[(k + 1) & 1][t], source + (k + 1) * size + t);  // <- copy
    }
    if (Fault != CopyFault::commit_after_wait) plumb::cp_async_commit();
    if (Fault != CopyFault::no_wait) plumb::cp_async_wait<1>();
    if (Fault == CopyFault::commit_after_wait) plumb::cp_async_commit();
    if (Fault != CopyFault::no_barrier) __syncthreads();
    const float4 v = stage[k & 1][size - 1 - t];  // <- use
    sum += v.x + v.y + v.z + v.w;
  }
  out[t] = sum;
}

__global__ void primitives_kernel(const float* in, float* out, int tiles) {
  __shared__ float4 stage[256];
  const unsigned t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    __pipeline_memcpy_async(&stage[t], reinterpret_cast<const float4*>(in) + k * blockDim.x + t,
                            sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const float4 v = stage[blockDim.x - 1 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[t] = sum;
}

// The last pieces are cut short and filled with zeros.
__global__ void ragged_kernel(const float* in, float* out, int n) {
  __shared__ float4 stage[256];
  const int t = static_cast<int>(threadIdx.x);
  const int left = (n - 4 * t) * static_cast<int>(sizeof(float));
  const int valid = left < 0 ? 0 : left > 16 ? 16 : left;
  plumb::cp_async16_zfill(&stage[t], valid > 0 ? in + 4 * t : in, valid);
  plumb::cp_async_commit();
  plumb::cp_async_wait_all();
  const float4 v = stage[t];
  out[t] = v.x + v.y + v.z + v.w;
}

__global__ void groups_kernel(const float* in, float* out, int tiles) {
  namespace cg = cooperative_groups;
  __shared__ float stage[1024];
  const auto block = cg::this_thread_block();
  const unsigned t = threadIdx.x;
  const unsigned size = blockDim.x * 4;
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    cg::memcpy_async(block, stage, in + k * size, size * sizeof(float));
    cg::wait(block);
    for (unsigned i = 0; i < 4; ++i) sum += stage[4 * (blockDim.x - 1 - t) + i];
    block.sync();
  }
  out[t] = sum;
}

}  // namespace

namespace plumb::simt_test {

void pipelined(CopyFault fault, int threads, const float* in, float* out, int tiles) {
  auto* kernel = pipelined_kernel<CopyFault::none>;
  if (fault == CopyFault::no_wait) kernel = pipelined_kernel<CopyFault::no_wait>;
  if (fault == CopyFault::commit_after_wait) kernel = pipelined_kernel<CopyFault::commit_after_wait>;
  if (fault == CopyFault::no_barrier) kernel = pipelined_kernel<CopyFault::no_barrier>;
  if (fault == CopyFault::reused_early) kernel = pipelined_kernel<CopyFault::reused_early>;
  launch(kernel, 1, threads, 0, nullptr, in, out, tiles);
}
void pipelined_primitives(int threads, const float* in, float* out, int tiles) {
  launch(primitives_kernel, 1, threads, 0, nullptr, in, out, tiles);
}
void ragged_copy(int threads, const float* in, float* out, int n) {
  launch(ragged_kernel, 1, threads, 0, nullptr, in, out, n);
}
void groups_copy(int threads, const float* in, float* out, int tiles) {
  launch(groups_kernel, 1, threads, 0, nullptr, in, out, tiles);
}

}  // namespace plumb::simt_test
