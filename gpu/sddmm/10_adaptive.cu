// sddmm, rung 10: the kernel is chosen by what the matrix looks like, and the choice is printed.
//
// Change    prepare() asks whether 8 or 16 neighbouring rows share columns, and takes rung 11 where an average
//           column serves enough entries and no panel is deep next to the whole; else steps (rung 8), in slices
//           of k where that keeps Y in the cache (rung 12).
// Traffic   of the kernel chosen; the features cost a pass over the columns, in prepare().
// Limits    those of the kernel chosen.
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    thresholds our own.
#include "gpu/sddmm/tensor_panels.hpp"

namespace plumb {
namespace {

using namespace sddmm;

// Entries per unit, of panels of 8 and 16 rows. On the H200, fp32, banded rows of 5.67 took 85 us in panels of
// 8 and 193 in steps at k = 32, a stencil of 1.54 took 179 and 141: a unit costs as much as 2.4 entries. In
// panels of 16 at k = 128, banded rows of 10.3 took 200 us and in steps 587, a stencil of 1.6 took 640 and 516;
// near 2, 4,096 rows of 412 at random took 245 and 80, being too few for a warp to a panel.
constexpr double kLeast = 2.5, kLeastOf16 = 3;

enum class Kernel : std::uint8_t { panels, slices, steps };

struct Plan {
  Kernel kernel = Kernel::panels;
  StepPlan steps{};
  PanelPlan panels;
  char text[192];
};

template <class T>
void* prepare(const Problem<T>&, const In<T>& in, const Out<T>&, Context& context) {
  auto* plan = new Plan;
  const double mean =
      in.A.rows > 0 ? static_cast<double>(in.A.nnz) / static_cast<double>(in.A.rows) : 0;  // entries per row
  plan->panels = prepare_tensor_panels(in, panels_of_16(in) ? kLeastOf16 : kLeast, context);
  if (plan->panels.refused == nullptr) {
    std::snprintf(plan->text, sizeof plan->text,
                  "panels of %d rows: %.2f entries per distinct column (mean %.3g, longest %d)",
                  plan->panels.rows, entries_per_unit(in, plan->panels), mean, plan->panels.features.longest);
    return plan;
  }
  plan->steps = prepare_steps(in, context);
  plan->kernel = slices_pay(in) ? Kernel::slices : Kernel::steps;
  std::snprintf(plan->text, sizeof plan->text, "steps%s: %s (mean %.3g)",
                plan->kernel == Kernel::slices ? " in slices of k, as Y fits the cache only so" : "",
                plan->panels.refused, mean);
  return plan;
}

void release(void* plan) { delete static_cast<Plan*>(plan); }

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Plan& plan = *static_cast<const Plan*>(context.plan);
  context.explain(plan.text);
  switch (plan.kernel) {
    case Kernel::panels:
      return run_tensor_panels(plan.panels, in, out, context);
    case Kernel::slices:
      return run_slices(plan.steps, in, out, context);
    case Kernel::steps:
      return run_specialised(plan.steps, in, out, context);
  }
}

const Register<Sddmm, float, Space::device> f32{"10_adaptive",        run<float>,     {},
                                                steps_support<float>, prepare<float>, release};
const Register<Sddmm, double, Space::device> f64{"10_adaptive",         run<double>,     {},
                                                 steps_support<double>, prepare<double>, release};

}  // namespace
}  // namespace plumb
