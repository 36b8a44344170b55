// Test kernels that synchronise by barriers: right, and with one barrier missing or in the wrong place.
#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

template <bool Right>
__global__ void tree_sum_kernel(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];  // <- tree_sum
    if (Right) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Mutant 1: the epilogue reuses the tile.
template <bool Right>
__global__ void tile_epilogue_kernel(const float* in, float* out, int n) {
  PLUMB_DYNAMIC_SHARED(float, tile);
  const int t = threadIdx.x;
  const int size = blockDim.x;
  float sum = 0;
  for (int k = 0; k < n; k += size) {
    tile[t] = in[k + t];
    __syncthreads();
    for (int j = 0; j < size; ++j) sum += tile[j];  // <- epilogue read
    if (Right || k + size < n) __syncthreads();
  }
  tile[t] = sum;  // <- epilogue write
  __syncthreads();
  out[t] = tile[size - 1 - t];
}

// Mutant 2: no barrier at the end of the tile loop.
template <bool Right>
__global__ void tile_loop_kernel(const float* in, float* out, int n) {
  __shared__ float tile[2][512];
  const int t = threadIdx.x;
  const int size = blockDim.x;
  float sum = 0;
  for (int k = 0; k < n; k += size) {
    tile[t & 1][t / 2] = in[k + t];  // <- loop write
    __syncthreads();
    sum += tile[(size - 1 - t) & 1][(size - 1 - t) / 2];  // <- loop read
    if (Right) __syncthreads();
  }
  out[t] = sum;
}

// A column of the tile is read by a lane of two warps, by one of them once more after its own barrier, and then written by that one.
template <bool Right>
__global__ void tile_columns_kernel(const float* in, float* out, int reader, int writer) {
  __shared__ float tile[1024];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  tile[t] = in[t];
  __syncthreads();
  float sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const bool reads = warp == writer || (pass == 0 && warp == reader);
    if (reads) sum += tile[lane];  // <- column read
    __syncwarp();
  }
  if (Right) __syncthreads();
  if (warp == writer) tile[lane] = 5;  // <- column write
  __syncthreads();
  out[t] = sum + tile[lane];
}

__device__ float block_reduce(float v, float* scratch, bool maximum, bool last_barrier) {
  const int t = threadIdx.x;
  scratch[t] = v;  // <- scratch write
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half)
      scratch[t] = maximum ? fmaxf(scratch[t], scratch[t + half]) : scratch[t] + scratch[t + half];
    __syncthreads();
  }
  const float result = scratch[0];  // <- scratch read
  if (last_barrier) __syncthreads();
  return result;
}

// Mutant 3: one scratch for the maximum and then the sum.
template <bool Right>
__global__ void max_then_sum_kernel(const float* in, float* out) {
  __shared__ float scratch[1024];
  const float v = in[threadIdx.x];
  const float top = block_reduce(v, scratch, true, Right);
  const float sum = block_reduce(v - top, scratch, false, true);
  if (threadIdx.x == 0) out[0] = sum;
}

// Mutant 4: warp 0 zeroes what all warps then add to.
template <bool Right>
__global__ void zero_by_warp_0_kernel(const int* in, int* out) {
  __shared__ int partial[32];
  const int t = threadIdx.x;
  if (t < 32) partial[t] = 0;  // <- zero
  if (Right) __syncthreads();
  atomicAdd(&partial[t % 32], in[t]);  // <- zero add
  __syncthreads();
  if (t < 32) out[t] = partial[t];
}

// Mutant 5: a value written by one thread and read by all.
template <bool Right>
__global__ void one_writes_kernel(const int* in, int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = in[0];  // <- one writes
  if (Right) __syncthreads();
  out[threadIdx.x] = value + static_cast<int>(threadIdx.x);  // <- all read
}

// Mutant 6: the ragged last block leaves threads out of the barrier.
template <bool Right>
__global__ void early_return_kernel(const float* in, float* out, int n) {
  __shared__ float s[1024];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (!Right && i >= n) return;
  s[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();  // <- early return
  if (i < n) out[i] = s[threadIdx.x ^ 1];
}

// Mutant 7: a barrier that only some threads reach.
template <bool Right>
__global__ void barrier_in_branch_kernel(float* out) {
  __shared__ float s[1024];
  s[threadIdx.x] = 1;
  if (Right || threadIdx.x < blockDim.x / 2) {
    __syncthreads();  // <- branch one
  }
  s[threadIdx.x] += 1;
  __syncthreads();  // <- branch two
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}

// Two buffers and one barrier a tile is right; the fault fills the buffer that others still read.
template <bool Right>
__global__ void double_buffer_kernel(const float* in, float* out, int tiles) {
  __shared__ float buffer[2][1024];
  const int t = threadIdx.x;
  const int size = blockDim.x;
  float sum = 0;
  buffer[0][t] = in[t];
  __syncthreads();
  for (int k = 0; k < tiles; ++k) {
    const int now = k & 1;
    const int next = Right ? now ^ 1 : now;
    if (k + 1 < tiles) buffer[next][t] = in[(k + 1) * size + t];  // <- buffer write
    sum += buffer[now][size - 1 - t];                             // <- buffer read
    __syncthreads();
  }
  out[t] = sum;
}

// Warp 0 produces, warp 1 consumes; barrier 1 says full, barrier 2 says empty.
template <bool Right>
__global__ void named_barriers_kernel(const int* in, int* out, int rounds) {
  __shared__ int slot[32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      if (r > 0) plumb::named_barrier_sync(2, 64);
      if (!Right) plumb::named_barrier_arrive(1, 64);
      slot[lane] = in[r * 32 + lane];  // <- produce
      if (Right) plumb::named_barrier_arrive(1, 64);
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      plumb::named_barrier_sync(1, 64);
      sum += slot[31 - lane];  // <- consume
      if (r + 1 < rounds) plumb::named_barrier_arrive(2, 64);
    }
    out[lane] = sum;
  }
}

