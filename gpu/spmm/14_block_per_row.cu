// spmm, rung 14: a block for each row of A.
//
// Change    rung 9's loop, but all warps of a block share the entries of one row and add their sums in shared
//           memory: a few hundred rows of a hundred entries keep the whole device busy, and no warp goes
//           along a row alone.
// Traffic   as rung 3.
// Limits    fp32 / fp64: 34 to 56 / 40 to 64 registers, 2048 to 8192 / 4096 to 16384 bytes of static shared
//           memory, no spills (sm_90, nvcc 13.0, ptxas -v). One block of up to 512 threads for a row and a
//           panel of columns.
// Fails at  many short rows, whose blocks have nothing to share.
// Source    the ladder's own step.
#include "gpu/spmm/block_rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_block_rows(vector_length(in, out), in, out, context);
}

const Register<Spmm, float, Space::device> f32{"14_block_per_row", run<float>};
const Register<Spmm, double, Space::device> f64{"14_block_per_row", run<double>};

}  // namespace
}  // namespace plumb
