// Planted faults of conv2d's kernels: a right kernel of 8 x 8 tiles with their halo in shared memory and one
// of Winograd's tiles, and each fault a thing changed in them.
#include "gpu/device/kernel.hpp"
#include "reference/arithmetic/winograd.hpp"
#include "reference/ops/conv2d.hpp"
#include "verify/mutants/device/device_mutant.hpp"

namespace plumb {
namespace {

PLUMB_DEVICE_FAULTS_OF(Conv2d);

constexpr int kTile = 8;

enum class Fault {
  halo_off_by_one,
  padding_not_written,
  padding_wraps,
  stride_down_ignored,
  filter_turned,
  no_barrier_between_channels,
  no_barrier_before_sum,
  early_return,
  channel_tail,
  images_crossed,
};

template <class T, Fault F>
__global__ void conv2d_mutant(P<T> p, In<T> in, Out<T> out, int rows, int cols, unsigned across,
                              unsigned tiles) {
  PLUMB_DYNAMIC_SHARED(T, pixels);  // (rows, cols)
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Index plane = blockIdx.x / tiles;
  const int ty = static_cast<int>(blockIdx.x % tiles / across) * kTile,
            tx = static_cast<int>(blockIdx.x % tiles % across) * kTile;
  if (F == Fault::early_return && (ty + y >= p.oh || tx + x >= p.ow)) return;
  const int stride_h = F == Fault::stride_down_ignored ? 1 : p.stride_h;
  const Index image = F == Fault::images_crossed ? plane % p.n : plane / p.k;
  const int channels = F == Fault::channel_tail ? p.c / 2 * 2 : p.c, area = p.r * p.s;
  T sum = T(0);
  for (int ch = 0; ch < channels; ++ch) {
    if (F != Fault::no_barrier_between_channels && ch > 0) __syncthreads();
    const T* from = in.X.data + (image * p.c + ch) * in.X.ld;
    const int staged = F == Fault::halo_off_by_one ? cols - 1 : cols;
    for (int i = y; i < rows; i += kTile) {
      for (int j = x; j < staged; j += kTile) {
        const int iy = ty * stride_h - p.pad_h + i, ix = tx * p.stride_w - p.pad_w + j;
        const bool down = iy >= 0 && iy < p.h, inside = down && ix >= 0 && ix < p.w;
        if (F == Fault::padding_wraps ? down : inside)
          pixels[i * cols + j] = from[static_cast<Index>(iy) * p.w + ix];
        else if (F != Fault::padding_not_written)
          pixels[i * cols + j] = T(0);
      }
    }
    if (F != Fault::no_barrier_before_sum) __syncthreads();
    for (int e = 0; e < area; ++e) {
      const int a = e / p.s * p.dilation_h, b = e % p.s * p.dilation_w;
      const int weight = F == Fault::filter_turned ? area - 1 - e : e;
      sum += in.F.data[plane % p.k * in.F.ld + static_cast<Index>(ch) * area + weight] *
             pixels[(y * stride_h + a) * cols + x * p.stride_w + b];
    }
  }
  if (ty + y < p.oh && tx + x < p.ow)
    out.Y.data[plane * out.Y.ld + static_cast<Index>(ty + y) * p.ow + tx + x] = sum;
}

template <class T, Fault F>
void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const int rows = (kTile - 1) * p.stride_h + (p.r - 1) * p.dilation_h + 1,
            cols = (kTile - 1) * p.stride_w + (p.s - 1) * p.dilation_w + 1;
  const unsigned down = static_cast<unsigned>((p.oh + kTile - 1) / kTile),
                 across = static_cast<unsigned>((p.ow + kTile - 1) / kTile);
  launch(conv2d_mutant<T, F>, out.Y.rows * down * across, dim3(kTile, kTile),
         sizeof(T) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), context.stream, p, in,
         out, rows, cols, across, down * across);
}

