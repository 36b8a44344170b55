// Test kernels of warp operations: shuffles, votes, masks, tiles, and matrix products across a warp.
#include <cooperative_groups/scan.h>

#include "gpu/device/groups.hpp"
#include "gpu/device/mma_by_pieces.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr unsigned kAll = 0xffffffffu;

// Mutant 8: the last warp's steps without __syncwarp. Reads and writes apart, or even a __syncwarp between
// steps would race.
template <bool Right>
__global__ void last_warp_kernel(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t < 32) {
    float v = s[t];
    for (int half = 16; half > 0; half /= 2) {
      if (Right) __syncwarp();
      v += s[(t + half) & 31];  // <- last warp read
      if (Right) __syncwarp();
      s[t] = v;  // <- last warp write
    }
    if (t == 0) out[0] = v;
  }
}

template <bool Right>
__global__ void last_warp_volatile_kernel(const float* in, float* out) {
  __shared__ float s[1024];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (Right) {
    float v = s[t & 31];
    for (int half = 16; half > 0; half /= 2) v += __shfl_down_sync(kAll, v, half);
    if (t == 0) out[0] = v;
  } else if (t < 16) {
    volatile float* w = s;
    for (int half = 16; half > 0; half /= 2) w[t] = w[t] + w[t + half];  // <- volatile step
    if (t == 0) out[0] = w[0];
  }
}

// Mutant 9: a mask that leaves out lanes that make the call.
__global__ void short_mask_kernel(unsigned mask, int* out) {
  int v = static_cast<int>(threadIdx.x);
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);  // <- short mask
  out[threadIdx.x] = v;
}

// Mutant 10: lanes beyond n take no part, yet the maximum reads them.
template <bool Right>
__global__ void shuffle_from_absent_kernel(const int* in, int* out, int n) {
  const int lane = static_cast<int>(threadIdx.x);
  if (Right) {
    int v = lane < n ? in[lane] : INT_MIN;
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_down_sync(kAll, v, d));
    if (lane == 0) out[0] = v;
  } else if (lane < n) {
    const unsigned mask = (1u << n) - 1u;
    int v = in[lane];
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_down_sync(mask, v, d));
    if (lane == 0) out[0] = v;
  }
}

// Each lane fills a place, all meet in an exchange, and read another's place: the exchange orders nothing.
template <bool Right>
__global__ void exchange_as_fence_kernel(const int* in, int* out, int how) {
  __shared__ int s[32];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int lane = static_cast<int>(threadIdx.x);
  s[lane] = in[lane];  // <- exchange write
  int v = 0;
  switch (how) {
    case 0:
      v = __any_sync(kAll, lane == 3);
      break;
    case 1:
      v = __all_sync(kAll, 1);
      break;
    case 2:
      v = static_cast<int>(__ballot_sync(kAll, 1)) != 0;
      break;
    case 3:
      v = __shfl_xor_sync(kAll, 1, 1);
      break;
    case 4:
      v = static_cast<int>(__match_any_sync(kAll, 5)) != 0;
      break;
    case 5:
      v = __reduce_add_sync(kAll, 1) == 32;
      break;
    case 6:
      v = tile.any(lane == 7);
      break;
    case 7:
      v = tile.shfl(1, 0);
      break;
    case 8:
      v = cg::reduce(tile, 1, cg::plus<int>()) == 32;
      break;
    case 9:
      v = cg::inclusive_scan(tile, 1) > 0;
      break;
    case 10:
      v = cg::coalesced_threads().all(1);
      break;
    default:
      v = cg::binary_partition(tile, true).size() == 32;
      break;
  }
  if (Right) tile.sync();
  out[lane] = s[(lane + 1) & 31] * v;  // <- exchange read
}

