// Test kernels of copies by tensor maps: a box comes, is doubled and goes back, with the mistakes that are made on the way.
#include <cuda.h>

#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

using plumb::Mbarrier;
using plumb::shared_address;
using plumb::simt_test::AddFault;
using plumb::simt_test::TileFault;

constexpr int kBox = 2 * 4 * 8, kBytes = kBox * 4;

// `seen` gets the box as it lies in shared memory.
template <TileFault F>
__global__ void tile_kernel(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                            float* seen, int x, int y, int z) {
  __shared__ __align__(1024) float tile[kBox];
  __shared__ Mbarrier full;
  const int t = threadIdx.x;
  if (t == 0) {
    plumb::mbarrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
    plumb::mbarrier_arrive_expect(&full, kBytes + (F == TileFault::too_few_bytes    ? -64
                                                   : F == TileFault::too_many_bytes ? 64
                                                                                    : 0));
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3, %4}], [%5];" ::"r"(shared_address(tile)),
        "l"(&from), "r"(x), "r"(y), "r"(z), "r"(shared_address(&full))
        : "memory");
  }
  __syncthreads();
  if (F != TileFault::no_wait) plumb::mbarrier_wait(&full, 0);
  const float v = tile[t];  // <- tile use
  seen[t] = v;
  tile[t] = 2.0f * v;  // <- tile write
  if (F != TileFault::no_proxy_fence) asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile(  // <- tile store
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&to),
        "r"(x), "r"(y), "r"(z), "r"(shared_address(tile))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (F != TileFault::no_read_wait && F != TileFault::unwaited)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
  __syncthreads();
  if (F != TileFault::unwaited) tile[t] = 0.0f;  // <- tile reuse
  if (t == 0 && F == TileFault::no_read_wait) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <AddFault F>
__global__ void add_kernel(const __grid_constant__ CUtensorMap map, bool by_map, const float* in,
                           float* out) {
  __shared__ __align__(128) float row[64];
  const int t = threadIdx.x;
  row[t] = in[blockIdx.x * 64 + t];  // <- add write
  if (F != AddFault::no_proxy_fence) asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    if (by_map) {
      asm volatile(  // <- add box
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];" ::"l"(
              &map),
          "r"(0), "r"(shared_address(row))
          : "memory");
    } else {
      asm volatile(  // <- add run
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(out),
          "r"(shared_address(row))
          : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (F != AddFault::no_read_wait && F != AddFault::unwaited)
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (F == AddFault::plain_reader && blockIdx.x == 1) row[1] = out[0];  // <- add read
  }
  __syncthreads();
  if (F != AddFault::unwaited) row[t] = 0.0f;  // <- add reuse
  if (t == 0 && F == AddFault::no_read_wait) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void finish_reduction() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#define PLUMB_TEST_REDUCE(number, how)                                   \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." how \
               " [%0], [%1], 16;" ::"l"(out + 4 * number),               \
               "r"(shared_address(words) + 16 * number)                  \
               : "memory")
__global__ void reduce_each_kernel(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned words[4 * plumb::simt_test::kBulkReductions];
  for (int i = 0; i < 4 * plumb::simt_test::kBulkReductions; ++i) words[i] = in[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  PLUMB_TEST_REDUCE(0, "add.u32");
  PLUMB_TEST_REDUCE(1, "min.s32");
  PLUMB_TEST_REDUCE(2, "max.u64");
  PLUMB_TEST_REDUCE(3, "and.b32");
  PLUMB_TEST_REDUCE(4, "xor.b64");
  PLUMB_TEST_REDUCE(5, "inc.u32");
  PLUMB_TEST_REDUCE(6, "add.noftz.f16");
  PLUMB_TEST_REDUCE(7, "max.bf16");
  PLUMB_TEST_REDUCE(8, "add.f64");
  finish_reduction();
}

PFN_cuTensorMapEncodeTiled_v12000 encode() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found)
                                               : nullptr;
}