PLUMB_DEVICE_FAULT(halo_off_by_one, "halo_off_by_one", 0, "the last column of a tile's halo is not staged",
                   "tile + filter - 2 in place of - 1", kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(padding_not_written, "padding_keeps_what_was_there", 17,
                   "places of the tile in the padding are not written",
                   "a guard on the load and none on the store", kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(padding_wraps, "padding_reads_the_next_row", 16,
                   "the padding at the left and right is read from the rows beside", "one check of two",
                   kNumeric | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(stride_down_ignored, "stride_down_ignored", 0, "the stride holds across and not down",
                   "a stride that only a square test would see", kNumeric);
PLUMB_DEVICE_FAULT(filter_turned, "filter_turned_on_device", 0, "the filter is turned by 180 degrees",
                   "convolution as mathematics has it, where networks mean cross-correlation", kNumeric);
PLUMB_DEVICE_FAULT(no_barrier_between_channels, "no_barrier_between_channels", 2,
                   "the next channel is staged while some still sum the last one",
                   "the second of two barriers taken for the first's double",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(no_barrier_before_sum, "halo_read_without_barrier", 2,
                   "no barrier between staging a tile and reading it", "a tile of one warp in every test",
                   kNumeric | kRepeat | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(early_return, "early_return_before_halo", 6,
                   "threads without an output return before the barriers and stage no pixels",
                   "the bounds check of an element-wise kernel, kept when tiles came",
                   kNumeric | kSimt | kRace | kSanitizer);
PLUMB_DEVICE_FAULT(channel_tail, "channel_tail_dropped_on_device", 14,
                   "the last channel of an odd number is not added", "channels taken in pairs", kNumeric);
PLUMB_DEVICE_FAULT(images_crossed, "planes_counted_images_first", 0,
                   "planes of Y are taken as (k, n) where they are (n, k)", "a batch of one in every test",
                   kNumeric);

enum class WinogradFault { ragged_tile, undeclared, filter_slot_shared };

// A thread per tile of 2 x 2 outputs, all channels.
template <class T, WinogradFault F>
__global__ void conv2d_winograd_mutant(P<T> p, In<T> in, Out<T> out, int down, int across) {
  const Index at = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= out.Y.rows * down * across) return;
  const Index plane = at / (static_cast<Index>(down) * across);
  const int y0 = static_cast<int>(at / across % down) * 2, x0 = static_cast<int>(at % across) * 2;
  T m[16] = {};
  for (int ch = 0; ch < p.c; ++ch) {
    T d[4][4], u[16], v[16];
    for (int e = 0; e < 16; ++e) {
      const int iy = y0 + e / 4 - p.pad_h, ix = x0 + e % 4 - p.pad_w;
      const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
      d[e / 4][e % 4] =
          inside ? in.X.data[(plane / p.k * p.c + ch) * in.X.ld + static_cast<Index>(iy) * p.w + ix] : T(0);
    }
    winograd_filter(in.F.data + plane % p.k * in.F.ld + ch * 9, u, 1);
    winograd_input(d, v, 1);
    for (int e = 0; e < 16; ++e) m[e] += u[F == WinogradFault::filter_slot_shared && e == 14 ? 13 : e] * v[e];
  }
  T y[2][2];
  winograd_output(m, 1, y);
  for (int i = 0; i < 2 && y0 + i < p.oh; ++i) {
    for (int j = 0; j < 2 && x0 + j < p.ow; ++j)
      out.Y.data[plane * out.Y.ld + static_cast<Index>(y0 + i) * p.ow + x0 + j] = y[i][j];
  }
}

template <class T, WinogradFault F>
void run_winograd(const P<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kThreads = 64;
  const int up = F == WinogradFault::ragged_tile ? 0 : 1, down = (p.oh + up) / 2, across = (p.ow + up) / 2;
  launch(conv2d_winograd_mutant<T, F>, (out.Y.rows * down * across + kThreads - 1) / kThreads, kThreads, 0,
         context.stream, p, in, out, down, across);
}

template <class T>
const char* only_winograd(const P<T>& p, const In<T>&, const Out<T>&) {
  return winograd_applies(p) ? nullptr : "F(2x2, 3x3) takes 3 x 3 filters with stride and dilation 1";
}

#define PLUMB_WINOGRAD_MUTANT(fault, name, traits, ...)                                          \
  const DeviceMutant<Conv2d> winograd_##fault##_m {                                              \
    name, run_winograd<float, WinogradFault::fault>, run_winograd<double, WinogradFault::fault>, \
        {__VA_ARGS__}, traits, only_winograd<float>, only_winograd<double>                       \
  }
constexpr Traits kDeclared = Traits{}.computes_in(Arithmetic::winograd).for_finite_inputs();

PLUMB_WINOGRAD_MUTANT(ragged_tile, "winograd_ragged_tile_dropped_on_device", kDeclared, 15,
                      "the last tile of an odd output is not computed", "oh / 2 in place of its ceiling",
                      kNumeric);
PLUMB_WINOGRAD_MUTANT(filter_slot_shared, "winograd_place_used_twice", kDeclared, 0,
                      "one of the 16 places multiplies its neighbour's transformed weight",
                      "an index of an unrolled product", kNumeric);
PLUMB_WINOGRAD_MUTANT(undeclared, "winograd_undeclared_on_device", Traits{}, 28,
                      "minimal filtering that calls itself native",
                      "a library that chooses its algorithm by size, and says nothing", kNumeric);

}  // namespace
}  // namespace plumb
