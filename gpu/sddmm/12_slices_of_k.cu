// sddmm, rung 12: k in slices of 128 bytes, so that a slice of Y stays in the second-level cache.
//
// Change    rung 8 for 32 terms at a time (fp64: 16), a launch each; all but the first add to s.
// Traffic   a line of Y per entry and slice, from L2 instead of memory; columns once per slice, s twice.
// Fails at  Y that fits the cache as it is, or does not even in slices.
// Source    our own; tiles for a cache, though of rows of Y, are those of Nisa et al., HiPC 2018.
#include "gpu/sddmm/steps.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_slices(*static_cast<const StepPlan*>(context.plan), in, out, context);
}

PLUMB_REGISTER_WITH(Sddmm, "12_slices_of_k",
                    (run<T>, {}, steps_support<T>, prepare_step_plan<T>, release_step_plan), float, double,
                    f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