CUresult make(CUtensorMap* map, const float* data, int swizzle, bool nan, cuuint32_t box_x = 8,
              cuuint64_t pitch = 80) {
  const cuuint64_t sizes[] = {20, 12, 5}, strides[] = {pitch, 12 * pitch};
  const cuuint32_t box[] = {box_x, 4, 2}, every[] = {1, 1, 1};
  return encode()(
      map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, const_cast<float*>(data), sizes, strides, box, every,
      CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_NONE,
      nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

template <TileFault F>
void launch_tiles(const CUtensorMap& from, const CUtensorMap& to, float* seen, int x, int y, int z) {
  plumb::launch(tile_kernel<F>, 1, kBox, 0, nullptr, from, to, seen, x, y, z);
}

}  // namespace

namespace plumb::simt_test {

void tensor_tiles(TileFault fault, int swizzle, bool nan, const float* in, float* seen, float* out, int x,
                  int y, int z) {
  CUtensorMap from, to;
  make(&from, in, swizzle, nan);
  make(&to, out, swizzle, nan);
  switch (fault) {
    case TileFault::none:
      return launch_tiles<TileFault::none>(from, to, seen, x, y, z);
    case TileFault::no_wait:
      return launch_tiles<TileFault::no_wait>(from, to, seen, x, y, z);
    case TileFault::too_few_bytes:
      return launch_tiles<TileFault::too_few_bytes>(from, to, seen, x, y, z);
    case TileFault::too_many_bytes:
      return launch_tiles<TileFault::too_many_bytes>(from, to, seen, x, y, z);
    case TileFault::no_proxy_fence:
      return launch_tiles<TileFault::no_proxy_fence>(from, to, seen, x, y, z);
    case TileFault::no_read_wait:
      return launch_tiles<TileFault::no_read_wait>(from, to, seen, x, y, z);
    case TileFault::unwaited:
      return launch_tiles<TileFault::unwaited>(from, to, seen, x, y, z);
  }
}

void bulk_add(AddFault fault, bool by_map, const float* in, float* out, int blocks) {
  CUtensorMap map;
  const cuuint64_t size = 64, no_stride = 0;
  const cuuint32_t box = 64, every = 1;
  encode()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, out, &size, &no_stride, &box, &every,
           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  switch (fault) {
    case AddFault::none:
      return launch(add_kernel<AddFault::none>, blocks, 64, 0, nullptr, map, by_map, in, out);
    case AddFault::no_proxy_fence:
      return launch(add_kernel<AddFault::no_proxy_fence>, blocks, 64, 0, nullptr, map, by_map, in, out);
    case AddFault::no_read_wait:
      return launch(add_kernel<AddFault::no_read_wait>, blocks, 64, 0, nullptr, map, by_map, in, out);
    case AddFault::unwaited:
      return launch(add_kernel<AddFault::unwaited>, blocks, 64, 0, nullptr, map, by_map, in, out);
    case AddFault::plain_reader:
      return launch(add_kernel<AddFault::plain_reader>, blocks, 64, 0, nullptr, map, by_map, in, out);
  }
}
void bulk_reduce_each(const unsigned* in, unsigned* out) {
  launch(reduce_each_kernel, 1, 1, 0, nullptr, in, out);
}

// Rows of other than whole 16 bytes, a pitch of other than whole 16 bytes, and rows longer than the swizzle.
bool refused_tensor_maps() {
  alignas(128) static float data[16];
  CUtensorMap map;
  return make(&map, data, 0, false, 6) == CUDA_ERROR_INVALID_VALUE &&
         make(&map, data, 0, false, 8, 84) == CUDA_ERROR_INVALID_VALUE &&
         make(&map, data, 1, false, 16) == CUDA_ERROR_INVALID_VALUE &&
         make(&map, data + 1, 0, false) == CUDA_ERROR_INVALID_VALUE &&
         make(&map, data, 1, false) == CUDA_SUCCESS;
}

}  // namespace plumb::simt_test
