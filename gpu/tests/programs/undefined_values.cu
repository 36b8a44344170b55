// Values that CUDA leaves undefined: taken by a shuffle from a lane that does not take part, or of a variable or fragment that nothing has
// set. Each argument uses one; without one, values are as undefined, and nobody uses them.
#include <cooperative_groups.h>
#include <mma.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kThreads = 40;  // the second warp has 8 lanes
constexpr unsigned kAll = 0xffffffffu;

struct Add {
  __device__ static int of(int a, int b) { return a + b; }
};
struct Least {
  __device__ static int of(int a, int b) { return min(a, b); }
};
struct All {
  __device__ static int of(int a, int b) { return a && b; }
};

// The first lane of each warp stores the reduction of its lanes. Guarded: what lanes beyond the last would give is not used.
template <class Op, bool Guarded>
__global__ void reduce_by_warps(const int* in, int* out) {
  const int lane = threadIdx.x % 32, lanes = min(32, int(blockDim.x - threadIdx.x / 32 * 32));
  const unsigned mask = __ballot_sync(lanes == 32 ? kAll : (1u << lanes) - 1, 1);
  int v = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_down_sync(mask, v, d);  // <- beyond
    if (!Guarded || lane + d < lanes) v = Op::of(v, other);
  }
  if (lane == 0) out[threadIdx.x / 32] = v;
}

// Eight lanes reduce, each with the lane so many above it: those of the first lane are all there, and no others are stored.
__global__ void first_of_eight(const int* in, int* out) {
  if (threadIdx.x >= 8) return;
  int v = in[threadIdx.x];
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffu, v, d);
  if (threadIdx.x == 0) out[0] = v;
}

// The lanes of the mask take the value of one that it does not name, or that has returned.
__global__ void broadcast(const int* in, int* out, int source, unsigned mask, int returns_from) {
  if (int(threadIdx.x) >= returns_from) return;
  if ((mask >> threadIdx.x & 1u) != 0)
    out[threadIdx.x] = __shfl_sync(mask, in[threadIdx.x], source);  // <- absent
}

// A tile of 32 of a block with 40 threads.
__global__ void tile_maximum(const float* in, float* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float v = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, tile.shfl_xor(v, d));  // <- tile
  out[threadIdx.x] = v;
}

__global__ void unset_sums(const float* in, float* out, double* wide, int n, bool sets) {
  float sum[4], all;
  double whole;
  if (sets) {
    for (float& s : sum) s = 0;
    all = 0, whole = 0;
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 4; ++j) sum[j] += in[i * 4 + j];
    all += in[i * 4] * 2;
    whole += in[i * 4];
  }
  for (int j = 0; j < 4; ++j) out[j] = sum[j];  // <- sums
  out[4] = all;
  wide[0] = whole;
}

// A vector that nothing has set, and one of which the last component is nobody's.
__global__ void unset_vectors(const float4* in, float4* out, int n, bool sets) {
  float4 sum, three;
  if (sets) sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < n; ++i) sum.x += in[i].x, sum.y += in[i].y, sum.z += in[i].z, sum.w += in[i].w;
  three.x = sum.x, three.y = sum.y, three.z = sum.z;
  out[0] = sum;  // <- vector
  out[1] = three;
}

// Other variables that nothing has set: of which each decides what is stored.
struct Mean {
  float sum;
  int count;
};
__global__ void unset_counter(const int* in, float* out, int n, bool sets) {
  int count;  // <- counter
  if (sets) count = 0;
  for (int i = 0; i < n; ++i) count += in[i];
  out[0] = static_cast<float>(count);
}
__global__ void unset_maximum(const float* in, float* out, int n, bool sets) {
  float best;  // <- maximum
  if (sets) best = 0;
  for (int i = 0; i < n; ++i) best = fmaxf(best, in[i]);
  out[0] = best;
}
__global__ void unset_members(const float* in, float* out, int n, bool sets) {
  Mean mean;  // <- members
  if (sets) mean = {0, 0};
  for (int i = 0; i < n; ++i) mean.sum += in[i], ++mean.count;
  out[0] = mean.sum / static_cast<float>(mean.count);
}
__global__ void unset_half(const half* in, float* out, int n, bool sets) {
  half sum;  // <- half
  if (sets) sum = __float2half(0.f);
  for (int i = 0; i < n; ++i) sum = __hadd(sum, in[i]);
  out[0] = __half2float(sum);
}
__global__ void unset_bins(const int* in, float* out, int n, bool sets) {
  unsigned bins[8];  // <- bins
  if (sets)
    for (unsigned& bin : bins) bin = 0;
  for (int i = 0; i < n; ++i) ++bins[in[i] % 8];
  for (int i = 0; i < 8; ++i) out[i] = static_cast<float>(bins[i]);
}
__global__ void unset_flag(const int* in, float* out, int n, bool sets) {
  bool any;  // <- flag
  if (sets) any = false;
  for (int i = 0; i < n; ++i)
    if (in[i] > 1) any = true;
  out[0] = any ? 1.f : 0.f;
}
// Variables that are right: one that is set where it is used, and a structure that is stored with a member that is nobody's.
__global__ void set_where_used(const int* in, int* out, Mean* means, int n) {
  int last, twice;
  if (n > 4) last = in[4];
  for (int i = 0; i < n; ++i)
    if (i > 1) twice = 2 * in[i];
  out[0] = n > 4 ? last : 0;
  out[1] = n > 2 ? twice : 0;
  Mean half_of_it;
  half_of_it.sum = 1;
  means[0] = half_of_it;
}

