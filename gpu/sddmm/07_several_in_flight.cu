// sddmm, rung 7: steps of 32 entries with several rows of Y in flight per group, summed by a transposing
// butterfly.
//
// Change    a warp asks for four rows of Y per group before it uses the first, and sums 32 entries with 7
//           shuffles instead of 24; the store is one line. prepare() notes the row of every 32nd entry, so
//           that rows are searched only in steps where one ends, by shuffles.
// Traffic   as rung 6, and 4 bytes for 32 entries.
// Fails at  nothing by shape. The loop over k and its ends are decided at run time: rung 8 answers that.
// Source    the butterfly is the matrix transpose by exchange of halves: J. O. Eklundh, IEEE Trans. Computers
//           C-21 (1972).
#include "gpu/sddmm/steps.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const StepPlan& plan = *static_cast<const StepPlan*>(context.plan);
  if (on_16_bytes(in))
    run_any_terms<true>(plan, in, out, context);
  else
    run_any_terms<false>(plan, in, out, context);
}

PLUMB_REGISTER_WITH(Sddmm, "07_several_in_flight",
                    (run<T>, {}, steps_support<T>, prepare_step_plan<T>, release_step_plan), float, double,
                    f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
