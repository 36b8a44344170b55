// conv2d, rung 5: Winograd's minimal filtering F(2x2, 3x3), fused (declared winograd).
//
// Change    16 products per channel for four outputs in place of 36. Filters are transformed by a first
//           kernel into workspace; a block takes 32 tiles of inputs, transforms them on their way into shared
//           memory, and makes 16 products of matrices over the channels, one per place of a transformed tile,
//           two by each warp. Sums are exchanged in shared memory at the end, where tiles are transformed back:
//           neither transformed inputs nor products pass through global memory. A block takes 64 filters, or
//           32 where that leaves fewer multiprocessors idle.
// Traffic   X is read k / 64 or k / 32 times, each pixel about four times from the first-level cache;
//           transformed filters, 16 / 9 of F, once per block from the second level.
// Limits    The loop over the channels of a stage is unrolled twice: unrolled wholly, 32 filters spill.
// Fails at  anything but 3 x 3 with stride and dilation 1: unsupported. NaN and infinities spread over the
//           four outputs of a tile, so it declares itself for finite inputs; its bound is the contract's for
//           winograd. Few blocks: 14 x 14 of four images are seven groups of tiles.
// Source    Lavin and Gray, CVPR 2016; D. Yan, W. Wang and X. Chu, "Optimizing batched Winograd convolution
//           on GPUs", PPoPP 2020 (64 filters x 32 tiles x 8 channels by 256 threads).
#include "gpu/conv2d/common.hpp"
#include "gpu/gemm/kernels/warp_tile.hpp"
#include "reference/arithmetic/winograd.hpp"

