// gemm, rung 20: small tiles, the depth of each divided among as many blocks as the chip has room for.
//
// Change    tiles of 32 x 32 by 128 threads, so that a C of a few tiles occupies many multiprocessors, and a
//           tile's depth in parts, so that a deep one occupies the rest. Up to three parts of a tile are added by the
//           last of its blocks to end, more by a second kernel on all multiprocessors; in the order of the depth, so
//           that the result is reproducible. fp32: each warp makes all
//           of the tile from a quarter of a step, so that a load from shared memory feeds more products;
//           fp64: tensor cores. Two or three steps are on their way from the start: a part of few steps waits
//           for memory once.
// Traffic   A is read n / 32 times and B m / 32 times; the parts of a tile are written and read once.
// Fails at  large products, where a tile of 32 x 32 loads as much as it multiplies: rungs 15 to 19. In
//           between, 1314 x 144 x 1314, it takes 39 us and cuBLAS 26.
// Source    split-K: CUTLASS, "Efficient GEMM in CUDA"; the last block as in CUDA samples,
//           "threadFenceReduction".
#include "gpu/gemm/families/split_depth_family.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  return new split_depth::Plan<T>(split_depth::prepare_split_depth(in, out, context));
}

template <class T>
void release(void* plan) {
  delete static_cast<split_depth::Plan<T>*>(plan);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  split_depth::run_split_depth(*static_cast<const split_depth::Plan<T>*>(context.plan), p, in, out, context);
}

const Register<Gemm, float, Space::device> f32{"20_split_depth", run<float>,     Traits{}.needs_sm(80),
                                               nullptr,          prepare<float>, release<float>};
const Register<Gemm, double, Space::device> f64{"20_split_depth", run<double>,     Traits{}.needs_sm(90),
                                                nullptr,          prepare<double>, release<double>};

}  // namespace
}  // namespace plumb
