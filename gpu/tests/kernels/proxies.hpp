// Host entry points of the test kernels of fences between proxies, tensor maps that change, and registers of products (proxies.cu): right, and
// with one planted fault.
#pragma once

namespace plumb::simt_test {

enum class ProxyFault {
  none,
  // of a buffer that bulk copies refill
  unfenced_write,  // of threads, before the next copy
  unfenced_read,   // likewise
  unfenced_zeros,  // written before the first copy
  global_fence,    // fence.proxy.async.global alone
  copier_fences,   // no fault: the thread that starts the copy has the fence, behind the barrier
  // of the barrier that they complete on
  unfenced_init,    // by another thread than the one that starts the copy
  init_by_copier,   // no fault: by the same
  init_proxy_fence  // no fault: fence.proxy.async
};
/// One block of 64 threads: the maxima of 3 rows of 64 numbers, which come one by one.
void proxy_refill(ProxyFault f, const float* in, float* out);

enum class MapFault {
  none,
  in_flight,          // rewritten while a copy reads it
  in_flight_replace,  // by tensormap.replace
  in_flight_barrier,  // rewritten by another thread, behind a barrier that does not wait for the copy
  no_release,
  no_acquire,
  acquired_early,  // before the map was written
  replaced,        // no fault: in shared memory by tensormap.replace, then tensormap.cp_fenceproxy
  replaced_no_acquire,
  replaced_by_warp,  // no fault: all lanes acquire, and another lane than the one that replaced copies at once
  replaced_unmet     // no __syncwarp() between the two: any lane may make the copy of cp_fenceproxy
};
/// One block of 64 threads copies 64 numbers twice, by one map in global memory (`slot`, 128 bytes) that is rewritten in between; out: the sum of
/// the two. `from` has 128 numbers.
void proxy_map(MapFault f, const float* from, void* slot, float* out);
/// Copies 64 numbers by the map at `slot`, which an earlier launch or the host has written.
void proxy_map_once(bool acquires, const void* slot, float* out);
/// Writes to `slot` (128 bytes) the map of 64 numbers at `from`.
void encode_proxy_map(const float* from, void* slot);

enum class OutFault {
  none,
  reduced,      // no fault: by cp.reduce.async.bulk
  two_waits,    // no fault: .read, and the whole wait later
  read_wait,    // .read alone before others read
  late_wait,    // behind the barrier that the readers wait for
  overwritten,  // .read alone before others write
  older_group   // a wait that lets the copy's group be under way
};
/// One block of 64 threads: 64 numbers go to `out` by a bulk copy, and from there to `again`, last first.
void proxy_out(OutFault f, const float* in, float* out, float* again);

enum class RegisterFault {
  none,
  a_written,     // while the product reads it
  sum_read,      // before its wait
  sum_written,   // likewise
  second_a,      // written between the fence and the second product
  a_by_value,    // no fault: A goes in through parameters
  own_variables  // no fault: a variable for each product
};
/// 4 warps: C (64 x 8) = A (64 x 16) ones, two products; `a` has 128 x 8 numbers, four for each thread and product.
void proxy_registers(RegisterFault f, const float* a, float* out);

}  // namespace plumb::simt_test
