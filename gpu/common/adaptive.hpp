// An adaptive rung, and each of its candidates by itself: what the ladders share that choose by the model of cost. Header only.
#pragma once
#include "gpu/common/cost_model.hpp"
#include "gpu/common/tried.hpp"
#include "gpu/device/memory.hpp"

namespace plumb {

/// What a ladder's list of candidates, Candidates<T> in its candidates.hpp, is derived from. An object of the list is made of a problem,
/// Candidates(p, in, out, context), and holds what the terms are made of. It has
///   kNames[], kModels           of the candidates, in their order; the first one runs always
///   Terms terms(int c) const    what candidate c would do
///   Kept                        what a candidate needs when it runs: formats, numbers of parts
///   Kept keep(int c, Context&) const
///   static void run(int c, const Kept&, const Problem&, const In&, const Out&, Context&)
/// and may have its own kTraits and supports(), which are those of the rung. Where candidates convert or analyse, it also has
///   kPreparations               models of the time that keep() takes
///   Terms preparation(int c) const
/// so that a plan of few uses takes little time.
template <class Op, class T>
struct CandidateList {
  using Operator = Op;
  using Problem = typename Op::template Problem<T>;
  using In = typename Op::template In<T, Space::device>;
  using Out = typename Op::template Out<T, Space::device>;
  static constexpr Traits kTraits{};
  static constexpr const CostModel* kPreparations = nullptr;  // none
  static const char* supports(const Problem&, const In&, const Out&) { return nullptr; }
};

/// The candidate that prepare() took, of a list L<T>.
template <template <class> class L, class T>
struct AdaptivePlan {
  int candidate = 0;
  typename L<T>::Kept kept{};
  Text text{};
};

/// The functions of a rung that chooses from L<T>: the candidate of least time by its model, with its share of the preparation where the
/// caller expects few uses (Context::uses); where it expects many, a few candidates are measured. Of C >= 0: those of candidate C, whatever
/// its model says, which leaves its terms as its explanation; so tools/fit measures it.
template <template <class> class L, class T, int C = -1>
struct Adaptive {
  using List = L<T>;
  using Operator = typename List::Operator;
  using Plan = AdaptivePlan<L, T>;
  using Problem = typename List::Problem;
  using In = typename List::In;
  using Out = typename List::Out;
  static constexpr Traits kTraits = List::kTraits;
  // a list without models has a null pointer in place of the array
  static constexpr bool kPrepares = sizeof List::kPreparations > sizeof(const CostModel*);
  static constexpr int kCount = kCountOf<List>;

  static const char* supports(const Problem& p, const In& in, const Out& out) {
    return List::supports(p, in, out);
  }

  static void* prepare(const Problem& p, const In& in, const Out& out, Context& context) {
    static_assert(C < kCount, "there is such a candidate");
    const List list(p, in, out, context);
    auto* plan = new Plan;
    Terms terms[kCount];
    Preparation<kCount> preparation;
    preparation.uses = context.uses == kManyUses ? 0 : context.uses;
    for (int c = 0; c < kCount; ++c) {
      if (C >= 0 && C != c) continue;
      terms[c] = list.terms(c);
      if constexpr (kPrepares) {
        if (C >= 0 || preparation.uses > 0) preparation.terms[c] = list.preparation(c);
      }
    }
    if constexpr (kPrepares) preparation.models = &List::kPreparations;
    plan->candidate =
        take_terms(C, List::kModels, terms, List::kNames, plan->text.of, sizeof plan->text.of, preparation);
    if constexpr (C < 0) {
      if (context.uses > 0 && device_has_clock())
        Tried<L, T>(p, in, out, context).take(terms, preparation, plan->candidate, plan->text);
    }
    plan->kept = list.keep(plan->candidate, context);
    return plan;
  }

  static void run(const Problem& p, const In& in, const Out& out, Context& context) {
    const auto& plan = *static_cast<const Plan*>(context.plan);
    List::run(plan.candidate, plan.kept, p, in, out, context);
    context.explain(plan.text.of);
  }

  static void release(void* plan) { delete static_cast<Plan*>(plan); }
};

}  // namespace plumb
