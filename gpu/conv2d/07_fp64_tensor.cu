// conv2d, rung 7: fp64 on tensor cores (fp64).
//
// Change    rung 6's stages, with products by mma m16n8k8 in fp64: twice the rate of the fp64 pipe and the
//           same arithmetic, so nothing is declared. Filters keep their rows in shared memory; the sum may
//           run in any order, so positions (t, t + 4) of a fragment take terms (2 t, 2 t + 1), and two of a
//           filter come in one load.
// Traffic   that of rung 4.
// Limits    fp64: 234 registers, 512 bytes of static shared memory, no spills (sm_90, nvcc 13.0, ptxas -v). 2
//           blocks of 128 threads per SM, 85.7 KiB of shared memory. H200, the case of rung 1: 81 us, 23
//           TFLOP/s, a third of the tensor pipe.
// Fails at  devices before sm_90; address arithmetic, which now limits products of twice the rate.
// Source    PTX ISA, "Matrix Fragments for mma.m16n8k8"; gemm's rung 14.
#include "gpu/conv2d/implicit_gemm.hpp"

namespace plumb {
namespace {

using namespace conv2d;

constexpr int kFilters = 64, kOutputs = 128, kDepth = 16, kThreads = 128, kStages = 3;  // of a block
constexpr int kOfM = 2, kOfN = 8;  // tiles of 16 x 8 of a warp, of which there are 2 x 2
constexpr int kPitchF = kDepth + 8, kPitchX = kOutputs + 2;  // lanes of a load in different banks
constexpr int kStageF = kFilters * kPitchF, kStage = kStageF + kDepth * kPitchX;
constexpr std::size_t kShared = sizeof(double) * kStages * kStage;
static_assert(kThreads == kOutputs && kThreads % kDepth == 0,
              "a window per thread, threads fill the filters' tile");

struct alignas(16) Pair {
  double x, y;
};

__global__ void __launch_bounds__(kThreads, 2)
    conv2d_fp64_tensor(Problem<double> p, In<double> in, Out<double> out, unsigned tiles_of_filters) {
  PLUMB_DYNAMIC_SHARED(double, shared);
  __shared__ Tap taps[2][kDepth];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32, g = lane / 4, l = lane % 4;
  const int wm = warp / 2 * 16 * kOfM, wn = warp % 2 * 8 * kOfN;
  const Index first_filter = static_cast<Index>(blockIdx.x % tiles_of_filters) * kFilters,
              first_output = static_cast<Index>(blockIdx.x / tiles_of_filters) * kOutputs;
  const int tiles = static_cast<int>(ceil_div(in.F.cols, kDepth));
  const Window<double> window(p, in, out, first_output + t);
  const int row = t / kDepth, terms = static_cast<int>(in.F.cols),
            filters = static_cast<int>(p.k - first_filter);
  const double* filter = in.F.data + (first_filter + row) * in.F.ld + t % kDepth;
  TapWalk<double> walk(p, t < kDepth ? t : 0, kDepth);
  const auto prepare_taps = [&](int tile) {
    if (t < kDepth) taps[tile % 2][t] = walk.next(p, in.X.ld);
  };
  const auto copy = [&](int tile) {
    if (tile < tiles) {
      double* const f = shared + tile % kStages * kStage;
      double* const x = f + kStageF;
      const bool within = tile * kDepth + t % kDepth < terms;
#pragma unroll
      for (int i = 0; i < kFilters; i += kThreads / kDepth) {
        const bool has = within && row + i < filters;
        cp_async_zfill<8>(f + (row + i) * kPitchF + t % kDepth, has ? filter + i * in.F.ld : in.F.data,
                          has ? 8 : 0);
      }
      filter += kDepth;
      copy_window<kDepth>(p, window, in.X.data, taps[tile % 2], x + t, kPitchX);
    }
    cp_async_commit();
  };

  double sum[kOfM][kOfN][4] = {};
  for (int tile = 0; tile < kStages - 1; ++tile) {  // taps of a tile take the place of those two before it
    prepare_taps(tile);
    __syncthreads();
    copy(tile);
  }
  prepare_taps(kStages - 1);
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    copy(tile + kStages -
         1);  // into the stage, and by the taps, that all have left or made before the barrier
    prepare_taps(tile + kStages);
#if PLUMB_SM_AT_LEAST(90)
    const double* const f = shared + tile % kStages * kStage;
    const double* const x = f + kStageF;
#pragma unroll
    for (int kk = 0; kk < kDepth; kk += 8) {
      double a[kOfM][4], b[kOfN][2];
#pragma unroll
      for (int m = 0; m < kOfM; ++m) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const Pair some =
              *reinterpret_cast<const Pair*>(f + (wm + 16 * m + 8 * h + g) * kPitchF + kk + 2 * l);
          a[m][h] = some.x, a[m][h + 2] = some.y;
        }
      }
#pragma unroll
      for (int n = 0; n < kOfN; ++n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) b[n][h] = x[(kk + 2 * l + h) * kPitchX + wn + 8 * n + g];
      }
#pragma unroll
      for (int m = 0; m < kOfM; ++m) {
#pragma unroll
        for (int n = 0; n < kOfN; ++n) mma_m16n8k8_f64(sum[m][n], a[m], b[n]);
      }
    }
#endif
  }

  // element e of a tile of 16 x 8 is at row g + e / 2 * 8, column 2 l + e % 2
  const Index outputs = p.n * out.Y.cols;
#pragma unroll
  for (int n = 0; n < kOfN; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const Index output = first_output + wn + 8 * n + 2 * l + e;
      if (output >= outputs) continue;
      const Index image = output / out.Y.cols, at = output - image * out.Y.cols;
#pragma unroll
      for (int m = 0; m < 2 * kOfM; ++m) {
        const Index filter = first_filter + wm + 8 * m + g;
        if (filter < p.k) out.Y(image * p.k + filter, at) = sum[m / 2][n][m % 2 * 2 + e];
      }
    }
  }
}

void run(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  const Index of_filters = ceil_div(p.k, kFilters);
  launch(conv2d_fp64_tensor, of_filters * ceil_div(p.n * out.Y.cols, kOutputs), kThreads, kShared,
         context.stream, p, in, out, static_cast<unsigned>(of_filters));
}

const Register<Conv2d, double, Space::device> f64{"07_fp64_tensor", run, Traits{}.needs_sm(90),
                                                  supports_gemm<double>};

}  // namespace
}  // namespace plumb
