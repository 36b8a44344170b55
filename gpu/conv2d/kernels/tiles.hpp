// Filters by windows as a product of matrices that is never stored, by asynchronous copies in stages: the kernel of rungs 6 to 9. A block
// makes a tile of filters by outputs, or a part of its sums. Header only.
#pragma once
#include "gpu/common/join_parts.hpp"
#include "gpu/common/store_vector.hpp"
#include "gpu/common/sum_registers.hpp"
#include "gpu/conv2d/kernels/implicit_gemm.hpp"
#include "gpu/gemm/kernels/tensor_tile.hpp"

namespace plumb {
namespace conv2d {

/// A block's shape: WM x WN warps, TM x TN sums per lane, BK terms deep, kBlocks of them on a multiprocessor. Filters lie turned.
template <class T_, int WM_, int WN_, int TM_, int TN_, int Blocks_>
struct Shape {
  using T = T_;
  static constexpr int WM = WM_, WN = WN_, TM = TM_, TN = TN_, BM = WM * 4 * TM, BN = WN * 8 * TN, BK = 16,
                       kBlocks = Blocks_, kStages = 4;
  static constexpr int kThreads = 32 * WM * WN, kPitchF = BM + 4, kPitchX = BN + 4, kOwn = TM * TN;
  static constexpr int kStageF = BK * kPitchF, kStage = kStageF + BK * kPitchX;
  static PLUMB_DEVICE int place_of_filter(int filter, int term) { return term * kPitchF + filter; }
};

/// The same on tensor cores, in fp64: OfM x OfN tiles of 16 x 8 of a warp. Filters keep their rows.
/// Every element of a fragment is loaded by itself, into its register, as in gemm's tensor tiles.
template <int WM_, int WN_, int OfM_, int OfN_, int Blocks_>
struct TensorShape {
  using T = double;
  static constexpr int WM = WM_, WN = WN_, MT = OfM_, NT = OfN_, BM = WM * 16 * MT, BN = WN * 8 * NT, BK = 16,
                       kBlocks = Blocks_, kStages = 3;
  static constexpr int kThreads = 32 * WM * WN, kOwn = MT * NT * 4;
  static constexpr int kPitchF = BK + 4, kPitchX = BN + 4;  // lanes of a load in different banks
  static constexpr int kStageF = BM * kPitchF, kStage = kStageF + BK * kPitchX;
  static PLUMB_DEVICE int place_of_filter(int filter, int term) { return filter * kPitchF + term; }
};

template <class S>
constexpr std::size_t kSharedOf = sizeof(typename S::T) * S::kStages* S::kStage;

/// How far apart the filters' rows of a tile of sums lie in shared memory: as gemm's tiles of sums.
template <class S>
constexpr int kSumsPitch = S::BN + (sizeof(typename S::T) == 8 ? 8 : 4);

/// The sums of a thread.
template <class S>
struct Sums {
  using T = typename S::T;
  using Lane = gemm::LaneTile<T, S::TM, S::TN>;
  T sum[S::TM][S::TN] = {};

  PLUMB_DEVICE T& operator[](int e) { return sum[e / S::TN][e % S::TN]; }
  PLUMB_DEVICE void multiply(const T* f, const T* x) {
    const gemm::LanePlace place = gemm::lane_place();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    f += warp / S::WN * Lane::kRows, x += warp % S::WN * Lane::kCols;
#pragma unroll
    for (int kk = 0; kk < S::BK; ++kk) {
      T of_f[S::TM], of_x[S::TN];
      Lane::load(of_f, of_x, f + kk * S::kPitchF, x + kk * S::kPitchX, place);
      Lane::multiply_add(sum, of_f, of_x);
    }
  }
  PLUMB_DEVICE void end_loop(Index terms) { into_other_registers(sum, terms); }
  PLUMB_DEVICE void store_vectors(const Problem<T>& p, const Out<T>& out, Index filter0,
                                  Index output0) const {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    store_sums(p, out, filter0 + warp / S::WN * Lane::kRows, output0 + warp % S::WN * Lane::kCols, sum,
               gemm::lane_place(), true);
  }
  PLUMB_DEVICE void put(T* tile /* (BM, kSumsPitch), shared */) const {
    gemm::put_lanes<S, kSumsPitch<S>>(tile, sum);
  }
};

template <int WM, int WN, int OfM, int OfN, int Blocks>
struct Sums<TensorShape<WM, WN, OfM, OfN, Blocks>> {
  using S = TensorShape<WM, WN, OfM, OfN, Blocks>;
  double sum[OfM][OfN][4] = {};

