// conv2d, rung 6: rung 4 with asynchronous copies in stages, and the tile chosen by the problem.
//
// Change    elements are gathered by cp.async straight into shared memory, zeros where a window is in the
//           padding: a copy in flight holds no register, three tiles are in flight at once, and one barrier
//           per tile remains. Filters take 128 x 128 tiles where there are enough of them, 64 x 64 where
//           larger ones leave multiprocessors idle (gemm's rung 12).
// Traffic   that of rung 4.
// Limits    The three shapes in fp32: 66, 50 and 34 KiB of shared memory, 2 blocks of 256, 2 of 256 and 4 of
//           128 threads per SM; in fp64: 100, 68 and 52 KiB, 1, 2 and 4 blocks of 256, 128 and 64.
// Fails at  addresses, as rung 4: a copy of one element at a time. C of a few tiles and long sums, as 7 x 7 x
//           512: rung 8 splits the sum over blocks.
// Source    A. Kerr et al., CUTLASS, "Implicit GEMM convolution"; PTX ISA, "cp.async".
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace {

using namespace conv2d;

template <class T>
struct Tiles : Shapes<T> {};
template <>
struct Tiles<double> {
  using Large = Shape<double, 4, 2, 8, 4, 1>;   // 128 x 64
  using Middle = Shape<double, 2, 2, 8, 4, 2>;  // 64 x 64
  using Small = Shape<double, 2, 1, 8, 4, 4>;   // 64 x 32
};

/// Share of the arithmetic rate that a smaller tile reaches: less reuse of what is gathered.
constexpr double kEfficiencyMiddle = 0.95, kEfficiencySmall = 0.85;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index outputs = p.n * out.Y.cols;
  using Large = typename Tiles<T>::Large;
  using Middle = typename Tiles<T>::Middle;
  using Small = typename Tiles<T>::Small;
  const double large = gemm::tile_cost(p.k, outputs, Large::BM, Large::BN, 1),
               middle = gemm::tile_cost(p.k, outputs, Middle::BM, Middle::BN, kEfficiencyMiddle),
               small = gemm::tile_cost(p.k, outputs, Small::BM, Small::BN, kEfficiencySmall);
  if (large <= middle && large <= small) {
    context.explain("128 filters by a tile: fewest rounds for their size");
    run_tiles<Large, GatheredWindows>(p, in, out, context);
  } else if (middle <= small) {
    context.explain("64 filters by a wide tile: fewest rounds for their size");
    run_tiles<Middle, GatheredWindows>(p, in, out, context);
  } else {
    context.explain("64 filters by a narrow tile: larger ones leave multiprocessors idle");
    run_tiles<Small, GatheredWindows>(p, in, out, context);
  }
}

constexpr Traits kTraits = Traits{}.needs_sm(80);
PLUMB_REGISTER_WITH(Conv2d, "06_gemm_async", (run<T>, kTraits, supports_gemm<T>), float, double);

}  // namespace
}  // namespace plumb
