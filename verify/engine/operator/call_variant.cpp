// One call of a variant, as its request says: beside a second caller, with a second plan, with a plan of other numbers.
#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "verify/engine/operator/erased_operator.hpp"
#include "verify/engine/operator/resources.hpp"

namespace plumb {
namespace {

// A variant's operands: views of its own, whose arrays may be another's.
class Operands {
 public:
  Operands(const TypedContract& contract, StagedViews views)
      : contract_(contract), views_(std::move(views)) {}
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  [[nodiscard]] std::unique_ptr<Operands> copied() const {
    return std::make_unique<Operands>(contract_, views_);
  }
  [[nodiscard]] std::byte* views() { return views_.data(); }
  [[nodiscard]] std::vector<ViewArray> arrays(Dtype dtype) { return contract_.arrays(views_.data(), dtype); }
  [[nodiscard]] ViewParts parts() { return contract_.parts(views_.data()); }

  void run(const AnyVariant& v, Context& c) {
    const ViewParts p = parts();
    v.run(p.problem, p.in, p.out, c);
  }
  [[nodiscard]] const char* refusal_of(const AnyVariant& v) {
    const ViewParts p = parts();
    return v.supports(p.problem, p.in, p.out);
  }
  [[nodiscard]] void* prepare(const AnyVariant& v, Context& c) {
    const ViewParts p = parts();
    return v.prepare(p.problem, p.in, p.out, c);
  }

 private:
  const TypedContract& contract_;
  StagedViews views_;
};

// A second caller of the same problem and inputs, with a plan and outputs of its own, which nobody looks at: what the variant keeps beside
// its plan is used by both. On the host it has a thread, elsewhere a stream, and on the CPU executor both.
class SecondCaller {
 public:
  SecondCaller(const AnyVariant& variant, const Operands& operands, const Call& i)
      : variant_(variant), context_(*i.context), together_(i.together) {
    if (i.callers <= 1) return;
    operands_ = operands.copied();
    context_.stream = i.second_stream, context_.plan = nullptr;
    for (const ViewArray& a : operands_->arrays(variant.dtype)) {
      if (!a.output) continue;
      const std::int64_t bytes = a.rows * a.ld() * facts(a.kind).bytes;
      a.point_to(context_.workspace(std::max<std::int64_t>(bytes, 1)));
    }
    if (variant_.has_prepare) context_.plan = operands_->prepare(variant_, context_);
  }
  ~SecondCaller() {
    if (operands_) variant_.release(context_.plan);
  }
  SecondCaller(const SecondCaller&) = delete;
  SecondCaller& operator=(const SecondCaller&) = delete;

  // Both calls.
  void beside(const std::function<void()>& first) {
    if (!operands_) return first();
    const auto second = [this] { operands_->run(variant_, context_); };
    if (variant_.space == Space::host) return in_two_threads(first, second);
    if (together_) return together_(first, second);
    first();
    second();
  }

 private:
  static void in_two_threads(const std::function<void()>& first, const std::function<void()>& second) {
    std::exception_ptr of_first, of_second;
    std::atomic<int> there{0};
    const auto meet = [&there] {  // a start takes longer than a small case
      for (++there; there < 2;) std::this_thread::yield();
    };
    std::thread other = start_thread([&] {
      try {
        meet();
        second();
      } catch (...) { of_second = std::current_exception(); }
    });
    try {
      meet();
      first();
    } catch (...) { of_first = std::current_exception(); }
    other.join();
    if (of_first) std::rethrow_exception(of_first);
    if (of_second) std::rethrow_exception(of_second);
  }

  const AnyVariant& variant_;
  std::unique_ptr<Operands> operands_;  // null: there is no second caller
  Context context_;
  const decltype(Call::together)& together_;
};

// A plan of another problem, which is alive while that of the invocation is used: each must be its own. Not where the call is timed.
class SecondPlan {
 public:
  SecondPlan(const TypedContract& contract, const AnyVariant& variant, const Operands& operands,
             const Call& i)
      : variant_(variant), context_(*i.context) {
    if (!variant.has_prepare || i.again) return;
    const std::unique_ptr<Operands> rowless = operands.copied();
    if (!contract.make_rowless(rowless->views()) || rowless->refusal_of(variant) != nullptr) return;
    plan_ = rowless->prepare(variant, context_);
  }
  ~SecondPlan() {
    if (plan_ != nullptr) variant_.release(plan_);
  }
  SecondPlan(const SecondPlan&) = delete;
  SecondPlan& operator=(const SecondPlan&) = delete;

 private:
  const AnyVariant& variant_;
  Context context_;  // a copy: what it says of its choice is lost, and its plan is another
  void* plan_ = nullptr;
};

// The plan of the invocation. In some runs prepare() is told of other factors, which the variant must support as well; in some of vectors with
// other values, which it may not keep, where memory is the host's.
void* prepared_plan(const TypedContract& contract, const AnyVariant& variant, Operands& operands,
                    const Call& i) {
  const std::unique_ptr<Operands> numbers = operands.copied(), vectors = operands.copied();
  Operands* problem = &operands;
  if (i.plan_of_other_numbers && contract.make_other_numbers(numbers->views()) &&
      numbers->refusal_of(variant) == nullptr)
    problem = numbers.get();
  if (i.plan_of_other_vectors) {
    for (const ViewArray& a : vectors->arrays(variant.dtype)) {
      if (a.output || !a.vector || a.part != ViewArray::Part::whole) continue;
      const int bytes = facts(a.kind).bytes;
      auto* const ones =
          static_cast<std::byte*>(i.context->workspace(std::max<std::int64_t>(a.cols, 1) * bytes));
      for (std::int64_t at = 0; at < a.cols; ++at) encode(a.kind, 1, ones + at * bytes);
      a.point_to(ones);
    }
  }
  return variant.prepare(problem->parts().problem, vectors->parts().in, operands.parts().out, *i.context);
}

}  // namespace

std::string call_variant(const TypedContract& contract, const AnyVariant& variant, const Call& i) {
  for (const ViewArray& a : contract.arrays(i.views, variant.dtype))
    a.set_address(reinterpret_cast<std::int64_t>(i.base) + a.address());
  Operands operands(contract, StagedViews(i.views, i.views + contract.views_bytes()));
  if (const char* reason = operands.refusal_of(variant)) return reason;
  if (variant.has_prepare) {
    if (i.before_prepare) i.before_prepare();
    i.context->plan = prepared_plan(contract, variant, operands, i);
  }
  const SecondPlan second(contract, variant, operands, i);
  SecondCaller other(variant, operands, i);
  const auto run = [&] { operands.run(variant, *i.context); };
  do {
    i.before_run();
    other.beside(run);
    i.after_run();
  } while (i.again && i.again());
  variant.release(i.context->plan);
  return {};
}

}  // namespace plumb