namespace plumb {
namespace {

using namespace conv2d;

/// A block's shape. Lanes of a warp lie 4 x 8 over 32 tiles and kFilters filters, 8 x TN sums each, for two
/// places.
template <class T, int TN_>
struct Shape {
  static constexpr int TM = 8, TN = TN_, kTiles = 4 * TM, kFilters = 8 * TN, kChannels = 8;
  /// Blocks per multiprocessor that registers must leave room for.
  static constexpr int kBlocks = sizeof(T) == 4 && TN == 4 ? 2 : 1;
  static constexpr int kThreads = kTiles * kChannels, kPlaces = 16;
  static constexpr int kStageF = kPlaces * kChannels * kFilters,
                       kStage = kStageF + kPlaces * kChannels * kTiles;
  // the exchange of sums: kTogether of a lane's columns of filters at once
  static constexpr int kTogether = 2, kPitch = kTiles + 2 * gemm::Vector<T>::kLanes;
  static constexpr int kExchange = kPlaces * kTogether * 8 * kPitch;
  static constexpr std::size_t kShared = sizeof(T) * (2 * kStage > kExchange ? 2 * kStage : kExchange);
  static_assert(kThreads == 32 * kPlaces / 2 && TN % kTogether == 0, "a warp for every two places");
};

template <class T>
Index tiles_of(const Problem<T>& p) {
  return p.n * ceil_div(p.oh, 2) * ceil_div(p.ow, 2);
}

/// Where a tile of outputs begins.
struct Corner {
  Index image;  // n: past the last tile
  int y, x;
};
template <class T>
PLUMB_DEVICE Corner corner_of(const Problem<T>& p, Index tile) {
  const Index across = (p.ow + 1) / 2, of_image = across * ((p.oh + 1) / 2);
  const Index image = tile / of_image;
  const int within = static_cast<int>(tile - image * of_image), columns = static_cast<int>(across);
  return {image < p.n ? image : p.n, within / columns * 2, within % columns * 2};
}

/// u (16, channels, filters), transformed; zeros past the last channel and filter.
template <class T>
__global__ void __launch_bounds__(256)
    conv2d_winograd_filters(Problem<T> p, In<T> in, T* u, int channels, int filters) {
  const Index at = static_cast<Index>(blockIdx.x) * 256 + threadIdx.x;
  const Index step = static_cast<Index>(channels) * filters;
  if (at >= step) return;
  const Index ch = at / filters, f = at % filters;
  T g[9];
#pragma unroll
  for (int e = 0; e < 9; ++e) g[e] = f < p.k && ch < p.c ? in.F(f, ch * 9 + e) : T(0);
  winograd_filter(g, u + at, step);
}

template <class T, class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    conv2d_winograd(Problem<T> p, In<T> in, Out<T> out, const T* u /* (16, channels, filters) */,
                    int channels, int filters, bool wide) {
  using Lane = gemm::LaneTile<T, S::TM, S::TN>;
  using Vector = gemm::Vector<T>;
  constexpr int kV = Vector::kLanes;
  PLUMB_DYNAMIC_SHARED(T, shared);
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, tile = t % S::kTiles, own = t / S::kTiles;
  const unsigned groups = static_cast<unsigned>(filters / S::kFilters);
  const int first_filter = static_cast<int>(blockIdx.x % groups) * S::kFilters;

  // the tile whose inputs this thread transforms, one channel of a stage, and whose outputs it stores; kept
  // in shared memory between the two, where it costs no registers
  __shared__ Corner corners[S::kTiles];
  unsigned inside = 0;  // a bit for each of the tile's 16 pixels
  const T* corner;
  {
    const Corner c = corner_of(p, static_cast<Index>(blockIdx.x / groups) * S::kTiles + tile);
    if (own == 0) corners[tile] = c;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      inside |= c.image < p.n && has_pixel(p, c.y - p.pad_h + e / 4, c.x - p.pad_w + e % 4) ? 1u << e : 0u;
    corner =
        in.X.data + (c.image * p.c + own) * in.X.ld + static_cast<Index>(c.y - p.pad_h) * p.w + c.x - p.pad_w;
  }
  T d[4][4];
  const auto fetch_pixels = [&](int ch) {
    const unsigned some = ch + own < p.c ? inside : 0;
#pragma unroll
    for (int e = 0; e < 16; ++e)
      d[e / 4][e % 4] = some >> e & 1 ? corner[static_cast<Index>(e / 4) * p.w + e % 4] : T(0);
    corner += S::kChannels * in.X.ld;
  };
  const auto put_pixels = [&](T* stage) {
    winograd_input(d, stage + S::kStageF + own * S::kTiles + tile, S::kChannels * S::kTiles);
  };
  // the vector of a stage's first places that this thread copies; the next ones are kRows rows on
  constexpr int kPerRow = S::kFilters / kV, kRows = S::kThreads / kPerRow;
  static_assert(kRows % S::kChannels == 0, "threads copy whole places");
  const T* filter =
      u + (static_cast<Index>(t / kPerRow / S::kChannels) * channels + t / kPerRow % S::kChannels) * filters +
      first_filter + t % kPerRow * kV;
  const auto copy_filters = [&](T* stage) {
#pragma unroll
    for (int i = 0; i < S::kPlaces * S::kChannels / kRows; ++i)
      cp_async16(stage + (i * S::kThreads + t) * kV,
                 filter + static_cast<Index>(i * (kRows / S::kChannels)) * channels * filters);
    filter += static_cast<Index>(S::kChannels) * filters;
    cp_async_commit();
  };

  T sum[2][S::TM][S::TN] = {};
  const gemm::LanePlace place = gemm::lane_place();
  if (channels > 0) {
    copy_filters(shared);
    fetch_pixels(0);
    put_pixels(shared);
    cp_async_wait_all();
    __syncthreads();
  }
  for (int ch = 0; ch < channels; ch += S::kChannels) {
    const T* const stage = shared + ch / S::kChannels % 2 * S::kStage;
    T* const other = shared + (ch / S::kChannels + 1) % 2 * S::kStage;
    const bool more = ch + S::kChannels < channels;
    if (more) {
      copy_filters(other);
      fetch_pixels(ch + S::kChannels);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const T* const f = stage + (2 * warp + half) * S::kChannels * S::kFilters;
      const T* const v = stage + S::kStageF + (2 * warp + half) * S::kChannels * S::kTiles;
#pragma unroll 2
      for (int kk = 0; kk < S::kChannels; ++kk) {
        T a[S::TM], b[S::TN];
        Lane::load(a, b, v + kk * S::kTiles, f + kk * S::kFilters, place);
        Lane::multiply_add(sum[half], a, b);
      }
    }
    if (more) put_pixels(other);
    cp_async_wait_all();
    __syncthreads();
  }

  // a lane's column c is filter c / kV * 8 kV + place.col * kV + c % kV; its row r tile r / kV * 4 kV +
  // place.row kV + r % kV
#pragma unroll
  for (int c0 = 0; c0 < S::TN; c0 += S::kTogether) {
    if (c0 > 0) __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int c = 0; c < S::kTogether; ++c) {
        T* const row = shared + (((2 * warp + half) * S::kTogether + c) * 8 + place.col) * S::kPitch;
#pragma unroll
        for (int r = 0; r < S::TM; r += kV) {
          Vector some;
#pragma unroll
          for (int l = 0; l < kV; ++l) some.lane[l] = sum[half][r + l][c0 + c];
          *reinterpret_cast<Vector*>(row + r * 4 + place.row * kV) = some;
        }
      }
    }
    __syncthreads();
    const Corner at_tile = corners[tile];
#pragma unroll
    for (int c = 0; c < S::kTogether; ++c) {
      const int filter =
          first_filter + (c0 + c) / kV * 8 * kV + own * kV + (c0 + c) % kV;  // own: a column of lanes
      if (at_tile.image >= p.n || filter >= p.k) continue;
      T made[2][2];
      winograd_output(shared + (c * 8 + own) * S::kPitch + tile, S::kTogether * 8 * S::kPitch, made);
      T* const to = &out.Y(at_tile.image * p.k + filter, static_cast<Index>(at_tile.y) * p.ow + at_tile.x);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (at_tile.y + i >= p.oh) continue;
        T* const at = to + static_cast<Index>(i) * p.ow;
        if (wide) {
          store_vector<2>(at, made[i]);
        } else {
          at[0] = made[i][0];
          if (at_tile.x + 1 < p.ow) at[1] = made[i][1];
        }
      }
    }
  }
}

