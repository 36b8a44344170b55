// gemm, rung 12: the tile chosen by the problem; small ones share their depth among warps (fp32).
//
// Change    four shapes: 256 x 128, 128 x 128, and for problems too small to give each multiprocessor one of
//           those, 64 x 128 and 64 x 64, where four groups of warps each take a quarter of every tile's depth
//           and add their sums in shared memory at the end. Chosen is the least time by a model: rounds of
//           tiles on the busiest multiprocessor times the tile's size.
// Traffic   that of rung 10, more for the smaller tiles.
// Limits    The four shapes: 66, 98, 75 and 68 KiB of dynamic shared memory; 2, 1, 1 and 2 blocks per SM of
//           128, 256, 256 and 128 threads.
// Fails at  C of a few tiles and a long K (8 x 8 x 200,000 keeps one multiprocessor busy): only splitting K
//           over blocks would help.
// Source    CUTLASS, "Efficient GEMM in CUDA", sliced-K; the model is our own.
#include "gpu/gemm/families/multistage_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

/// Share of the arithmetic rate that a shape reaches on its own; fewer warps and smaller register reuse lower
/// it.
constexpr double kEfficiencyTall = 0.99, kEfficiencySquare = 1.0, kEfficiencySquareAlone = 0.85,
                 kEfficiencySliced = 0.92, kEfficiencySmall = 0.8;

void run(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  const Index m = out.C.rows, n = out.C.cols;
  const bool alone =
      ceil_div(m, Square<float>::BM) * ceil_div(n, Square<float>::BN) <= device_multiprocessors();
  const double tall = tile_cost(m, n, Tall::BM, Tall::BN, kEfficiencyTall),
               square = tile_cost(m, n, Square<float>::BM, Square<float>::BN,
                                  alone ? kEfficiencySquareAlone : kEfficiencySquare),
               sliced = tile_cost(m, n, Sliced::BM, Sliced::BN, kEfficiencySliced),
               small = tile_cost(m, n, Small::BM, Small::BN, kEfficiencySmall);
  if (square <= tall && square <= sliced && square <= small) {
    context.explain("128 x 128 tiles: fewest rounds for their size");
    run_multistage<float, Square<float>>(p, in, out, context);
  } else if (tall <= sliced && tall <= small) {
    context.explain("256 x 128 tiles: fewest rounds for their size");
    run_multistage<float, Tall>(p, in, out, context);
  } else if (sliced <= small) {
    context.explain(
        "64 x 128 tiles, depth shared by four groups of warps: larger tiles leave multiprocessors idle");
    run_multistage<float, Sliced>(p, in, out, context);
  } else {
    context.explain("64 x 64 tiles, depth shared by four warps: larger tiles leave multiprocessors idle");
    run_multistage<float, Small>(p, in, out, context);
  }
}

const Register<Gemm, float, Space::device> f32{"12_tile_by_shape", run, Traits{}.needs_sm(80)};

}  // namespace
}  // namespace plumb
