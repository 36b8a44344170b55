// sddmm, rung 9: eight neighbouring rows share the rows of Y that they have in common.
//
// Change    panels of eight rows with the union of their columns; a row of Y is loaded once per panel and
//           multiplied with eight rows of X in registers. Banded rows of 60, k = 32, fp32: 148 us, rung 8
//           193, cuSPARSE 318 (H200, 300,000 rows): one load of Y in place of 5.67 gains 1.30 x.
// Traffic   k elements of Y per distinct column of a panel, 5 bytes of format each; k of X per row.
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

PLUMB_REGISTER_WITH(Sddmm, "09_row_panels",
                    (run<T>, {}, steps_support<T>, prepare<T>, release_panels_or_steps), float, double, f16,
                    bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