  PLUMB_DEVICE double& operator[](int e) { return sum[e / 4 / OfN][e / 4 % OfN][e % 4]; }
  PLUMB_DEVICE void multiply(const double* f, const double* x) {
#if PLUMB_SM_AT_LEAST(90)
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, l = lane % 4,
              warp = static_cast<int>(threadIdx.x) / 32;
    f += warp / WN * 16 * OfM * S::kPitchF, x += warp % WN * 8 * OfN;
#pragma unroll
    for (int kk = 0; kk < S::BK; kk += 8) {
      double a[OfM][4], b[OfN][2];
#pragma unroll
      for (int m = 0; m < OfM; ++m) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          a[m][e] = f[(16 * m + 8 * (e % 2) + g) * S::kPitchF + kk + 4 * (e / 2) + l];
      }
#pragma unroll
      for (int n = 0; n < OfN; ++n) {
#pragma unroll
        for (int h = 0; h < 2; ++h) b[n][h] = x[(kk + 4 * h + l) * S::kPitchX + 8 * n + g];
      }
#pragma unroll
      for (int m = 0; m < OfM; ++m) {
#pragma unroll
        for (int n = 0; n < OfN; ++n) mma_m16n8k8_f64(sum[m][n], a[m], b[n]);
      }
    }
#endif
  }
  PLUMB_DEVICE void end_loop(Index) {}
  PLUMB_DEVICE void store_vectors(const Problem<double>& p, const Out<double>& out, Index filter0,
                                  Index output0) const {
    const gemm::TensorPlace<S> place;
    const Index outputs = p.n * out.Y.cols;
#pragma unroll
    for (int n = 0; n < OfN; ++n) {
      const Index output = output0 + place.col(n);
      if (output >= outputs) continue;
      const Index image = output / out.Y.cols, at = output - image * out.Y.cols;
#pragma unroll
      for (int m = 0; m < 2 * OfM; ++m) {
        const Index filter = filter0 + place.row(m / 2, m % 2);
        if (filter < p.k) store_vector<2>(&out.Y(image * p.k + filter, at), &sum[m / 2][n][m % 2 * 2]);
      }
    }
  }
  PLUMB_DEVICE void put(double* tile /* (BM, kSumsPitch), shared */) const {
    gemm::put_tile<S, kSumsPitch<S>>(tile, sum);
  }
};

/// Writes a tile's sums, from `tile` in shared memory, filter by filter, neighbouring outputs by neighbouring lanes, whatever bounds planes lie
/// on: where lanes store their own elements, each sector is written several times.
template <class S, class T>
PLUMB_DEVICE void write_outputs(const Problem<T>& p, const Out<T>& out, Index filter0, Index output0,
                                const T* tile /* (BM, kSumsPitch), shared */) {
  static_assert(S::kThreads % S::BN == 0, "a thread stays with its output");
  constexpr int kStep = S::kThreads / S::BN;
  const int column = static_cast<int>(threadIdx.x) % S::BN, first = static_cast<int>(threadIdx.x) / S::BN;
  const Index output = output0 + column, image = output / out.Y.cols;
  if (image >= p.n) return;
  T* to = &out.Y(image * p.k + filter0 + first, output - image * out.Y.cols);
  const Index left = p.k - filter0 - first;  // filters
#pragma unroll 8
  for (int r = 0; r < S::BM; r += kStep, to += kStep * out.Y.ld) {
    if (r < left) *to = tile[(first + r) * kSumsPitch<S> + column];
  }
}

/// The calling thread's copies of windows: the column of one output, kOf terms of each tile. Taps of a tile are made two tiles ahead.
template <class S>
struct GatheredWindows {
  using T = typename S::T;
  static constexpr int kOf = S::BN * S::BK / S::kThreads;
  static_assert(S::kThreads % S::BN == 0, "threads fill the tile");
  const Problem<T>& p;
  const In<T>& in;
  Tap (&taps)[2][S::BK];
  Window<T> window;
  TapWalk<T> walk;