template <class T>
const char* supports(const Problem<T>& p, const In<T>&, const Out<T>& out) {
  if (!winograd_applies(p)) return "F(2x2, 3x3) takes 3 x 3 filters with stride and dilation 1";
  return out.Y.cols <= 0x7fffff00 ? nullptr : "counts the outputs of a plane in 32 bits";
}

template <class T, class S>
void run_shape(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const int channels = static_cast<int>(ceil_div(p.c, S::kChannels)) * S::kChannels,
            filters = static_cast<int>(ceil_div(p.k, S::kFilters)) * S::kFilters;
  const Index step = static_cast<Index>(channels) * filters;
  T* u = static_cast<T*>(context.workspace(16 * step * static_cast<Index>(sizeof(T))));
  launch(conv2d_winograd_filters<T>, ceil_div(step, 256), 256, 0, context.stream, p, in, u, channels,
         filters);
  const bool wide = p.ow % 2 == 0 && out.Y.ld % 2 == 0 &&
                    reinterpret_cast<std::uintptr_t>(out.Y.data) % (2 * sizeof(T)) == 0;
  launch(conv2d_winograd<T, S>, ceil_div(tiles_of(p), S::kTiles) * (filters / S::kFilters), S::kThreads,
         S::kShared, context.stream, p, in, out, static_cast<const T*>(u), channels, filters, wide);
}

/// What a block of 32 filters takes of the time of one of 64: half the products, and as many inputs to
/// transform.
constexpr double kHalf = 0.58;

void choose(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  const Index groups = ceil_div(tiles_of(p), 32), at_once = device_multiprocessors();
  const double wide = static_cast<double>(ceil_div(groups * ceil_div(p.k, 64), at_once)),
               narrow = kHalf * static_cast<double>(ceil_div(groups * ceil_div(p.k, 32), at_once));
  if (wide < narrow) {
    context.explain("64 filters by a block: fewest rounds for their size");
    run_shape<float, Shape<float, 8>>(p, in, out, context);
  } else {
    context.explain("32 filters by a block: larger ones leave multiprocessors idle");
    run_shape<float, Shape<float, 4>>(p, in, out, context);
  }
}
void choose(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  run_shape<double, Shape<double, 4>>(p, in, out, context);  // sums of 64 filters would take all registers
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  choose(p, in, out, context);
}

constexpr Traits kTraits = Traits{}.computes_in(Arithmetic::winograd).for_finite_inputs().needs_sm(80);
PLUMB_REGISTER_WITH(Conv2d, "05_winograd", (run<T>, kTraits, supports<T>), float, double);

}  // namespace
}  // namespace plumb
