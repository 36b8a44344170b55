// Planted faults of the tiled transpose on a device.
#include "reference/ops/transpose.hpp"
#include "verify/mutants/device_mutant.hpp"

namespace plumb {
namespace {

using Index = std::int64_t;
template <class T>
using In = Transpose::In<T, Space::device>;
template <class T>
using Out = Transpose::Out<T, Space::device>;

constexpr int kTile = 16;

enum class Fault { none, no_barrier, bounds_of_a, grid_floor };

template <class T, Fault F>
__global__ void transpose_mutant(In<T> in, Out<T> out) {
  __shared__ T tile[kTile][kTile + 1];
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const Index i = static_cast<Index>(blockIdx.y) * kTile + ty,
              j = static_cast<Index>(blockIdx.x) * kTile + tx;
  if (i < in.A.rows && j < in.A.cols) tile[ty][tx] = in.A.data[i * in.A.ld + j];
  if (F != Fault::no_barrier) __syncthreads();
  const Index out_i = static_cast<Index>(blockIdx.x) * kTile + ty,
              out_j = static_cast<Index>(blockIdx.y) * kTile + tx;
  const bool inside = F == Fault::bounds_of_a ? out_i < in.A.rows && out_j < in.A.cols
                                              : out_i < in.A.cols && out_j < in.A.rows;
  if (inside) out.B.data[out_i * out.B.ld + out_j] = tile[tx][ty];
}

template <class T, Fault F>
void run(const Transpose::Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index up = F == Fault::grid_floor ? 0 : kTile - 1;
  const dim3 grid(static_cast<unsigned>((in.A.cols + up) / kTile),
                  static_cast<unsigned>((in.A.rows + kTile - 1) / kTile));
  launch(transpose_mutant<T, F>, grid, dim3(kTile, kTile), 0, context.stream, in, out);
}

#define PLUMB_TRANSPOSE_MUTANT(fault, name, ...)                           \
  const DeviceMutant<Transpose> fault##_m {                                \
    name, run<float, Fault::fault>, run<double, Fault::fault>, __VA_ARGS__ \
  }

PLUMB_TRANSPOSE_MUTANT(no_barrier, "tile_read_without_barrier",
                       {2, "the tile is read with no barrier after it was written",
                        "right on a device whose blocks are one warp",
                        kNumeric | kRepeat | kRace | kSanitizer});
PLUMB_TRANSPOSE_MUTANT(bounds_of_a, "output_guarded_with_bounds_of_input",
                       {16, "B is guarded by A's rows and columns", "square matrices in every test",
                        kNumeric | kRace | kSanitizer});
PLUMB_TRANSPOSE_MUTANT(grid_floor, "grid_is_cols_over_tile",
                       {15, "the grid has cols / 16 columns of blocks: the last columns are never read",
                        "a sample that only knew multiples", kNumeric});

}  // namespace
}  // namespace plumb