  PLUMB_DEVICE GatheredWindows(const Problem<T>& p_, const In<T>& in_, const Out<T>& out,
                               Tap (&shared)[2][S::BK], Index first_output, int first_term)
      : p(p_),
        in(in_),
        taps(shared),
        window(p_, in_, out, first_output + static_cast<int>(threadIdx.x) % S::BN),
        walk(p_, first_term + (threadIdx.x < S::BK ? static_cast<int>(threadIdx.x) : 0), S::BK) {}
  PLUMB_DEVICE void prepare(int tile) {
    if (threadIdx.x < S::BK) taps[tile % 2][threadIdx.x] = walk.next(p, in.X.ld);
  }
  PLUMB_DEVICE void copy(int tile, T* x) {
    const int column = static_cast<int>(threadIdx.x) % S::BN,
              term = static_cast<int>(threadIdx.x) / S::BN * kOf;
    copy_window<kOf>(p, window, in.X.data, &taps[tile % 2][term], x + term * S::kPitchX + column, S::kPitchX);
  }
};

/// The same where a filter is one pixel and takes every one: an image is the matrix of its windows, and neighbouring outputs are copied
/// together, 16 bytes.
template <class S>
struct ImagesAsMatrices {
  using T = typename S::T;
  static constexpr int kV = gemm::Vector<T>::kLanes, kAcross = S::BN / kV, kStep = S::kThreads / kAcross;
  static_assert(S::kThreads % kAcross == 0 && S::BK % kStep == 0, "threads fill the tile");
  Index ld;
  int row, column, left;  // left: channels from this thread's row on
  const T* anywhere;
  const T* from;

