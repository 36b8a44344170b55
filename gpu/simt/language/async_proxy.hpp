// What sm_90 does beside its threads, in the asynchronous proxy: products of a warpgroup (wgmma), copies by tensor maps, bulk copies out of
// shared memory. scheduler/warpgroups.cpp and scheduler/tensor_copies.cpp do them; PTX ISA, "Async proxy".
#pragma once
#include "gpu/simt/language/device_api.hpp"

namespace plumb::simt {

/// fence.proxy.async: what the thread wrote, or knows to be written, may be read by the asynchronous proxy from here on.
void proxy_fence(Here here);

// ---- wgmma ----
/// wgmma.mma_async of 64 rows, `columns` columns and 32 bytes along K.
struct ProductForm {
  int columns;
  Total total;
  Element a, b;
  bool negate_a = false, negate_b = false;  // imm-scale-a, -b
  bool turn_a = false, turn_b = false;      // imm-trans-a, -b: rows run along M or N, 16-bit elements alone
  bool saturate = false;                    // of s32
};
/// 32-bit registers that a thread's part of the sums takes.
constexpr int registers_of(const ProductForm& form) {
  return form.total == Total::f16 ? form.columns / 4 : form.columns / 2;
}
/// Starts d = a b + (add ? d : 0): `d` points to registers_of(form) variables of 32 bits, which hold NaN until the wait; `a` to four
/// registers, or is null where `a_at` describes A in shared memory. B is described by `b_at`. `a_places`: the variables that the registers
/// of A are, null for a value that is none.
void wgmma(const ProductForm& form, void* const* d, const unsigned* a, unsigned long long a_at,
           unsigned long long b_at, bool add, Here here, const void* const* a_places = nullptr);
void wgmma_fence(Here here);
void wgmma_commit(Here here);
void wgmma_wait(int pending, Here here);

// ---- tensor maps ----
enum class MapField : unsigned char {
  global_address,
  rank,  // less one
  box_dim,
  global_dim,
  global_stride,  // of dimension 1 and those behind it, in bytes
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};
/// tensormap.replace of a field, in global or shared memory; `dimension` where the field has one.
void tensormap_replace(void* map, MapField field, unsigned dimension, unsigned long long value, Here here);
/// tensormap.cp_fenceproxy: the warp copies a map from shared to global memory, and releases it.
void tensormap_copy_release(void* global_dst, const void* shared_src, int bytes, Here here);
/// fence.proxy.tensormap::generic.release: copies that acquire later may find what the thread wrote, or knows to be written.
void map_release(Here here);
/// fence.proxy.tensormap::generic.acquire of `bytes` (128) of a map.
void map_acquire(const void* map, int bytes, Here here);

// ---- copies ----
constexpr int kMostDimensions = 5;
/// cp.async.bulk.tensor of the box at `at` (the innermost coordinate first), to shared memory: completes on a barrier there.
void tensor_load(void* shared_dst, const void* map, const int* at, int dimensions, const void* object,
                 Here here);
/// The same from shared memory, as part of the thread's bulk group that is open.
void tensor_store(const void* map, const int* at, int dimensions, const void* shared_src, Here here);
/// cp.async.bulk to the blocks of the cluster whose ranks `mask` has, at the same places, with the barriers at the same places there.
void bulk_copy_multicast(void* shared_dst, const void* global_src, int bytes, const void* object,
                         unsigned mask, Here here);
void tensor_load_multicast(void* shared_dst, const void* map, const int* at, int dimensions,
                           const void* object, unsigned mask, Here here);
/// cp.async.bulk from the block's shared memory to another's; completes on a barrier there.
void bulk_copy_to_peer(void* shared_dst, const void* shared_src, int bytes, const void* object, Here here);
/// st.async: a value of 4, 8 or 16 bytes to shared memory of the cluster; completes on a barrier there.
void store_to_peer(void* shared_dst, const void* value, int bytes, const void* object, Here here);
/// cp.async.bulk from shared to global memory, whole 16 bytes.
void bulk_store(void* global_dst, const void* shared_src, int bytes, Here here);
/// What cp.reduce.async.bulk does to each number of the destination, by a relaxed atomic operation of device scope.
enum class Reduction : unsigned char { add_, min_, max_, inc_, dec_, and_, or_, xor_ };
enum class Number : unsigned char { none, u32, s32, u64, s64, f16, bf16, f32, f64 };
void bulk_reduce(void* global_dst, const void* shared_src, int bytes, Reduction how, Number type, Here here);
void tensor_reduce(const void* map, const int* at, int dimensions, const void* shared_src, Reduction how,
                   Here here);
void bulk_commit(Here here);
/// Until at most `pending` of the thread's bulk groups are under way; with `read` alone, until shared memory has been read.
void bulk_wait(int pending, bool read, Here here);

/// stmatrix: `count` 8 x 8 matrices of 16-bit elements, a row of 16 bytes to each address of the first 8 * count lanes.
void stmatrix(void* row, const unsigned* in, int count, bool transposed, Here here);

}  // namespace plumb::simt
