// gemm, rung 21: tiles of 64 x 64, the depth of all of them in parts, added by a second launch.
//
// Change    between rung 20, whose 32 x 32 tiles load as much as they multiply, and the rungs of large tiles, which leave
//           multiprocessors idle: tiles of 64 x 64 (rung 12's smallest in fp32, rung 16's half in fp64) with a row of blocks for each
//           part of the depth, as many parts as the chip has room for. The parts lie in memory as whole matrices, and a second launch
//           adds them in their order: reproducible.
// Traffic   A is read n / 64 times and B m / 64 times; C once more for each part, written and read.
// Limits    fp32 / fp64: gemm_multistage 230 to 255 registers; gemm_tensor 210 to 234 registers;
//           gemm_add_rows_of_parts 26 / 32 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 2 blocks of 128
//           threads per SM.
// Fails at  large products, where rungs 16 and 19 read less; tiny ones, where a second launch is most of the time.
// Source    split-K: CUTLASS, "Efficient GEMM in CUDA".
#include "gpu/gemm/parts.hpp"

namespace plumb {
namespace {

using namespace gemm;

template <class T, class S>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index depth = depth_of(p, in);
  run_parts<S>(p, in, out, parting_of<S>(out.C.rows, out.C.cols, depth, 2, kInMemory).parts, context);
}

const Register<Gemm, float, Space::device> f32{"21_tiles_in_parts", run<float, Small>, Traits{}.needs_sm(80)};
const Register<Gemm, double, Space::device> f64{"21_tiles_in_parts", run<double, Fp64Small>,
                                                Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
