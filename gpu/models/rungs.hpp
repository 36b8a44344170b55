// A step of a model that is a rung of an operator's ladder: found among the rungs that are linked in,
// prepared, run, and chosen by measurement. It stands apart from the models because each composes its slow
// pipelines from the ladders.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/common/own_context.hpp"
#include "gpu/device/resources.hpp"
#include "reference/core/abi.hpp"
#include "reference/core/error.hpp"

namespace plumb {

enum class Ladder { ours, vendor };  // vendor: rungs that call a library

/// A variant with its operands, its plan and its memory.
template <class Op, class T>
class RungStep {
 public:
  using V = Variant<Op, T, Space::device>;
  RungStep(const V& variant, const typename V::Problem& problem, const typename V::In& in,
           const typename V::Out& out, void* stream)
      : variant_(variant), problem_(problem), in_(in), out_(out), memory_(stream) {
    if (variant_.prepare != nullptr) context().plan = variant_.prepare(problem_, in_, out_, context());
  }
  RungStep(const RungStep&) = delete;
  RungStep& operator=(const RungStep&) = delete;
  ~RungStep() {
    if (variant_.release != nullptr && context().plan != nullptr) variant_.release(context().plan);
  }
  void run() {
    memory_.begin_run();
    variant_.run(problem_, in_, out_, context());
  }
  [[nodiscard]] const char* name() const { return variant_.name; }

 private:
  Context& context() { return memory_.get(); }

  const V& variant_;
  typename V::Problem problem_;
  typename V::In in_;
  typename V::Out out_;
  OwnContext memory_;
};

/// Whether a rung may replace any other in this type: its rounding is that of the operator's type, and it
/// accepts NaN and infinities unless the operands are `finite`.
inline bool may_stand_in(const Traits& t, bool finite) {
  const bool own = t.arithmetic == Arithmetic::native || t.arithmetic == Arithmetic::flushed ||
                   t.arithmetic == Arithmetic::pairwise || t.arithmetic == Arithmetic::compensated ||
                   t.arithmetic == Arithmetic::doubled;
  return own && (finite || !t.finite_only) && t.min_sm <= device_sm();
}

/// The rungs of one ladder that can run these operands, by name. `alignment`: bytes, of every base and
/// leading dimension.
template <class Op, class T>
std::vector<const Variant<Op, T, Space::device>*> rungs_for(
    Ladder ladder, const typename Op::template Problem<T>& problem,
    const typename Op::template In<T, Space::device>& in,
    const typename Op::template Out<T, Space::device>& out, int alignment, bool finite) {
  std::vector<const Variant<Op, T, Space::device>*> all;
  for (const auto* v = variants<Op, T, Space::device>; v != nullptr; v = v->next) {
    if (v->origin[0] != '\0' || v->traits.library != (ladder == Ladder::vendor) ||
        !may_stand_in(v->traits, finite))
      continue;
    if (v->traits.alignment > alignment) continue;
    if (v->supports != nullptr && v->supports(problem, in, out) != nullptr) continue;
    all.push_back(v);
  }
  std::sort(all.begin(), all.end(),
            [](const auto* a, const auto* b) { return std::string(a->name) < std::string(b->name); });
  return all;
}

/// The fastest rung of one ladder, prepared. Each rung is run once and then, unless that took far longer than the fastest so far, three
/// times under the device's clock; of equal times the higher number counts. Without a clock (device_has_clock) the rung with the highest
/// number is taken. Where the rung `preferred` can run these operands, it is taken unmeasured. Where the vendor's ladder has no rung for
/// these operands (cuSPARSE takes no matrix without entries), ours is asked. Errors: throws Error where that has none either.
template <class Op, class T>
std::unique_ptr<RungStep<Op, T>> fastest_rung(Ladder ladder, const typename Op::template Problem<T>& problem,
                                              const typename Op::template In<T, Space::device>& in,
                                              const typename Op::template Out<T, Space::device>& out,
                                              int alignment, bool finite, void* stream,
                                              const std::string& preferred = {}) {
  constexpr double kFar = 4, kLoading = 0.01;  // a first run also loads its kernels: milliseconds
  auto all = rungs_for<Op, T>(ladder, problem, in, out, alignment, finite);
  if (all.empty()) all = rungs_for<Op, T>(Ladder::ours, problem, in, out, alignment, finite);
  if (all.empty()) {
    throw Error(std::string("no rung of ") + Op::kName + " is linked in that takes these operands");
  }
  for (const auto* v : all) {
    if (v->name == preferred) return std::make_unique<RungStep<Op, T>>(*v, problem, in, out, stream);
  }
  std::reverse(all.begin(), all.end());  // the first rungs are the simplest: the slowest
  std::unique_ptr<RungStep<Op, T>> best;
  double least = 0;
  for (const auto* v : all) {
    auto step = std::make_unique<RungStep<Op, T>>(*v, problem, in, out, stream);
    if (!device_has_clock()) return step;
    const auto run = [&step] { step->run(); };
    const double first = least_seconds(run, 1, stream);
    if (best != nullptr && first > kFar * least + kLoading) continue;
    const double time = least_seconds(run, 3, stream);
    if (best == nullptr || time < least) best = std::move(step), least = time;
  }
  return best;
}

}  // namespace plumb
