// spmm, rung 9: four rows of B in flight per lane.
//
// Change    the loop over the entries of rung 3 takes them four at a time: four indices and values, then four
//           rows of B, then sixteen multiply-adds. The last, broken batch too: a row of five is two round
//           trips, not five.
// Traffic   as rung 3.
// Limits    fp32 / fp64: 32 to 46 / 40 to 56 registers, no spills (sm_90, nvcc 13.0, ptxas -v). 12 blocks of
//           128 per SM. H200, fp32, 32 columns, warm: 629 us on a power law (0.25 of cuSPARSE's speed), 209
//           us on an FEM-like matrix (1.91 of cuSPARSE's speed), 169 us on a stencil (2.67 of cuSPARSE's
//           speed).
// Fails at  as rung 3.
#include "gpu/spmm/rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const int v = vector_length(in, out);
  Rows<T> work;
  work.lanes = lanes_for(out.C.cols, v);
  work.count = out.C.rows;
  run_rows<4>(v, work, in, out, context);
}

const Register<Spmm, float, Space::device> f32{"09_batched_gathers", run<float>};
const Register<Spmm, double, Space::device> f64{"09_batched_gathers", run<double>};

}  // namespace
}  // namespace plumb
