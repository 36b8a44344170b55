// transpose, rung 5: rung 4's tile by twice as many threads.
//
// Change    16 warps with eight elements each in place of 8 with sixteen: fewer registers, so a
//           multiprocessor is full, and the barrier waits for less.
// Traffic   as rung 2.
// Limits    fp32 / fp64: 32 registers, 16640 / 33280 bytes of static shared memory, no spills (sm_90, nvcc
//           13.0, ptxas -v). 4 blocks of 512 per SM. H200, the same tiles outside of the ladder, 8,192 x
//           8,192: 137.0 us in fp32 (8 warps: 139.7; a copy of as many bytes: 130.3), 270.2 us in fp64
//           (272.0). Tiles in blocks of 4 x 4 or 8 x 8, hints to the caches, and tiles of 128 rows gain
//           nothing.
// Fails at  as rung 4.
// Source    the ladder's own step.
#include "gpu/transpose/wide_tile.hpp"

namespace plumb {
namespace {

constexpr int kRows = 16;

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_wide_tiles<T, kRows>(in, out, context);
}

const Register<Transpose, float, Space::device> f32{"05_sixteen_warps", run<float>};
const Register<Transpose, double, Space::device> f64{"05_sixteen_warps", run<double>};

}  // namespace
}  // namespace plumb
