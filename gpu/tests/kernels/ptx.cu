// Test kernels that synchronise and move data by inline PTX, as people write it, each with the mistake that looks like it; and one of
// everything that PTX computes.
#include "gpu/device/kernel.hpp"
#include "gpu/tests/kernels/simt_kernels.hpp"

namespace {

__device__ __forceinline__ unsigned offset_of(const void* shared) {
  unsigned offset;
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(offset) : "l"(shared));
  return offset;
}

// Warp 0 fills a slot, warp 1 empties it; two barriers of 64 threads, each arrived at by one side and waited for by the other.
template <bool Right>
__global__ void specialised_kernel(const int* in, int* out, int rounds) {
  __shared__ int slot[32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      if (r > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      if (!Right) asm volatile("bar.arrive %0, %1;" ::"r"(1), "r"(64) : "memory");
      slot[lane] = in[r * 32 + lane];  // <- ptx slot write
      if (Right) asm volatile("bar.arrive %0, %1;" ::"r"(1), "r"(64) : "memory");
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      asm volatile("barrier.sync 1, 64;" ::: "memory");
      sum += slot[31 - lane];  // <- ptx slot read
      if (r + 1 < rounds) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
    out[lane] = sum;
  }
}

// Block 0 publishes, the others wait: a store that releases and loads that acquire. The fault's store is relaxed.
template <bool Right>
__global__ void publish_kernel(int* data, unsigned* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 7;  // <- ptx publish write
    if (Right) {
      asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    }
  } else {
    unsigned ready = 0;
    while (ready == 0)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
    out[blockIdx.x] = *data;  // <- ptx publish read
  }
}

// The last block to count itself in adds up what all wrote. The fault's counter orders nothing.
template <bool Right>
__global__ void count_in_kernel(const int* in, int* partial, unsigned* count, int* out) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = 2 * in[blockIdx.x];  // <- ptx counted write
  unsigned before;
  if (Right) {
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(count), "r"(1u)
                 : "memory");
  } else {
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  }
  if (before + 1 < gridDim.x) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];  // <- ptx counted read
  *out = sum;
}

// Tiles come by cp.async, one ahead of their use. The fault waits for one group less.
template <bool Right>
__global__ void tiles_kernel(const int* in, int* out, int tiles) {
  __shared__ int stage[2][64];
  const int t = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int tile) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(offset_of(&stage[tile % 2][t])),
                 "l"(in + tile * 64 + t)
                 : "memory");  // <- ptx tile copy
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  int sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) fetch(k + 1);
    if (Right && k + 1 == tiles) {
      asm volatile("cp.async.wait_all;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group %0;" ::"n"(Right ? 1 : 2) : "memory");
    }
    asm volatile("bar.sync 0;" ::: "memory");
    sum += stage[k % 2][63 - t];  // <- ptx tile use
    asm volatile("bar.sync 0;" ::: "memory");
  }
  out[t] = sum;
}

