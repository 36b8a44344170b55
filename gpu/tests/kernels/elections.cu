// Test kernels of elected threads: elect.sync and invoke_one take any thread of a mask or group, and some users count on the first.
#include "gpu/device/groups.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace cg = cooperative_groups;

namespace {

__device__ bool elect_one(unsigned mask, unsigned& leader) {
  unsigned is_leader = 0;
  asm volatile(
      "{ .reg .pred P; .reg .b32 lane; elect.sync lane|P, %2; mov.b32 %0, lane; selp.u32 %1, 1, 0, P; }"
      : "=r"(leader), "=r"(is_leader)
      : "r"(mask));
  return is_leader != 0;
}

// Each warp's elected lane writes what it reads back; the fault lets lane 0 of the warp read it.
template <bool Right>
__global__ void elected_writer_kernel(int* out) {
  __shared__ int s[4];
  const unsigned warp = threadIdx.x / 32;
  unsigned leader = 0;
  const bool leads = elect_one(0xffffffffu, leader);
  if (leads) s[warp] = 10 + static_cast<int>(warp);                // <- elected write
  if (Right ? leads : threadIdx.x % 32 == 0) out[warp] = s[warp];  // <- lane 0's read
}

// A copy out of shared memory belongs to the thread that started it; the fault lets lane 0 wait for it.
template <bool Right>
__global__ void elected_store_kernel(int* out) {
  alignas(128) __shared__ int s[32];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  unsigned leader = 0;
  const bool leads = elect_one(0xffffffffu, leader);
  if (leads) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(out),  // <- elected store
        "r"(static_cast<unsigned>(__cvta_generic_to_shared(s)))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  unsigned again = 0;
  if (Right ? elect_one(0xffffffffu, again) : threadIdx.x == 0)
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  __syncwarp();
  s[threadIdx.x] = 0;  // <- written again
}

// The same of a tile, a part of a warp, or the block; the fault reads in rank 0.
template <bool Right, class Group>
__device__ void invoke_and_read(const Group& group, int* place, int* out) {
  bool called = false;
  cg::invoke_one(group, [&] { *place = 7, called = true; });       // <- invoked write
  if (Right ? called : group.thread_rank() == 0) out[0] = *place;  // <- rank 0's read
}
template <bool Right>
__global__ void invoked_writer_kernel(int kind, int* out) {
  __shared__ int s;
  const auto block = cg::this_thread_block();
  if (kind == 2) return invoke_and_read<Right>(block, &s, out);
  if (threadIdx.x >= 32) return;
  const auto warp = cg::tiled_partition<32>(block);
  const bool odd = threadIdx.x % 2 == 1;
  const auto half = cg::binary_partition(warp, odd);
  if (kind == 0 && threadIdx.x / 8 == 1) invoke_and_read<Right>(cg::tiled_partition<8>(block), &s, out);
  if (kind == 1 && odd) invoke_and_read<Right>(half, &s, out);
}

// By masks of a warp: who is elected, twice, and what the lanes say of each other, whoever of them has exited since.
__global__ void electorate_kernel(const unsigned* masks, unsigned* first, unsigned* second, int* same) {
  const unsigned mask = masks[threadIdx.x];
  elect_one(mask, first[threadIdx.x]);
  elect_one(mask, second[threadIdx.x]);
  int all = 0;
  __match_all_sync(mask, 5, &all);
  same[threadIdx.x] = all + 2 * __uni_sync(mask, 1);
}

}  // namespace

namespace plumb::simt_test {

void elected_writer(Form f, int* out) {
  launch(f == Form::right ? elected_writer_kernel<true> : elected_writer_kernel<false>, 1, 128, 0, nullptr,
         out);
}
void elected_store(Form f, int* out) {
  launch(f == Form::right ? elected_store_kernel<true> : elected_store_kernel<false>, 1, 32, 0, nullptr, out);
}
void invoked_writer(Form f, int kind, int* out) {
  launch(f == Form::right ? invoked_writer_kernel<true> : invoked_writer_kernel<false>, 1, 64, 0, nullptr,
         kind, out);
}
void electorate(const unsigned* masks, unsigned* first, unsigned* second, int* same) {
  launch(electorate_kernel, 1, 32, 0, nullptr, masks, first, second, same);
}

}  // namespace plumb::simt_test
