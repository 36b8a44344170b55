// spmm, rung 1: one thread per element of C.
//
// Change    first rung: the parallel loops are those over rows and columns of C, nothing else.
// Traffic   a warp of 32 columns reads a row of B in one piece; indices and values are read by every one of
//           its threads, from the same address.
// Limits    32 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 per SM. H200, fp32, 32
//           columns, warm: 726 us on a power law (0.21 of cuSPARSE's speed), 345 us on an FEM-like matrix
//           (1.16 of cuSPARSE's speed), 412 us on a stencil (1.10 of cuSPARSE's speed).
// Fails at  widths that are no multiple of 32, whose threads stand idle; long rows, one dependent load after
//           another.
#include "gpu/spmm/element.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_elements(in, out, context);
}

const Register<Spmm, float, Space::device> f32{"01_thread_per_element", run<float>};
const Register<Spmm, double, Space::device> f64{"01_thread_per_element", run<double>};

}  // namespace
}  // namespace plumb
