// conv2d, rung 6: rung 4 with asynchronous copies in stages, and the tile chosen by the problem.
//
// Change    elements are gathered by cp.async straight into shared memory, zeros where a window is in the
//           padding: a copy in flight holds no register, three tiles are in flight at once, and one barrier
//           per tile remains. Filters take 128 x 128 tiles where there are enough of them, 64 x 64 where
//           larger ones leave multiprocessors idle (gemm's rung 12).
// Traffic   that of rung 4.
// Limits    fp32 / fp64: 110 to 128 / 158 to 166 registers, 512 bytes of static shared memory, no spills
//           (sm_90, nvcc 13.0, ptxas -v). The three shapes in fp32: 66, 50 and 34 KiB of shared memory, 2
//           blocks of 256, 2 of 256 and 4 of 128 threads per SM; in fp64: 100, 68 and 52 KiB, 1, 2 and 4
//           blocks of 256, 128 and 64. H200, the case of rung 1: 66 us (fp64 108 us), 28 TFLOP/s; 7 x 7 of 3
//           channels: 75 us; 1 x 1, 64 to 256 channels: 32 us. It was 105 us in a form that read each place
//           between two copies (a copy holds back the loads behind it), divided for each term, and gave a
//           tile half the warps; which of the three cost most was not measured.
// Fails at  addresses, as rung 4: a copy of one element at a time. C of a few tiles and long sums, as 7 x 7 x
//           512: only splitting the sum over blocks would help.
// Source    A. Kerr et al., CUTLASS, "Implicit GEMM convolution"; PTX ISA, "cp.async".
#include "gpu/conv2d/implicit_gemm.hpp"
#include "gpu/gemm/multistage.hpp"

