// requires: sm_90a
// Planted faults of a matrix product by groups of four warps (wgmma): one right kernel of 64 x 128 tiles, in tf32, with B through shared
// memory, and each fault a thing changed in it. Fault::none is the right one; nothing registers it. Not in fp32 by three products: sums
// that stay in a tensor core are truncated, and beyond 500 terms the right kernel too would miss that bound.
#include "gpu/device/kernel.hpp"
#include "gpu/device/wgmma.hpp"
#include "reference/ops/gemm.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

using P = Gemm::Problem<float>;
using In = Gemm::In<float, Space::device>;
using Out = Gemm::Out<float, Space::device>;
using Index = std::int64_t;

[[maybe_unused]] constexpr int kRows = 64, kCols = 128, kDepth = 8, kThreads = 128;

enum class Fault { none, waited_after_loop, no_wait, no_proxy_fence, no_fence, stride };

template <Fault F>
__global__ void __launch_bounds__(kThreads) gemm_mutant_warpgroup(P p, In in, Out out) {
#if PLUMB_SM_AT_LEAST(90)
  // [k / 4][column][k % 4]: cores of 8 columns by 16 bytes
  __shared__ __align__(128) unsigned slice[kDepth * kCols];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  const Index m = out.C.rows, n = out.C.cols, depth = p.alpha == 0.0f ? 0 : in.A.cols;
  const Index i0 = static_cast<Index>(blockIdx.y) * kRows + t / 32 * 16 + lane / 4,
              j0 = static_cast<Index>(blockIdx.x) * kCols;
  float sum[64] = {};
  for (Index k0 = 0; k0 < depth; k0 += kDepth) {
    __syncthreads();
    for (int e = t; e < kDepth * kCols; e += kThreads) {
      const int k = e / kCols, j = e % kCols, at = k / 4 * 4 * kCols + 4 * j + k % 4;
      slice[at] = to_tf32(k0 + k < depth && j0 + j < n ? in.B(k0 + k, j0 + j) : 0.0f);
    }
    if (F != Fault::no_proxy_fence) asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned a[4];
    for (int r = 0; r < 4; ++r) {
      const Index i = i0 + r % 2 * 8, k = k0 + r / 2 * 4 + lane % 4;
      a[r] = to_tf32(i < m && k < depth ? in.A(i, k) : 0.0f);
    }
    const unsigned long long b = wgmma_cores(slice, 16 * kCols, F == Fault::stride ? 64 : 128);
    if (F != Fault::no_fence) wgmma_fence();
    wgmma_m64n128k8_tf32(sum, a, b, true);
    wgmma_commit();
    if (F != Fault::waited_after_loop && F != Fault::no_wait) wgmma_wait<0>();
  }
  if (F == Fault::waited_after_loop) wgmma_wait<0>();
  for (int e = 0; e < 64; ++e) {
    const Index i = i0 + e / 2 % 2 * 8, j = j0 + e / 4 * 8 + lane % 4 * 2 + e % 2;
    if (i >= m || j >= n) continue;
    float* const c = &out.C(i, j);
    *c = p.beta == 0.0f ? p.alpha * sum[e] : p.alpha * sum[e] + p.beta * *c;
  }
#endif
}

template <Fault F>
void run(const P& p, const In& in, const Out& out, Context& context) {
  const auto tiles = [](Index x, int tile) { return static_cast<unsigned>((x + tile - 1) / tile); };
  launch(gemm_mutant_warpgroup<F>, Grid(tiles(out.C.cols, kCols), tiles(out.C.rows, kRows)), kThreads, 0,
         context.stream, p, in, out);
}

#define PLUMB_WARPGROUP_MUTANT(fault, name, ...)                                \
  const RegisterMutant<Gemm, float, Space::device> fault##_m {                  \
    name, run<Fault::fault>, {__VA_ARGS__},                                     \
        Traits{}.computes_in(Arithmetic::tf32).for_finite_inputs().needs_sm(90) \
  }

PLUMB_WARPGROUP_MUTANT(waited_after_loop, "wgmma_operand_overwritten", 11,
                       "products are waited for after the loop: B is overwritten while they read it",
                       "a wait moved out of the loop, for the sums are needed behind it alone", kRace);
PLUMB_WARPGROUP_MUTANT(no_wait, "wgmma_never_waited_for", 11, "the sums of products under way are stored",
                       "a commit taken for the wait", kNumeric | kRace);
PLUMB_WARPGROUP_MUTANT(
    no_proxy_fence, "wgmma_without_proxy_fence", 0,
    "B is written by threads and read by wgmma with a barrier between them, and no fence.proxy.async",
    "a kernel whose copies were once bulk copies, which need none", kRace);
PLUMB_WARPGROUP_MUTANT(
    no_fence, "wgmma_without_fence", 0,
    "A's registers are written before a product that reads them, with no wgmma.fence between",
    "a fence taken for a memory fence, which the barrier before it makes needless", kRace);
PLUMB_WARPGROUP_MUTANT(stride, "wgmma_stride_of_half_a_core", 0,
                       "the descriptor's stride between groups of 8 columns is half of what it is",
                       "bytes and 16-byte units confused in one of three fields", kNumeric);

}  // namespace
}  // namespace plumb
