// sddmm, rung 10: the kernel is chosen by what the matrix looks like, and the choice is printed.
//
// Change    prepare() asks whether eight neighbouring rows share columns, and takes panels where an average
//           column serves five entries; else steps, with X held in registers where rows are long.
// Traffic   of the kernel chosen; the features cost a pass over the columns, in prepare().
// Limits    those of the kernel chosen.
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    thresholds our own.
#include "gpu/sddmm/panels.hpp"

namespace plumb {
namespace {

using namespace sddmm;

// Entries per unit. On the H200, fp32 and k = 32, panels of 5.67 took 59.2 us where steps took 71.8: a unit
// costs as much as 4.7 entries.
constexpr double kLeast = 5;

struct Plan {
  StepPlan steps{};
  PanelPlan panels;
  char text[160];
};

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  auto* plan = new Plan;
  const double mean =
      in.A.rows > 0 ? static_cast<double>(in.A.nnz) / static_cast<double>(in.A.rows) : 0;  // entries per row
  if (rows_are_long(in))
    plan->panels = prepare_panels(in, kLeast, context);
  else
    plan->panels.refused = "short rows";
  if (plan->panels.refused == nullptr) {
    std::snprintf(plan->text, sizeof plan->text,
                  "panels: %.2f entries per distinct column of eight rows (mean %.3g, longest %d)",
                  static_cast<double>(in.A.nnz) / static_cast<double>(plan->panels.features.units), mean,
                  plan->panels.features.longest);
  } else {
    plan->steps = prepare_steps(in, context);
    std::snprintf(plan->text, sizeof plan->text, "steps, %s: %s (mean %.3g)",
                  rows_are_long(in) ? "X held" : "X with each row of Y", plan->panels.refused, mean);
  }
  return plan;
}

void release(void* plan) { delete static_cast<Plan*>(plan); }

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Plan& plan = *static_cast<const Plan*>(context.plan);
  context.explain(plan.text);
  if (plan.panels.refused == nullptr)
    run_panels(plan.panels, in, out, context);
  else if (rows_are_long(in))
    run_specialised<true>(plan.steps, in, out, context);
  else
    run_specialised<false>(plan.steps, in, out, context);
}

const Register<Sddmm, float, Space::device> f32{"10_adaptive",        run<float>,     {},
                                                steps_support<float>, prepare<float>, release};
const Register<Sddmm, double, Space::device> f64{"10_adaptive",         run<double>,     {},
                                                 steps_support<double>, prepare<double>, release};

}  // namespace
}  // namespace plumb
