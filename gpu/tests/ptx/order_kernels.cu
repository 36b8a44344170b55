// Kernels of the corpus in which threads order each other by hand: flags, locks, fences, mbarriers, asynchronous copies, clusters. NVRTC compiles
// them (nvrtc_kernels.py); each order in them is needed, so mutants that lack one are faults.

typedef unsigned long long u64;

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ int acquired(const int* flag) {
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  return v;
}
__device__ void release(int* flag, int v) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(v) : "memory");
}
__device__ int relaxed(const int* flag) {
  int v;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
  return v;
}
__device__ void set_relaxed(int* flag, int v) {
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(v) : "memory");
}

// Thread 0 of block 0 publishes; every thread of the other blocks waits for itself.
extern "C" __global__ void published(int* data, int* flag, int* o) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < 32; ++i) data[i] = 3 * i;
      release(flag, 1);
    }
    return;
  }
  while (acquired(flag) == 0) {}
  o[(blockIdx.x - 1) * 32 + threadIdx.x] = data[threadIdx.x];
}

// The same by fences between relaxed accesses.
extern "C" __global__ void fenced(int* data, int* flag, int* o) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < 32; ++i) data[i] = 3 * i;
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      set_relaxed(flag, 1);
    }
    return;
  }
  while (relaxed(flag) == 0) {}
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  o[(blockIdx.x - 1) * 32 + threadIdx.x] = data[threadIdx.x];
}

// One thread of each block adds to a plain number under a lock.
extern "C" __global__ void locked(const int* x, int* lock, int* o) {
  int was;
  do {
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(was) : "l"(lock) : "memory");
  } while (was != 0);
  o[0] += x[blockIdx.x];
  asm volatile("atom.release.gpu.global.exch.b32 %0, [%1], 0;" : "=r"(was) : "l"(lock) : "memory");
}

// Each block adds to the last one's sum, and hands it on by a counter.
extern "C" __global__ void chained(const int* x, int* count, int* sums) {
  const int b = blockIdx.x;
  while (acquired(count) != b) {}
  sums[b] = x[b] + (b > 0 ? sums[b - 1] : 0);
  int was;
  asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;" : "=r"(was) : "l"(count) : "memory");
}

// Two blocks want the same place, and at most one of them takes it: each says so, and looks whether the other has.
extern "C" __global__ void wanted(int* wants, int* place) {
  set_relaxed(wants + blockIdx.x, 1);
  asm volatile("fence.sc.gpu;" ::: "memory");
  if (relaxed(wants + 1 - blockIdx.x) == 0) place[0] = 7 + blockIdx.x;
}

// Warp 0 fills a slot and warp 1 empties it, by two barriers of 64 threads.
extern "C" __global__ void handed_on(const int* x, int* o) {
  __shared__ int slot[32];
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      if (i > 0) asm volatile("barrier.sync 2, 64;" ::: "memory");
      slot[lane] = x[32 * i + lane];
      asm volatile("barrier.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("barrier.sync 1, 64;" ::: "memory");
      o[32 * i + lane] = slot[31 - lane];
      if (i < 3) asm volatile("barrier.arrive 2, 64;" ::: "memory");
    }
  }
}

// A warp turns its values around in shared memory.
extern "C" __global__ void turned_by_warp(const int* x, int* o) {
  __shared__ int s[64];
  int* mine = s + threadIdx.x / 32 * 32;
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 3; ++i) {
    mine[lane] = x[64 * i + threadIdx.x];
    __syncwarp();
    o[64 * i + threadIdx.x] = mine[31 - lane];
    if (i < 2) __syncwarp();
  }
}

__device__ void init(u64* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}
__device__ void arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ void wait(u64* barrier, int parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; "
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
__device__ bool elected() {
  int leads;
  asm volatile("{ .reg .pred p; .reg .b32 lane; elect.sync lane|p, -1; selp.s32 %0, 1, 0, p; }"
               : "=r"(leads));
  return leads != 0;
}
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// A ring of two tiles: the elected lane of warp 0 brings them by bulk copies, two warps use them.
extern "C" __global__ void ring(const int* x, int* o, int tiles) {
  __shared__ __align__(128) int tile[2][64];
  __shared__ u64 full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) init(full + i, 1), init(empty + i, 64);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    if (!elected()) return;
    for (int t = 0; t < tiles; ++t) {
      if (t >= 2) {
        wait(empty + t % 2, t / 2 % 2 ^ 1);
        fence_async();
      }
      const unsigned bar = shared_address(full + t % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(bar) : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
              shared_address(tile[t % 2])),
          "l"(x + 64 * t), "r"(bar)
          : "memory");
    }
    return;
  }
  const int k = threadIdx.x - 32;
  for (int t = 0; t < tiles; ++t) {
    wait(full + t % 2, t / 2 % 2);
    o[64 * t + k] = tile[t % 2][63 - k];
    arrive(empty + t % 2);
  }
}

// Tiles leave by bulk copies out of shared memory, one under way while the next is made.
extern "C" __global__ void stored(const int* x, int* o, int tiles) {
  __shared__ __align__(128) int tile[2][64];
  const int k = threadIdx.x;
  for (int t = 0; t < tiles; ++t) {
    if (k == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    tile[t % 2][k] = x[64 * t + 63 - k];
    fence_async();
    __syncthreads();
    if (k == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(o + 64 * t),
                   "r"(shared_address(tile[t % 2]))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (k == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// What a bulk copy has written is read back by the thread that waited for it, and by those that meet it.
extern "C" __global__ void stored_and_read(const int* x, int* o, int* again) {
  __shared__ __align__(128) int tile[64];
  const int k = threadIdx.x;
  tile[k] = x[k];
  fence_async();
  __syncthreads();
  if (k == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(o),
                 "r"(shared_address(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  again[k] = o[63 - k];
}

// Copies of all threads arrive at an mbarrier by themselves.
extern "C" __global__ void arriving(const int* x, int* o) {
  __shared__ __align__(16) int s[256];
  __shared__ u64 full;
  if (threadIdx.x == 0) init(&full, 64);
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(s + 4 * threadIdx.x)),
               "l"(x + 4 * threadIdx.x)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full))
               : "memory");
  wait(&full, 0);
  for (int i = 0; i < 4; ++i) o[64 * i + threadIdx.x] = s[255 - 64 * i - threadIdx.x];
}

// Copies that all are waited for at once.
extern "C" __global__ void copied(const int* x, int* o) {
  __shared__ __align__(16) int s[256];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(s + 4 * threadIdx.x)),
               "l"(x + 4 * threadIdx.x)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (int i = 0; i < 4; ++i) o[64 * i + threadIdx.x] = s[255 - 64 * i - threadIdx.x];
}

// Each block of a pair reads the other's shared memory, which must be there until it has.
extern "C" __global__ void __cluster_dims__(2, 1, 1) in_pairs(const int* x, int* o) {
  __shared__ int s[64];
  s[threadIdx.x] = x[64 * blockIdx.x + threadIdx.x];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  unsigned at;
  int v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"(shared_address(s + 63 - threadIdx.x)), "r"(1 - blockIdx.x % 2));
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  o[64 * blockIdx.x + threadIdx.x] = v;
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