__global__ void algebra_kernel(const float* in, unsigned* out) {
  __shared__ alignas(16) float four[4];
  const unsigned t = threadIdx.x;
  unsigned v[plumb::simt_test::kPtxNumbers] = {};
  asm("mov.u32 %0, %%laneid;" : "=r"(v[0]));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(v[1]));
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(v[2]));
  float x, y, z, w;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(in));
  if (t == 0)
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(offset_of(four)), "f"(w), "f"(z), "f"(y),
                 "f"(x)
                 : "memory");
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  asm volatile("ld.shared.b32 %0, [%1+4];" : "=r"(v[3]) : "r"(offset_of(four)) : "memory");  // z
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(x) : "f"(x), "f"(y), "f"(z));
  asm("mov.b32 %0, %1;" : "=r"(v[4]) : "f"(x));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(v[5]) : "r"(t), "r"(0xf0f0u), "r"(0x3333u));
  asm("prmt.b32 %0, %1, %2, 0x5140;" : "=r"(v[6]) : "r"(0x03020100u), "r"(0x07060504u));
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(v[7]) : "r"(0xabcdeu));
  asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(v[8]) : "r"(0x5u), "r"(0xffffffffu));
  asm("shf.l.wrap.b32 %0, %1, %2, 8;" : "=r"(v[9]) : "r"(0x11223344u), "r"(0xaabbccddu));
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(v[10]) : "r"(0x80000000u), "r"(6u));
  asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(v[11]) : "r"(-3), "r"(5), "r"(1));
  asm("{ .reg .pred p, q; setp.gt.s32 p, %1, -1; setp.lt.u32 q, %1, 0x10; selp.b32 %0, 1, 2, p; @!q add.u32 "
      "%0, %0, 4; }"
      : "=r"(v[12])
      : "r"(t));
  asm("popc.b32 %0, %1;" : "=r"(v[13]) : "r"(0xff00ffu));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(v[14]) : "f"(1.0f + 0.0004883f));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(v[15]) : "r"(t));
  asm volatile("shfl.sync.idx.b32 %0, %1, 3, 0x181f, 0xffffffff;"
               : "=r"(v[16])
               : "r"(t));  // in segments of eight
  asm("shl.b32 %0, %1, 32;" : "=r"(v[17]) : "r"(1u));
  asm("shr.s32 %0, %1, 4;" : "=r"(v[18]) : "r"(-32));
  asm("max.s32 %0, %1, -7;" : "=r"(v[19]) : "r"(-9));
  asm("mov.b32 %0, 0f40490FDB;" : "=r"(v[20]));
  asm("{ .reg .u64 wide; mul.wide.u32 wide, %1, %1; shr.u64 wide, wide, 32; cvt.u32.u64 %0, wide; }"
      : "=r"(v[21])
      : "r"(0x10000u));
  asm("not.b32 %0, %1;" : "=r"(v[22]) : "r"(0xffff0000u));
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(v[23])
               : "r"(t));
  asm volatile(
      "{ .reg .u32 r; .reg .pred p; shfl.sync.down.b32 r|p, %1, 2, 0x1805, 0xffffffff; selp.u32 %0, r, 99, "
      "p; }"
      : "=r"(v[24])
      : "r"(t));  // in segments of eight, whose lanes 6 and 7 no lane reads
  asm volatile("shfl.sync.up.b32 %0, %1, 1, 4, 0xffffffff;" : "=r"(v[25]) : "r"(t));
  asm("{ bmsk.clamp.b32 %0, 28, 9; bmsk.wrap.b32 %1, 33, 2; }" : "=r"(v[26]), "=r"(v[27]));
  asm("{ bfind.u32 %0, %2; bfind.shiftamt.s32 %1, %3; }" : "=r"(v[28]), "=r"(v[29]) : "r"(0x700u), "r"(-8));
  asm("{ .reg .b64 w; mov.b64 w, {%2, %3}; mov.b64 {%0, %1}, w; }"
      : "=r"(v[30]), "=r"(v[31])
      : "r"(t + 1), "r"(7u));
  asm("mov.b32 %0, {%1, %2};"
      : "=r"(v[32])
      : "h"(static_cast<unsigned short>(3)), "h"(static_cast<unsigned short>(4)));
  asm("{ .reg .u64 w; mad.wide.u32 w, %1, %1, %2; shr.u64 w, w, 32; cvt.u32.u64 %0, w; }"
      : "=r"(v[33])
      : "r"(0x10000u), "l"(0x700000000ull));
  constexpr int n = plumb::simt_test::kPtxNumbers;
  for (int i = 0; i < n; ++i) out[t * n + static_cast<unsigned>(i)] = v[i];
}

}  // namespace

namespace plumb::simt_test {

void ptx_specialised(Form f, const int* in, int* out, int rounds) {
  launch(f == Form::right ? specialised_kernel<true> : specialised_kernel<false>, 1, 64, 0, nullptr, in, out,
         rounds);
}
void ptx_publish(Form f, int blocks, int* data, unsigned* flag, int* out) {
  device_fill(flag, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? publish_kernel<true> : publish_kernel<false>, blocks, 32, 0, nullptr, data, flag,
         out);
}
void ptx_count_in(Form f, int blocks, const int* in, int* partial, unsigned* count, int* out) {
  device_fill(count, 0, sizeof(unsigned), nullptr);
  launch(f == Form::right ? count_in_kernel<true> : count_in_kernel<false>, blocks, 32, 0, nullptr, in,
         partial, count, out);
}
void ptx_tiles(Form f, const int* in, int* out, int tiles) {
  launch(f == Form::right ? tiles_kernel<true> : tiles_kernel<false>, 1, 64, 0, nullptr, in, out, tiles);
}
void ptx_algebra(const float* in, unsigned* out) { launch(algebra_kernel, 1, 32, 0, nullptr, in, out); }

}  // namespace plumb::simt_test