// One lane waits for another block's flag and tells the others by a shuffle: its fence orders its own reads alone.
template <bool Right>
__global__ void told_by_shuffle_kernel(int* data, int* flag, int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (blockIdx.x == 0) {
    data[lane] = lane + 1;  // <- told write
    __syncthreads();
    if (lane == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
    return;
  }
  int seen = 0;
  while (seen == 0) {
    if (lane == 0) {
      seen = atomicAdd(flag, 0);
      __threadfence();
    }
    seen = __shfl_sync(kAll, seen, 0);
  }
  if (Right) __syncwarp();
  out[lane] = data[31 - lane];  // <- told read
}

__global__ void warp_algebra_kernel(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int* mine = out + lane * 16;
  mine[0] = __shfl_sync(kAll, lane, 5);
  mine[1] = __shfl_up_sync(kAll, lane, 3);
  mine[2] = __shfl_down_sync(kAll, lane, 3);
  mine[3] = __shfl_xor_sync(kAll, lane, 9);
  mine[4] = __shfl_up_sync(kAll, lane, 3, 8);
  mine[5] = __shfl_down_sync(kAll, lane, 3, 8);
  mine[6] = __shfl_sync(kAll, lane, 10, 8);
  mine[7] = static_cast<int>(__ballot_sync(kAll, lane % 3 == 0));
  mine[8] = __any_sync(kAll, lane == 7);
  mine[9] = __all_sync(kAll, lane < 31);
  mine[10] = __reduce_add_sync(kAll, lane);
  mine[11] = __reduce_max_sync(kAll, lane ^ 21);
  mine[12] = static_cast<int>(__match_any_sync(kAll, lane / 4));
  int all = -1;
  mine[13] = static_cast<int>(__match_all_sync(kAll, 3, &all));
  mine[14] = all;
  mine[15] = static_cast<int>(__shfl_xor_sync(kAll, static_cast<double>(lane) + 0.5, 1) * 2.0);
}

__global__ void exited_lanes_kernel(int* out, int n) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane >= n) return;
  out[lane] = __popc(__ballot_sync(kAll, 1));
}

__global__ void tiles_of_8_kernel(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int t = static_cast<int>(block.thread_rank());
  int v = in[t];
  for (unsigned d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  v = tile.shfl(v, 0);
  tile.sync();
  out[t] = v + cg::reduce(tile, in[t], cg::greater<int>()) * 1000;
}

/// Whether parts of the group hold the lanes that they should: fours by rank, the lanes above 8, those of one remainder by 3, pairs.
__device__ bool parts_agree(const cg::coalesced_group& group, int lane) {
  const unsigned rank = group.thread_rank();
  const auto four = cg::tiled_partition(group, 4);
  bool agree = four.thread_rank() == rank % 4 && four.meta_group_rank() == rank / 4;
  agree = cg::reduce(four, 1, cg::plus<int>()) == static_cast<int>(four.size()) && agree;
  const auto high = cg::binary_partition(group, lane > 8);
  agree =
      cg::reduce(high, lane > 8 ? 1 : 0, cg::plus<int>()) == (lane > 8 ? static_cast<int>(high.size()) : 0) &&
      agree;
  const auto label = cg::labeled_partition(group, lane % 3);
  agree = cg::reduce(label, lane % 3, cg::less<int>()) == lane % 3 && agree;
  const auto pair = cg::tiled_partition(cg::thread_group(group), 2);
  pair.sync();
  return agree && label.meta_group_rank() < label.meta_group_size() && pair.thread_rank() == rank % 2;
}

__global__ void coalesced_kernel(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane % 2 == 1) {
    const auto group = cg::coalesced_threads();
    out[lane] = static_cast<int>(group.size() * 100 + group.thread_rank());
    out[lane] += parts_agree(group, lane) ? 0 : 100000;
  } else {
    out[lane] = -1;
  }
}

__global__ void warp_scan_kernel(const double* in, double* out) {
  const unsigned lane = threadIdx.x;
  double v = in[lane];
  for (unsigned d = 1; d < 32; d *= 2) {
    const double below = __shfl_up_sync(kAll, v, d);
    if (lane >= d) v += below;
  }
  out[lane] = v;
}

__global__ void tensor_tf32_kernel(const float* a, const float* b, float* c) {
  const unsigned g = threadIdx.x / 4;
  const unsigned t = threadIdx.x % 4;
  const unsigned fa[4] = {plumb::to_tf32(a[g * 8 + t]), plumb::to_tf32(a[(g + 8) * 8 + t]),
                          plumb::to_tf32(a[g * 8 + t + 4]), plumb::to_tf32(a[(g + 8) * 8 + t + 4])};
  const unsigned fb[2] = {plumb::to_tf32(b[t * 8 + g]), plumb::to_tf32(b[(t + 4) * 8 + g])};
  float fc[4] = {0, 0, 0, 0};
  plumb::mma_m16n8k8_tf32(fc, fa, fb);
  c[g * 8 + 2 * t] = fc[0];
  c[g * 8 + 2 * t + 1] = fc[1];
  c[(g + 8) * 8 + 2 * t] = fc[2];
  c[(g + 8) * 8 + 2 * t + 1] = fc[3];
}

