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

const Register<Sddmm, float, Space::device> f32{
    "08_specialised_k", run<float>, {}, steps_support<float>, prepare_step_plan<float>, release_step_plan};
const Register<Sddmm, double, Space::device> f64{
    "08_specialised_k", run<double>, {}, steps_support<double>, prepare_step_plan<double>, release_step_plan};

}  // namespace
}  // namespace plumb
