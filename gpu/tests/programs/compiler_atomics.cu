// The compiler's own atomic functions, __nv_atomic_...: their values, and a lock of them around plain data. With "relaxed" the lock's
// release is none, and the data race.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void values(int* x, unsigned* mismatches) {
  int old = 5, fresh = 9, seen = 0;
  const int order = __NV_ATOMIC_ACQ_REL, scope = __NV_THREAD_SCOPE_DEVICE;
  __nv_atomic_store_n(x, 1, __NV_ATOMIC_RELEASE, scope);
  unsigned bad = __nv_atomic_exchange_n(x, 6, order) != 1;
  bad += __nv_atomic_fetch_add(x, 6, order, scope) != 6;
  bad += __nv_atomic_fetch_sub(x, 4, order, scope) != 12;
  bad += __nv_atomic_fetch_and(x, 12, order, scope) != 8;
  bad += __nv_atomic_fetch_or(x, 3, order, scope) != 8;
  bad += __nv_atomic_fetch_xor(x, 1, order, scope) != 11;
  bad += __nv_atomic_fetch_min(x, 7, order, scope) != 10;
  bad += __nv_atomic_fetch_max(x, 5, order, scope) != 7;
  bad += __nv_atomic_compare_exchange_n(x, &old, 8, false, order, __NV_ATOMIC_RELAXED, scope) || old != 7;
  bad += !__nv_atomic_compare_exchange(x, &old, &fresh, false, order, __NV_ATOMIC_RELAXED, scope);
  __nv_atomic_add(x, 1, __NV_ATOMIC_RELAXED);
  __nv_atomic_load(x, &seen, __NV_ATOMIC_ACQUIRE, scope);
  *mismatches = bad + (seen != 10);
}

__global__ void count_in_lock(int* lock, int* count, int release) {
  if (threadIdx.x != 0) return;
  int open = 0;
  while (!__nv_atomic_compare_exchange_n(lock, &open, 1, true, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELAXED))
    open = 0;
  ++*count;
  __nv_atomic_store_n(lock, 0, release, __NV_THREAD_SCOPE_DEVICE);
}

int main(int argc, char** argv) {
  const int release =
      argc > 1 && std::strcmp(argv[1], "relaxed") == 0 ? __NV_ATOMIC_RELAXED : __NV_ATOMIC_RELEASE;
  int *words, count = 0;
  unsigned *mismatches, bad = 1;
  cudaMalloc(&words, 3 * sizeof(int));
  cudaMalloc(&mismatches, sizeof(unsigned));
  cudaMemset(words, 0, 3 * sizeof(int));
  values<<<1, 1>>>(words + 2, mismatches);
  count_in_lock<<<6, 32>>>(words, words + 1, release);
  cudaMemcpy(&count, words + 1, sizeof count, cudaMemcpyDeviceToHost);
  cudaMemcpy(&bad, mismatches, sizeof bad, cudaMemcpyDeviceToHost);
  std::printf("%u of the values wrong, %d counted\n", bad, count);
  return bad == 0 && count == 6 ? 0 : 4;
}