  PLUMB_DEVICE ImagesAsMatrices(const Problem<T>& p, const In<T>& in, const Out<T>& out, Tap (&)[2][S::BK],
                                Index first_output, int first_term)
      : ld(in.X.ld),
        row(static_cast<int>(threadIdx.x) / kAcross),
        column(static_cast<int>(threadIdx.x) % kAcross * kV),
        left(p.c - first_term - row),
        anywhere(in.X.data),
        from(in.X.data) {
    const Index output = first_output + column, image = output / out.Y.cols;
    if (image >= p.n) left = 0;
    if (left > 0) from += (image * p.c + first_term + row) * ld + output - image * out.Y.cols;
  }
  PLUMB_DEVICE void prepare(int) {}
  PLUMB_DEVICE void copy(int, T* x) {
#pragma unroll
    for (int i = 0; i < S::BK; i += kStep) {
      const bool has = i < left;
      cp_async16_zfill(x + (row + i) * S::kPitchX + column, has ? from + i * ld : anywhere, has ? 16 : 0);
    }
    from += S::BK * ld, left -= S::BK;
  }
};

/// The parts of a tile's sums, where it has several.
template <class T>
struct PartsOfTiles {
  int parts;
  T* partial;          // (tiles, parts, BM * BN)
  unsigned* finished;  // (tiles); 0 between runs. Null: parts are left for add_left_parts
};

/// The problem whose outputs are the sums of one tile: filters by BN outputs of one image.
template <class S, class T>
PLUMB_DEVICE Problem<T> plane_of_tile(Problem<T> p) {
  p.n = 1, p.k = S::BM;
  return p;
}

/// Where a tile's sums go.
template <class S, class T>
struct PlaceInOutputs {
  Problem<T> p;
  Out<T> out;
  unsigned tiles_of_filters;
  PLUMB_DEVICE T* operator()(int tile, int e) const {
    const Index filter =
                    static_cast<Index>(static_cast<unsigned>(tile) % tiles_of_filters) * S::BM + e / S::BN,
                output =
                    static_cast<Index>(static_cast<unsigned>(tile) / tiles_of_filters) * S::BN + e % S::BN,
                image = output / out.Y.cols;
    if (filter >= p.k || image >= p.n) return nullptr;
    return &out.Y(image * p.k + filter, output - image * out.Y.cols);
  }
};

template <class S, template <class> class Windows, bool kParts, class T = typename S::T>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    conv2d_tiles(Problem<T> p, In<T> in, Out<T> out, unsigned tiles_of_filters, bool wide,
                 PartsOfTiles<T> of) {
  static_assert(S::BM * S::BK % S::kThreads == 0 && S::kThreads % S::BK == 0, "threads fill the tile");
  PLUMB_DYNAMIC_SHARED(T, shared);
  __shared__ Tap taps[2][S::BK];
  let_dependent_begin();
  const unsigned parts = kParts ? static_cast<unsigned>(of.parts) : 1, block = blockIdx.x / parts;
  const int part = static_cast<int>(blockIdx.x % parts);
  const int t = static_cast<int>(threadIdx.x);
  const Index first_filter = static_cast<Index>(block % tiles_of_filters) * S::BM,
              first_output = static_cast<Index>(block / tiles_of_filters) * S::BN;
  const Index all = ceil_div(in.F.cols, S::BK);
  const int begin = static_cast<int>(all * part / parts),
            tiles = static_cast<int>(all * (part + 1) / parts) - begin;

  constexpr int kRowStep = S::kThreads / S::BK, kOfF = S::BM * S::BK / S::kThreads;
  const int row = t / S::BK, terms = static_cast<int>(in.F.cols) - begin * S::BK,
            filters = static_cast<int>(p.k - first_filter);
  const T* filter = in.F.data + (first_filter + row) * in.F.ld + begin * S::BK + t % S::BK;
  Windows<S> windows(p, in, out, taps, first_output, begin * S::BK);
  const auto copy = [&](int tile) {
    if (tile < tiles) {
      T* const f = shared + tile % S::kStages * S::kStage;
      const bool within = tile * S::BK + t % S::BK < terms;
#pragma unroll
      for (int i = 0; i < kOfF; ++i) {
        const bool has = within && row + i * kRowStep < filters;
        cp_async_zfill<sizeof(T)>(f + S::place_of_filter(row + i * kRowStep, t % S::BK),
                                  has ? filter + i * kRowStep * in.F.ld : in.F.data,
                                  has ? static_cast<int>(sizeof(T)) : 0);
      }
      filter += S::BK;
      windows.copy(tile, f + S::kStageF);
    }
    cp_async_commit();
  };

  Sums<S> sums;
  for (int tile = 0; tile < S::kStages - 1; ++tile) {  // taps of a tile take the place of those two before it
    windows.prepare(tile);
    __syncthreads();
    copy(tile);
  }
  windows.prepare(S::kStages - 1);
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<S::kStages - 2>();
    __syncthreads();
    // into the stage, and by the taps, that all have left or made before the barrier
    copy(tile + S::kStages - 1);
    windows.prepare(tile + S::kStages);
    const T* const stage = shared + tile % S::kStages * S::kStage;
    sums.multiply(stage, stage + S::kStageF);
  }
  sums.end_loop(in.F.cols);
  if (kParts && of.parts > 1 && of.finished == nullptr) {  // a plane of outputs of its own
    T* const mine = of.partial + static_cast<Index>(blockIdx.x) * (S::BM * S::BN);
    return sums.store_vectors(plane_of_tile<S>(p), Out<T>{{mine, S::BM, S::BN, S::BN}}, 0, 0);
  }
  if (kParts && of.parts > 1) {
    T own[S::kOwn];
#pragma unroll
    for (int e = 0; e < S::kOwn; ++e) own[e] = sums[e];
    T* const of_tile = of.partial + static_cast<Index>(block) * of.parts * S::kThreads * S::kOwn;
    if (!join_parts<S::kThreads, gemm::Vector<T>>(own, of.parts, part, of_tile, of.finished + block)) return;
#pragma unroll
    for (int e = 0; e < S::kOwn; ++e) sums[e] = own[e];
  }
  if (wide) return sums.store_vectors(p, out, first_filter, first_output);
  static_assert(S::BM * kSumsPitch<S> <= S::kStages * S::kStage, "the tile fits in the stages");
  __syncthreads();  // all have left the stages
  sums.put(shared);
  __syncthreads();
  write_outputs<S>(p, out, first_filter, first_output, shared);
}

template <class S, class T>
Index tiles_of(const Problem<T>& p, const Out<T>& out) {
  return ceil_div(p.k, S::BM) * ceil_div(p.n * out.Y.cols, S::BN);
}

