// sddmm, rung 9: eight neighbouring rows share the rows of Y that they have in common.
//
// Change    panels of eight rows with the union of their columns; a row of Y is loaded once per panel and
//           multiplied with eight rows of X in registers. Banded rows of 60, k = 32, fp32: 148 us, rung 8
//           193, cuSPARSE 318 (H200, 300,000 rows): one load of Y in place of 5.67 gains 1.30 x.
// Traffic   k elements of Y per distinct column of a panel, 5 bytes of format each; k of X per row.
// Limits    fp32 / fp64: sddmm_panels 80 to 96 / 96 to 144 registers, 0 / 0 to 8 bytes spilled per thread;
//           sddmm_steps 40 to 80 / 48 to 128 registers; sddmm_runs 56 to 80 / 59 to 72 registers;
//           sddmm_fill_units 47 registers; sddmm_count_units 40 registers; sddmm_step_rows 18 registers;
//           sddmm_row_features 16 registers (sm_90, nvcc 13.0, ptxas -v). The panels in fp32, at k = 32 and
//           128: 5 blocks of 128 per SM; in fp64 5 at k = 32 and 3 at 64.
// Fails at  rows that share nothing: eight products are then computed for each one that is used. Where columns do not
//           ascend, giant rows hold most entries or k exceeds 128 (fp64: 64), it is rung 8. Half of its
//           instructions are shuffles and selections: rung 11 answers that.
// Source    Im and Yelick's register blocking (SPARSITY, 2004), for sampled products and columns without
//           fill in memory.
#include "gpu/sddmm/panels.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  PanelPlan panels;
  if (!panels_hold(in))
    panels.refused = "k is beyond a warp's registers";
  else
    panels = fill_panels<kPanelRows>(count_panels<kPanelRows>(in, context), in, context);
  return panels_or_steps(panels, in, context);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_panels_or_steps(in, out, context, run_panels<T>);
}

const Register<Sddmm, float, Space::device> f32{
    "09_row_panels", run<float>, {}, steps_support<float>, prepare<float>, release_panels_or_steps};
const Register<Sddmm, double, Space::device> f64{
    "09_row_panels", run<double>, {}, steps_support<double>, prepare<double>, release_panels_or_steps};

}  // namespace
}  // namespace plumb
