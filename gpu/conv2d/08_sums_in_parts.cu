// conv2d, rung 8: the terms of a sum divided among blocks.
//
// Change    rung 6's tile of 64 x 64 (fp64: rung 7's, of 64 x 64), and a block for each part of the sums of a tile, as many as the chip
//           has room for. Blocks leave their parts in memory; the last block of a tile adds up to three of them, a second kernel
//           more, in their order, so that results are the same from run to run.
// Traffic   that of rung 4; the outputs once more for each part, written and read.
// Fails at  outputs of many tiles, where there is nothing to divide; fewer than 64 filters, whose tile is mostly empty.
// Source    gemm's rung 20.
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace {

using namespace conv2d;

template <class T>
void* prepare(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  using S = typename Shapes<T>::Small;
  return keep_tiles_in_parts<S>(tiles_of<S>(p, out), in, context);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const TilesInParts& plan = *static_cast<const TilesInParts*>(context.plan);
  run_tiles<typename Shapes<T>::Small, GatheredWindows, true>(p, in, out, context, plan.parts, plan.finished);
}

const Register<Conv2d, float, Space::device> f32{"08_sums_in_parts",    run<float>,
                                                 Traits{}.needs_sm(80), supports_gemm<float>,
                                                 prepare<float>,        release_tiles_in_parts};
const Register<Conv2d, double, Space::device> f64{"08_sums_in_parts",    run<double>,
                                                  Traits{}.needs_sm(90), supports_gemm<double>,
                                                  prepare<double>,       release_tiles_in_parts};

}  // namespace
}  // namespace plumb
