// Test kernels of groups beyond a warp: tiles that span several, scans, and one thread of a group.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace cg = cooperative_groups;

namespace {

struct First {  // associative, not commutative: an order of its own
  __device__ int operator()(int a, int) const { return a; }
};

template <unsigned Size>
__global__ void wide_tile_kernel(const int* in, int* out) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int t = threadIdx.x;
  const int v = in[t];
  int* mine = out + 8 * t;
  mine[0] = cg::reduce(tile, v, cg::plus<int>());
  mine[1] = cg::reduce(tile, v, cg::greater<int>());
  mine[2] = cg::inclusive_scan(tile, v);
  mine[3] = cg::exclusive_scan(tile, v, cg::plus<int>());
  mine[4] = tile.shfl(v, Size - 1);
  mine[5] = tile.any(v == in[0]);
  mine[6] = tile.all(v >= 0);
  mine[7] = cg::inclusive_scan(tile, v, First());
}

// A value of shared memory goes from rank to rank: the tile's meetings order it, where they are there.
template <bool Right>
__global__ void wide_tile_order_kernel(const int* in, int* out) {
  __shared__ int s[128];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const int t = threadIdx.x;
  s[t] = in[t];  // <- wide_tile store
  if (Right) (void)tile.any(0);
  out[t] = s[t ^ 63];  // <- wide_tile load
}

__global__ void wide_tile_divergent_kernel(int* out) {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  if (threadIdx.x != 5) out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>());
}

__global__ void scans_kernel(const int* in, int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int v = in[threadIdx.x];
  int* mine = out + 6 * threadIdx.x;
  mine[0] = cg::inclusive_scan(warp, v, cg::plus<int>());
  mine[1] = cg::exclusive_scan(warp, v);
  const auto eight = cg::tiled_partition<8>(warp);
  mine[2] = cg::inclusive_scan(eight, v, cg::less<int>());
  mine[3] = cg::invoke_one_broadcast(eight, [&] { return in[eight.meta_group_rank()]; });
  const auto side = cg::binary_partition(warp, v % 2 == 0);
  mine[4] = cg::exclusive_scan(side, v);
  const auto label = cg::labeled_partition(warp, v % 3);
  mine[5] = cg::reduce(label, 1, cg::plus<int>());
}

__global__ void invoke_one_kernel(int* count) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  cg::invoke_one(
      tile, [&](int by) { atomicAdd(count, by); }, 3);
}

}  // namespace

namespace plumb::simt_test {

void wide_tile(int size, int threads, const int* in, int* out) {
  const auto kernel = size == 64    ? wide_tile_kernel<64>
                      : size == 128 ? wide_tile_kernel<128>
                      : size == 256 ? wide_tile_kernel<256>
                                    : wide_tile_kernel<512>;
  launch(kernel, 1, threads, 0, nullptr, in, out);
}
void wide_tile_order(Form f, const int* in, int* out) {
  launch(f == Form::right ? wide_tile_order_kernel<true> : wide_tile_order_kernel<false>, 1, 128, 0, nullptr,
         in, out);
}
void wide_tile_divergent(int* out) { launch(wide_tile_divergent_kernel, 1, 128, 0, nullptr, out); }
void scans(const int* in, int* out) { launch(scans_kernel, 1, 32, 0, nullptr, in, out); }
void invoke_one(int blocks, int* count) { launch(invoke_one_kernel, blocks, 64, 0, nullptr, count); }

}  // namespace plumb::simt_test
