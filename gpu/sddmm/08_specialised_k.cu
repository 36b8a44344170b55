// sddmm, rung 8: k = 32, 64 and 128 known to the compiler.
//
// Change    rung 7 with loops over k unrolled whole and no test of their ends: the address of a row is
//           made once and its pieces are fixed distances from it. Where rows have fewer than ten entries
//           on average and k is a line, a group has four lanes and entries instead of eight, and waits
//           less often at the end of a row.
// Traffic   as rung 7.
// Fails at  every other k, and rows off 16 bytes, where it is rung 7.
// Source    Hidayetoglu et al., "At-Scale Sparse Deep Neural Network Inference", HPEC 2020, for the
//           habit.
#include "gpu/sddmm/steps.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_specialised(*static_cast<const StepPlan*>(context.plan), in, out, context);
}

PLUMB_REGISTER_WITH(Sddmm, "08_specialised_k",
                    (run<T>, {}, steps_support<T>, prepare_step_plan<T>, release_step_plan), float, double,
                    f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
