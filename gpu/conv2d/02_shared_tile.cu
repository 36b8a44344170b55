// conv2d, rung 2: the pixels of a tile of outputs, with their halo, in shared memory.
//
// Change    a block makes 8 x 32 outputs of one plane; per channel it stages the pixels that their windows
//           cover, padding included, and sums from there with no checks: two barriers per channel.
// Traffic   a pixel is read once per tile and filter, and again by the tiles whose halo it lies in; 2 shared
//           or cached loads per multiply-add.
// Limits    1.3 KiB of dynamic shared memory for 3 x 3, 5.7 KiB for 7 x 7 with stride 2 (fp32): 8 blocks of
//           256 threads per SM.
// Fails at  many filters: each reads all pixels again, and one multiply-add still pays a load of each
//           operand. Rung 3 answers both. Windows whose tile does not fit shared memory are unsupported.
// Source    CUDA C++ Programming Guide, "Shared Memory"; V. Podlozhnyuk, "Image convolution with CUDA"
//           (2007).
#include "gpu/conv2d/kernels/tile.hpp"

namespace plumb {
namespace {

using namespace conv2d;

constexpr int kRows = 8, kCols = 32, kThreads = kRows * kCols;

template <class T>
__global__ void __launch_bounds__(kThreads)
    conv2d_shared_tile(Problem<T> p, In<T> in, Out<T> out, TileGrid grid, Halo halo) {
  PLUMB_DYNAMIC_SHARED(T, pixels);  // (halo.rows, halo.cols)
  const TilePlace tile = tile_place(grid, kRows, kCols);
  const int t = static_cast<int>(threadIdx.x), y = t / kCols, x = t % kCols;
  const T* plane = in.X.data + tile.plane / p.k * p.c * in.X.ld;
  const T* weight = in.F.data + tile.plane % p.k * in.F.ld;
  const T* const window = pixels + y * p.stride_h * halo.cols + x * p.stride_w;
  T sum = T(0);
  for (int ch = 0; ch < p.c; ++ch, plane += in.X.ld) {
    if (ch > 0) __syncthreads();
    stage_pixels<kThreads>(p, plane, tile.y * p.stride_h - p.pad_h, tile.x * p.stride_w - p.pad_w, halo,
                           pixels);
    __syncthreads();
    for (int a = 0; a < p.r; ++a) {
      for (int b = 0; b < p.s; ++b)
        sum += *weight++ * window[a * p.dilation_h * halo.cols + b * p.dilation_w];
    }
  }
  if (tile.y + y < p.oh && tile.x + x < p.ow)
    out.Y(tile.plane, static_cast<Index>(tile.y + y) * p.ow + tile.x + x) = sum;
}

template <class T>
const char* supports(const Problem<T>& p, const In<T>&, const Out<T>&) {
  return halo_of(p, kRows, kCols).template bytes<T>() <= kMaxShared
             ? nullptr
             : "a tile of outputs needs more pixels than shared memory holds";
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const TileGrid grid = tile_grid(p, kRows, kCols);
  const Halo halo = halo_of(p, kRows, kCols);
  launch(conv2d_shared_tile<T>, out.Y.rows * grid.down * grid.across, kThreads,
         static_cast<std::size_t>(halo.template bytes<T>()), context.stream, p, in, out, grid, halo);
}

PLUMB_REGISTER_WITH(Conv2d, "02_shared_tile", (run<T>, {}, supports<T>), float, double);

}  // namespace
}  // namespace plumb