template <int K, bool Whole>
__global__ void tensor_f64_kernel(const double* a, const double* b, double* c) {
  const unsigned g = threadIdx.x / 4;
  const unsigned t = threadIdx.x % 4;
  double fa[K / 2];
  double fb[K / 4];
  for (int j = 0; j < K / 4; ++j) {
    fa[2 * j] = a[g * K + t + 4 * j];
    fa[2 * j + 1] = a[(g + 8) * K + t + 4 * j];
    fb[j] = b[(t + 4 * j) * 8 + g];
  }
  double fc[4] = {0, 0, 0, 0};
  if constexpr (!Whole) {
    plumb::mma_m16n8_by_pieces<K / 4>(
        fc, fa, fb,
        [](double(&sum)[2], const double(&x)[1], const double(&y)[1]) { plumb::mma_m8n8k4_f64(sum, x, y); });
  }
  if constexpr (Whole && K == 4) plumb::mma_m16n8k4_f64(fc, fa, fb);
  if constexpr (Whole && K == 8) plumb::mma_m16n8k8_f64(fc, fa, fb);
  if constexpr (Whole && K == 16) plumb::mma_m16n8k16_f64(fc, fa, fb);
  c[g * 8 + 2 * t] = fc[0];
  c[g * 8 + 2 * t + 1] = fc[1];
  c[(g + 8) * 8 + 2 * t] = fc[2];
  c[(g + 8) * 8 + 2 * t + 1] = fc[3];
}

__global__ void tensor_f64_small_kernel(const double* a, const double* b, double* c) {
  const unsigned g = threadIdx.x / 4;
  const unsigned t = threadIdx.x % 4;
  const double fa[1] = {a[g * 4 + t]};
  const double fb[1] = {b[t * 8 + g]};
  double fc[2] = {0, 0};
  plumb::mma_m8n8k4_f64(fc, fa, fb);
  c[g * 8 + 2 * t] = fc[0];
  c[g * 8 + 2 * t + 1] = fc[1];
}

}  // namespace

namespace plumb::simt_test {

void last_warp(Form f, int threads, const float* in, float* out) {
  launch(f == Form::right ? last_warp_kernel<true> : last_warp_kernel<false>, 1, threads, 0, nullptr, in,
         out);
}
void last_warp_volatile(Form f, int threads, const float* in, float* out) {
  launch(f == Form::right ? last_warp_volatile_kernel<true> : last_warp_volatile_kernel<false>, 1, threads, 0,
         nullptr, in, out);
}
void short_mask(Form f, unsigned mask, int* out) {
  launch(short_mask_kernel, 1, 32, 0, nullptr, f == Form::right ? kAll : mask, out);
}
void shuffle_from_absent(Form f, const int* in, int* out, int n) {
  launch(f == Form::right ? shuffle_from_absent_kernel<true> : shuffle_from_absent_kernel<false>, 1, 32, 0,
         nullptr, in, out, n);
}
void exchange_as_fence(Form f, const int* in, int* out, int how) {
  launch(f == Form::right ? exchange_as_fence_kernel<true> : exchange_as_fence_kernel<false>, 1, 32, 0,
         nullptr, in, out, how);
}
void told_by_shuffle(Form f, int* data, int* flag, int* out) {
  launch(f == Form::right ? told_by_shuffle_kernel<true> : told_by_shuffle_kernel<false>, 2, 32, 0, nullptr,
         data, flag, out);
}
void warp_algebra(int* out) { launch(warp_algebra_kernel, 1, 32, 0, nullptr, out); }
void exited_lanes(int* out, int n) { launch(exited_lanes_kernel, 1, 32, 0, nullptr, out, n); }
void tiles_of_8(const int* in, int* out, int threads) {
  launch(tiles_of_8_kernel, 1, threads, 0, nullptr, in, out);
}
void coalesced(int* out) { launch(coalesced_kernel, 1, 32, 0, nullptr, out); }
void warp_scan(const double* in, double* out) { launch(warp_scan_kernel, 1, 32, 0, nullptr, in, out); }
void tensor_tf32(const float* a, const float* b, float* c) {
  launch(tensor_tf32_kernel, 1, 32, 0, nullptr, a, b, c);
}
void tensor_f64(int m, int k, bool whole, const double* a, const double* b, double* c) {
  auto* const kernel = m == 8   ? tensor_f64_small_kernel
                       : k == 4 ? (whole ? tensor_f64_kernel<4, true> : tensor_f64_kernel<4, false>)
                       : k == 8 ? (whole ? tensor_f64_kernel<8, true> : tensor_f64_kernel<8, false>)
                                : (whole ? tensor_f64_kernel<16, true> : tensor_f64_kernel<16, false>);
  launch(kernel, 1, 32, 0, nullptr, a, b, c);
}

}  // namespace plumb::simt_test