namespace plumb {
namespace {

using namespace conv2d;

/// A block's shape: WM x WN warps, TM x TN sums per lane, BK terms deep, kBlocks of them on a multiprocessor.
template <class T, int WM_, int WN_, int TM_, int TN_, int Blocks_>
struct Shape {
  static constexpr int WM = WM_, WN = WN_, TM = TM_, TN = TN_, BM = WM * 4 * TM, BN = WN * 8 * TN, BK = 16,
                       kBlocks = Blocks_, kStages = 4;
  static constexpr int kThreads = 32 * WM * WN, kPitchF = BM + 4, kPitchX = BN + 4;
  static constexpr int kOfF = BM * BK / kThreads, kOfX = BN * BK / kThreads;  // elements copied by a thread
  static constexpr int kStageF = BK * kPitchF, kStage = kStageF + BK * kPitchX;
  static constexpr std::size_t kShared = sizeof(T) * kStages * kStage;
  static_assert(kThreads % BN == 0, "threads fill the tiles");
};

template <class T, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    conv2d_gemm_async(Problem<T> p, In<T> in, Out<T> out, unsigned tiles_of_filters, bool wide) {
  using Lane = gemm::LaneTile<T, S::TM, S::TN>;
  PLUMB_DYNAMIC_SHARED(T, shared);
  __shared__ Tap taps[2][S::BK];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const int wm = warp / S::WN * Lane::kRows, wn = warp % S::WN * Lane::kCols;
  const gemm::LanePlace place = gemm::lane_place();
  const Index first_filter = static_cast<Index>(blockIdx.x % tiles_of_filters) * S::BM,
              first_output = static_cast<Index>(blockIdx.x / tiles_of_filters) * S::BN;
  const int tiles = static_cast<int>(ceil_div(in.F.cols, S::BK));

  constexpr int kRowStep = S::kThreads / S::BK;
  const int column = t % S::BN, term = t / S::BN * S::kOfX;
  const Window<T> window(p, in, out, first_output + column);
  const int row = t / S::BK, terms = static_cast<int>(in.F.cols),
            filters = static_cast<int>(p.k - first_filter);
  const T* filter = in.F.data + (first_filter + row) * in.F.ld + t % S::BK;
  TapWalk<T> walk(p, t < S::BK ? t : 0, S::BK);
  const auto prepare_taps = [&](int tile) {
    if (t < S::BK) taps[tile % 2][t] = walk.next(p, in.X.ld);
  };
  const auto copy = [&](int tile) {
    if (tile < tiles) {
      T* const f = shared + tile % S::kStages * S::kStage;
      T* const x = f + S::kStageF;
      const bool within = tile * S::BK + t % S::BK < terms;
#pragma unroll
      for (int i = 0; i < S::kOfF; ++i) {
        const bool has = within && row + i * kRowStep < filters;
        cp_async_zfill<sizeof(T)>(f + t % S::BK * S::kPitchF + row + i * kRowStep,
                                  has ? filter + i * kRowStep * in.F.ld : in.F.data,
                                  has ? static_cast<int>(sizeof(T)) : 0);
      }
      filter += S::BK;
      copy_window<S::kOfX>(p, window, in.X.data, &taps[tile % 2][term], x + term * S::kPitchX + column,
                           S::kPitchX);
    }
    cp_async_commit();
  };

  T sum[S::TM][S::TN] = {};
  for (int tile = 0; tile < S::kStages - 1; ++tile) {  // taps of a tile take the place of those two before it
    prepare_taps(tile);
    __syncthreads();
    copy(tile);
  }
  prepare_taps(S::kStages - 1);
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<S::kStages - 2>();
    __syncthreads();
    copy(tile + S::kStages -
         1);  // into the stage, and by the taps, that all have left or made before the barrier
    prepare_taps(tile + S::kStages);
    const T* const stage = shared + tile % S::kStages * S::kStage;
#pragma unroll
    for (int kk = 0; kk < S::BK; ++kk) {
      T f[S::TM], x[S::TN];
      Lane::load(f, x, stage + kk * S::kPitchF + wm, stage + S::kStageF + kk * S::kPitchX + wn, place);
      Lane::multiply_add(sum, f, x);
    }
  }
  store_sums(p, out, first_filter + wm, first_output + wn, sum, place, wide);
}

template <class T, class S>
void run_shape(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index of_filters = ceil_div(p.k, S::BM);
  launch(conv2d_gemm_async<T, S>, of_filters * ceil_div(p.n * out.Y.cols, S::BN), S::kThreads, S::kShared,
         context.stream, p, in, out, static_cast<unsigned>(of_filters), planes_on_vectors<T>(out));
}

template <class T>
struct Shapes;
template <>
struct Shapes<float> {
  using Large = Shape<float, 4, 2, 8, 8, 2>;   // 128 x 128
  using Middle = Shape<float, 2, 4, 8, 4, 2>;  // 64 x 128
  using Small = Shape<float, 2, 2, 8, 4, 4>;   // 64 x 64
};
template <>
struct Shapes<double> {
  using Large = Shape<double, 4, 2, 8, 4, 1>;   // 128 x 64
  using Middle = Shape<double, 2, 2, 8, 4, 2>;  // 64 x 64
  using Small = Shape<double, 2, 1, 8, 4, 4>;   // 64 x 32
};

/// Share of the arithmetic rate that a smaller tile reaches: less reuse of what is gathered.
constexpr double kEfficiencyMiddle = 0.95, kEfficiencySmall = 0.85;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index outputs = p.n * out.Y.cols;
  using Large = typename Shapes<T>::Large;
  using Middle = typename Shapes<T>::Middle;
  using Small = typename Shapes<T>::Small;
  const double large = gemm::tile_cost(p.k, outputs, Large::BM, Large::BN, 1),
               middle = gemm::tile_cost(p.k, outputs, Middle::BM, Middle::BN, kEfficiencyMiddle),
               small = gemm::tile_cost(p.k, outputs, Small::BM, Small::BN, kEfficiencySmall);
  if (large <= middle && large <= small) {
    context.explain("128 filters by a tile: fewest rounds for their size");
    run_shape<T, Large>(p, in, out, context);
  } else if (middle <= small) {
    context.explain("64 filters by a wide tile: fewest rounds for their size");
    run_shape<T, Middle>(p, in, out, context);
  } else {
    context.explain("64 filters by a narrow tile: larger ones leave multiprocessors idle");
    run_shape<T, Small>(p, in, out, context);
  }
}

constexpr Traits kTraits = Traits{}.needs_sm(80);
const Register<Conv2d, float, Space::device> f32{"06_gemm_async", run<float>, kTraits, supports_gemm<float>};
const Register<Conv2d, double, Space::device> f64{"06_gemm_async", run<double>, kTraits,
                                                  supports_gemm<double>};

}  // namespace
}  // namespace plumb