/// `finished`: prepare_counts() of all tiles and `parts`.
template <class S, template <class> class Windows, bool kParts = false, class T>
void run_tiles(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context, Index parts = 1,
               unsigned* finished = nullptr) {
  const Index tiles = tiles_of<S>(p, out), blocks = tiles * parts;
  const auto tiles_of_filters = static_cast<unsigned>(ceil_div(p.k, S::BM));
  T* const partial =
      parts > 1
          ? static_cast<T*>(context.workspace(blocks * S::kThreads * S::kOwn * static_cast<Index>(sizeof(T))))
          : nullptr;
  launch(conv2d_tiles<S, Windows, kParts>, blocks, S::kThreads, kSharedOf<S>, context.stream, p, in, out,
         tiles_of_filters, whole_vectors(out.Y), PartsOfTiles<T>{static_cast<int>(parts), partial, finished});
  if constexpr (kParts) {
    if (parts_are_left(parts))
      run_add_left_parts<S::BM * S::BN>(PlaceInOutputs<S, T>{p, out, tiles_of_filters}, partial, tiles, parts,
                                        context);
  }
}

/// The tiles in use. In fp64: on tensor cores, but for those of rung 6.
template <class T>
struct Shapes;
template <>
struct Shapes<float> {
  using Large = Shape<float, 4, 2, 8, 8, 2>;   // 128 x 128
  using Middle = Shape<float, 2, 4, 8, 4, 2>;  // 64 x 128
  using Small = Shape<float, 2, 2, 8, 4, 4>;   // 64 x 64
  using Half = Shape<float, 1, 4, 8, 4, 4>;    // 32 x 128
  using Thin = Shape<float, 1, 4, 4, 4, 4>;    // 16 x 128
};
template <>
struct Shapes<double> {
  using Middle = TensorShape<2, 2, 2, 8, 2>;  // 64 x 128
  using Small = TensorShape<2, 2, 2, 4, 3>;   // 64 x 64
  using Half = TensorShape<2, 2, 1, 4, 4>;    // 32 x 64
  using Thin = TensorShape<1, 4, 1, 2, 4>;    // 16 x 64
};

/// How the sums of all tiles are divided: the parts of least time, by what a step of a block takes where it is alone, the blocks of a
/// multiprocessor that share its arithmetic, and what it takes to leave a part and to add the others'.
template <class S, class T>
Index parts_of(Index tiles, Index terms) {
  constexpr Index kMost = 64;
  constexpr double kRate =
      sizeof(T) == 4 ? 240e3 : 220e3;  // multiply-adds of a multiprocessor in a microsecond
  constexpr double kStepUs = S::BM * S::BN * S::BK / kRate, kLeastStepUs = 0.15, kHandOverUs = 2,
                   kAddUs = 9e-6 * S::BM * S::BN * sizeof(T);
  const Index steps = ceil_div(terms, S::BK), many = device_multiprocessors();
  Index best = 1;
  double least = 0;
  for (Index parts = 1; parts <= kMost && (parts == 1 || 2 * parts <= steps); ++parts) {
    const double busy = kStepUs * static_cast<double>(ceil_div(tiles * parts, many)),
                 together = static_cast<double>(ceil_div(ceil_div(tiles * parts, many), S::kBlocks)),
                 step = busy > kLeastStepUs * together ? busy : kLeastStepUs * together,
                 time = static_cast<double>(ceil_div(steps, parts)) * step +
                        (parts > 1 ? kHandOverUs + kAddUs * static_cast<double>(additions_of(parts)) : 0);
    if (parts == 1 || time < least) least = time, best = parts;
  }
  return best;
}

/// The parts of a tile's sums, and prepare_counts() of all tiles: what a rung keeps that divides them.
struct TilesInParts {
  Index parts;
  unsigned* finished;
};
template <class S, class T>
void* keep_tiles_in_parts(Index tiles, const In<T>& in, Context& context) {
  const Index parts = parts_of<S, T>(tiles, in.F.cols);
  return new TilesInParts{parts, prepare_counts(tiles, parts, context)};
}
inline void release_tiles_in_parts(void* plan) { delete static_cast<TilesInParts*>(plan); }

}  // namespace conv2d
}  // namespace plumb
