// sddmm, rung 10: the kernel is chosen by what the matrix looks like, and the choice is printed.
//
// Change    prepare() asks whether eight neighbouring rows share columns, and takes rung 11 where an
//           average column serves enough entries; else steps (rung 8), in slices of k where that keeps Y
//           in the cache (rung 12).
// Traffic   of the kernel chosen; the features cost a pass over the columns, in prepare().
// Limits    those of the kernel chosen.
// Fails at  matrices whose rows change character along the matrix: one choice is made for all of it.
// Source    thresholds our own.
#include "gpu/sddmm/tensor_panels.hpp"

namespace plumb {
namespace {

using namespace sddmm;

// Entries per unit. On the H200, fp32, prototypes of both kernels took 85 and 193 us (panels, steps) on banded
// rows of 5.67 at k = 32, 250 and 605 at 128; 179 and 141 on a stencil of 1.54, 555 and 521: a unit costs as
// much as 2.4 entries.
constexpr double kLeast = 2.5;

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
  plan->panels = prepare_panels(in, kLeast, context);
  if (plan->panels.refused == nullptr) {
    std::snprintf(plan->text, sizeof plan->text,
                  "panels: %.2f entries per distinct column of eight rows (mean %.3g, longest %d)",
                  entries_per_unit(in, plan->panels), mean,
                  plan->panels.features.longest);
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
