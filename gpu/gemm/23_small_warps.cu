// gemm, rung 23: tiles by small warps, several blocks on a multiprocessor.
//
// Change    a lane makes 8 x 4 or 8 x 8 elements (fp32) in place of 16 x 8: half the registers and less, so that three to five blocks share
//           a multiprocessor, and one loads or stores while another multiplies. Rung 12's four warps of a small tile each had a quarter of
//           the depth and one wrote it all: now each warp writes its own quarter of 64 x 64. Tiles of 32 columns or rows, where even these
//           leave multiprocessors idle, still share their depth among warps. Chosen is the least time by a model: the multiply-adds of the
//           busiest multiprocessor.
// Traffic   that of rung 12's tiles of the same size.
// Fails at  large products, where rung 19 loads less; a long K beside few tiles: rungs 20 and 21.
// Source    CUTLASS, "Efficient GEMM in CUDA".
#include "gpu/gemm/families/multistage_family.hpp"
#include "gpu/gemm/families/tensor_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

/// Share of the arithmetic rate that a shape reaches: a smaller tile loads more for each multiply-add.
constexpr double kEfficiencyWide = 1.0, kEfficiencyQuartered = 0.98, kEfficiencyLow = 0.9,
                 kEfficiencyShared = 0.8;
/// Up to this depth the start and the end of a tile take most of its time: more blocks together hide them.
constexpr Index kShallow = 192;

void run_f32(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  const Index m = out.C.rows, n = out.C.cols;
  const auto cost = [&](Index bm, Index bn, double efficiency) {
    return tile_cost(m, n, bm, bn, efficiency);
  };
  const double wide = cost(64, 128, kEfficiencyWide), quartered = cost(64, 64, kEfficiencyQuartered),
               shared = cost(32, 32, kEfficiencyShared);
  if (shared < wide && shared < quartered) {
    context.explain("32 x 32 tiles, depth shared by four warps: larger tiles leave multiprocessors idle");
    return run_multistage<float, SharedSquare>(p, in, out, context);
  }
  if (wide < quartered) {
    context.explain("64 x 128 tiles by four warps: fewest rounds for their size");
    return run_multistage<float, QuarteredWide>(p, in, out, context);
  }
  if (depth_of(p, in) <= kShallow) {
    context.explain("64 x 64 tiles by four warps, steps of 16: little depth");
    return run_multistage<float, QuarteredShallow>(p, in, out, context);
  }
  context.explain("64 x 64 tiles by four warps: fewest rounds for their size");
  run_multistage<float, Quartered>(p, in, out, context);
}

void run_f64(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  const auto cost = [&](Index bm, Index bn, double efficiency) {
    return tile_cost(out.C.rows, out.C.cols, bm, bn, efficiency);
  };
  const double pair = cost(64, 64, kEfficiencyQuartered), low = cost(32, 64, kEfficiencyLow),
               square = cost(32, 32, kEfficiencyShared);
  if (pair <= low && pair <= square) {
    context.explain("64 x 64 tiles by four warps: fewest rounds for their size");
    return run_whole<Fp64Pair>(p, in, out, context);
  }
  if (low <= square) {
    context.explain("32 x 64 tiles by four warps: larger tiles leave multiprocessors idle");
    return run_whole<Fp64Low>(p, in, out, context);
  }
  if (depth_of(p, in) <= kShallow) {
    context.explain("32 x 32 tiles by four warps: larger tiles leave multiprocessors idle, little depth");
    return run_whole<Fp64Square>(p, in, out, context);
  }
  context.explain(
      "32 x 32 tiles, depth shared by two groups of warps: larger tiles leave multiprocessors idle");
  run_whole<Fp64SharedSquare>(p, in, out, context);
}

const Register<Gemm, float, Space::device> f32{"23_small_warps", run_f32, Traits{}.needs_sm(80)};
const Register<Gemm, double, Space::device> f64{"23_small_warps", run_f64, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
