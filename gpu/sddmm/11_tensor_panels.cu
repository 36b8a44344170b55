// sddmm, rung 11: panels on the fp64 tensor cores.
//
// Change    rung 9 with its products and sums made by mma of 16 units by 8 rows: no shuffles, and one
//           mask per row and group to place results by. fp32 is converted on the way: products are exact,
//           sums rounded once.
// Traffic   as rung 9.
// Limits    at k = 32 and 128, 80 and 126 registers in fp32, 72 and 150 in fp64: 6, 4, 7 and 3 blocks of
//           128 per SM (sm_90, nvcc 13.0, ptxas -v). H200, banded rows of 60, fp32: 86 us at k = 32 (rung 8
//           223, cuSPARSE 319) and 253 at 128 (584, 900).
// Fails at  rows that share little: a unit costs as much as 2.5 entries in rung 8. Where columns do not
//           ascend or a row is giant, it is rung 8.
// Source    tensor cores on sparse rows with their columns condensed: TC-GNN, Wang et al., USENIX ATC
//           2023, there in tf32.
#include "gpu/sddmm/tensor_panels.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  return panels_or_steps(prepare_panels(in, 0, context), in, context);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_panels_or_steps(in, out, context, run_tensor_panels<T>);
}

const Register<Sddmm, float, Space::device> f32{
    "11_tensor_panels", run<float>, {}, steps_support<float>, prepare<float>, release_panels_or_steps};
const Register<Sddmm, double, Space::device> f64{
    "11_tensor_panels", run<double>, {}, steps_support<double>, prepare<double>, release_panels_or_steps};

}  // namespace
}  // namespace plumb