template <bool Fills>
__global__ void product(const half* a, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  if (Fills)
    for (float& x : sum.x) x = 0;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::mma_sync(sum, fa, fb, sum);  // <- fragment
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

template <class T>
T* device(const std::vector<T>& from) {
  T* p;
  cudaMalloc(&p, from.size() * sizeof(T));
  cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

int main(int argc, char** argv) {
  const std::string uses = argc > 1 ? argv[1] : "";
  const int* const in = device(std::vector<int>(64, 1));
  int* const out = device(std::vector<int>(64));
  const std::vector<float> ones(256, 1.f);
  float *const floats = device(ones), *const sums = device(ones);
  double* const wide = device(std::vector<double>(4));
  const half* const halves = device(std::vector<half>(256, __float2half(1.f)));
  if (uses == "sum") reduce_by_warps<Add, false><<<1, kThreads>>>(in, out);
  if (uses == "least") reduce_by_warps<Least, false><<<1, kThreads>>>(in, out);
  if (uses == "all") reduce_by_warps<All, false><<<1, kThreads>>>(in, out);
  if (uses == "outside") broadcast<<<1, 32>>>(in, out, 20, 0xffffu, 32);
  if (uses == "returned") broadcast<<<1, 32>>>(in, out, 20, kAll, 16);
  if (uses == "tile") tile_maximum<<<1, kThreads>>>(floats, sums);
  if (uses == "variable") unset_sums<<<1, 1>>>(floats, sums, wide, 8, false);
  if (uses == "vector")
    unset_vectors<<<1, 1>>>(reinterpret_cast<float4*>(floats), reinterpret_cast<float4*>(sums), 8, false);
  for (const bool sets : {false, true}) {
    const auto runs = [&](const char* kind) { return sets ? uses.empty() : uses == kind; };
    if (runs("counter")) unset_counter<<<1, 1>>>(in, sums, 8, sets);
    if (runs("maximum")) unset_maximum<<<1, 1>>>(floats, sums, 8, sets);
    if (runs("members")) unset_members<<<1, 1>>>(floats, sums, 8, sets);
    if (runs("half")) unset_half<<<1, 1>>>(halves, sums, 8, sets);
    if (runs("bins")) unset_bins<<<1, 1>>>(in, sums, 8, sets);
    if (runs("flag")) unset_flag<<<1, 1>>>(in, sums, 8, sets);
  }
  if (uses.empty()) set_where_used<<<1, 1>>>(in, out + 32, reinterpret_cast<Mean*>(sums + 64), 8);
  if (uses == "fragment") product<false><<<1, 32>>>(halves, sums);
  if (uses.empty()) {
    reduce_by_warps<Add, true><<<1, kThreads>>>(in, out);
    reduce_by_warps<Least, true><<<1, kThreads>>>(in, out);
    reduce_by_warps<All, true><<<1, kThreads>>>(in, out);
    first_of_eight<<<1, 32>>>(in, out + 8);
    unset_sums<<<1, 1>>>(floats, sums, wide, 8, true);
    unset_vectors<<<1, 1>>>(reinterpret_cast<float4*>(floats), reinterpret_cast<float4*>(sums + 128), 8,
                            true);
    product<true><<<1, 32>>>(halves, sums);
  }
  std::vector<float> got(256);
  cudaMemcpy(got.data(), sums, 256 * sizeof(float), cudaMemcpyDeviceToHost);
  int reduced[16];
  cudaMemcpy(reduced, out, sizeof reduced, cudaMemcpyDeviceToHost);
  std::printf("%g %d %d %d\n", got[0], reduced[0], reduced[1], reduced[8]);
  return uses.empty() && (got[0] != 16 || reduced[0] != 1 || reduced[1] != 1 || reduced[8] != 8) ? 2 : 0;
}