// The same with flags: a volatile counter per direction, and a fence on each side of it.
template <bool Right>
__global__ void shared_flags_kernel(const int* in, int* out, int rounds) {
  __shared__ int slot;
  __shared__ volatile int full, empty;
  if (threadIdx.x == 0) full = empty = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int r = 0; r < rounds; ++r) {
      while (empty != r) {}
      __threadfence_block();
      slot = in[r];  // <- flag data
      if (Right) __threadfence_block();
      full = r + 1;
    }
  } else if (threadIdx.x == 32) {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      while (full != r + 1) {}
      __threadfence_block();
      sum += slot;  // <- flag use
      __threadfence_block();
      empty = r + 1;
    }
    *out = sum;
  }
}

__global__ void barrier_votes_kernel(int* out) {
  const int odd = static_cast<int>(threadIdx.x) & 1;
  const int count = __syncthreads_count(odd);
  const int all = __syncthreads_and(odd);
  const int any = __syncthreads_or(odd);
  if (threadIdx.x == 0) {
    out[0] = count;
    out[1] = all;
    out[2] = any;
  }
}

}  // namespace

namespace plumb::simt_test {

void tree_sum(Form f, int blocks, int threads, const float* in, float* out) {
  launch(f == Form::right ? tree_sum_kernel<true> : tree_sum_kernel<false>, blocks, threads, 0, nullptr, in,
         out);
}
void tile_columns(Form f, int threads, const float* in, float* out, int reader, int writer) {
  launch(f == Form::right ? tile_columns_kernel<true> : tile_columns_kernel<false>, 1, threads, 0, nullptr,
         in, out, reader, writer);
}
void tile_epilogue(Form f, int threads, const float* in, float* out, int n) {
  launch(f == Form::right ? tile_epilogue_kernel<true> : tile_epilogue_kernel<false>, 1, threads,
         threads * sizeof(float), nullptr, in, out, n);
}
void tile_loop(Form f, int threads, const float* in, float* out, int n) {
  launch(f == Form::right ? tile_loop_kernel<true> : tile_loop_kernel<false>, 1, threads, 0, nullptr, in, out,
         n);
}
void max_then_sum(Form f, int threads, const float* in, float* out) {
  launch(f == Form::right ? max_then_sum_kernel<true> : max_then_sum_kernel<false>, 1, threads, 0, nullptr,
         in, out);
}
void zero_by_warp_0(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? zero_by_warp_0_kernel<true> : zero_by_warp_0_kernel<false>, 1, threads, 0,
         nullptr, in, out);
}
void one_writes_all_read(Form f, int threads, const int* in, int* out) {
  launch(f == Form::right ? one_writes_kernel<true> : one_writes_kernel<false>, 1, threads, 0, nullptr, in,
         out);
}
void early_return(Form f, int blocks, int threads, const float* in, float* out, int n) {
  launch(f == Form::right ? early_return_kernel<true> : early_return_kernel<false>, blocks, threads, 0,
         nullptr, in, out, n);
}
void barrier_in_branch(Form f, int threads, float* out) {
  launch(f == Form::right ? barrier_in_branch_kernel<true> : barrier_in_branch_kernel<false>, 1, threads, 0,
         nullptr, out);
}
void double_buffer(Form f, int threads, const float* in, float* out, int tiles) {
  launch(f == Form::right ? double_buffer_kernel<true> : double_buffer_kernel<false>, 1, threads, 0, nullptr,
         in, out, tiles);
}
void named_barriers(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? named_barriers_kernel<true> : named_barriers_kernel<false>, 1, 64, 0, nullptr, in,
         out, rounds);
}
void shared_flags(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? shared_flags_kernel<true> : shared_flags_kernel<false>, 1, 64, 0, nullptr, in,
         out, rounds);
}
void barrier_votes(int threads, int* out) { launch(barrier_votes_kernel, 1, threads, 0, nullptr, out); }

}  // namespace plumb::simt_test
