// Class mutants: faults that exist in one class, or in one pair of classes, of an operator's description. Each is a right variant whose
// answer has one spoiled element where the problem lies in that class. They measure the cases alone: a survivor names the class that
// no case of the tier can show. No mutant is run by itself: whether a case shows a spoiled element does not depend on why it was
// spoiled, so each case is judged once, and kills the mutants of all classes that it meets.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "verify/drawing/cover.hpp"
#include "verify/engine/operator/operators.hpp"
#include "verify/judge/runner.hpp"
#include "verify/tests/smoke_cases.hpp"

namespace plumb {
namespace {

// One part in 128 of what the terms of an element amount to, of its value where they cancel less or nothing is known of them; at least two
// of the numbers between which the output's format has none.
double spoiled(Format format, double value, double terms) {
  const double amount = std::max(std::isfinite(terms) ? terms : 0, std::fabs(value)) / 128;
  const double part = std::max(amount, 2 * spacing(format, std::fabs(value)));
  const bool fits = std::fabs(value) + part <= facts(format).largest;
  return value + std::copysign(fits ? part : -part, value);
}

// One element of one output, the largest, off by what terms narrowed to bf16 may do. Where there is none but zeros, subnormal numbers, NaN and
// infinities, one is replaced. Where nothing is to be written, the first place behind is written.
void spoil_values(const ArrayInfo& a, const LargeArray<double>& magnitude) {
  const FormatFacts& format = facts(a.kind);
  const auto place = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::byte*>(a.data) + (i * a.ld + j) * format.bytes;
  };
  std::byte* largest = place(0, 0);
  double value = decode(a.kind, largest);
  std::size_t at = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      const double v = decode(a.kind, place(i, j));
      if (!std::isfinite(v) || (std::isfinite(value) && std::fabs(v) <= std::fabs(value))) continue;
      largest = place(i, j), value = v, at = static_cast<std::size_t>(i * a.cols + j);
    }
  }
  const bool nothing = !std::isfinite(value) || a.span_bytes() == 0;
  const bool small = std::fabs(value) < format.smallest_normal;
  encode(a.kind,
         nothing ? 0
         : small ? 1
                 : spoiled(a.kind, value, at < magnitude.size() ? magnitude[at] : 0),
         largest);
}

void spoil(const CallInfo& call, const Reference& reference) {
  const ArrayInfo* chosen = nullptr;
  std::size_t output = 0, outputs = 0;
  for (const ArrayInfo& a : call.arrays) {
    if (!a.output) continue;
    if (chosen == nullptr || a.span_bytes() > 0) chosen = &a, output = outputs;
    ++outputs;
  }
  REQUIRE(chosen != nullptr);
  const LargeArray<double>& magnitude = reference.outputs.at(output).magnitude;
  if (is_floating(chosen->kind)) return spoil_values(*chosen, magnitude);
  *static_cast<std::int32_t*>(chosen->data) = -1;  // where several places are legal, the next one may be
}

// An operator whose variants spoil one element after they have run.
class Spoiled final : public OperatorEntry {
 public:
  explicit Spoiled(const OperatorEntry& right) : right_(right) {}
  /// The answer of the case that runs next.
  void expect(const Reference& reference) { reference_ = &reference; }
  std::string name() const override { return right_.name(); }
  std::span<const Dtype> dtypes() const override { return right_.dtypes(); }
  std::vector<Case> cases() const override { return right_.cases(); }
  CaseSpace space() const override { return right_.space(); }
  std::vector<VariantInfo> variants(Device device) const override { return right_.variants(device); }
  std::unique_ptr<PreparedCase> prepare(const Case& c) const override { return right_.prepare(c); }
  std::unique_ptr<PreparedCase> prepare(const GivenCall& c) const override { return right_.prepare(c); }
  std::string invoke(const Call& i) const override {
    std::string why_not = right_.invoke(i);
    // the run has put addresses where offsets were
    if (why_not.empty())
      spoil(right_.relocate(
                i.dtype, i.views,
                [](const ArrayInfo&, std::int64_t address) { return reinterpret_cast<void*>(address); }),
            *reference_);
    return why_not;
  }
  CallInfo relocate(Dtype dtype, std::byte* views, const Placer& placer) const override {
    return right_.relocate(dtype, views, placer);
  }

 private:
  const OperatorEntry& right_;
  const Reference* reference_ = nullptr;
};

// Judges right variants whose answer is spoiled.
class Teller {
 public:
  explicit Teller(const OperatorEntry& entry) : entry_(entry), spoiled_(entry), runner_(options()) {
    runner_.use(spoiled_);
    variants_ = entry.variants(Device::gpu);
    std::erase_if(variants_, [](const VariantInfo& v) { return v.mutant || v.device != Device::cpu; });
  }
  /// Those cases on which a spoiled element is noticed.
  std::vector<Case> telling(std::vector<Case> cases) {
    std::erase_if(cases, [&](const Case& c) {
      const auto [at, fresh] = known_.try_emplace(c.id(), false);
      if (fresh) at->second = tells(c);
      return !at->second;
    });
    return cases;
  }

 private:
  static RunOptions options() {
    RunOptions options;
    options.isolation = Isolation::none, options.repeat = 1;
    return options;
  }
  bool tells(const Case& c) {
    const std::unique_ptr<PreparedCase> prepared = entry_.prepare(c);
    spoiled_.expect(prepared->reference());
    for (const VariantInfo& v : variants_) {
      if (v.dtype != c.dtype) continue;
      const Record record = runner_.judge(c, *prepared, v);
      if (!is_skipped(record.verdict)) return is_failed(record.verdict);
    }
    return false;
  }
  const OperatorEntry& entry_;
  Spoiled spoiled_;
  Runner runner_;
  std::vector<VariantInfo> variants_;
  std::map<std::string, bool> known_;  // by id
};

constexpr const char* kWhere[] = {"a device", "the executor", "the executor, of few kernels"};

// Class mutants of some combinations: how many there are that a case meets, and how many of them the telling cases kill.
struct Score {
  std::size_t made = 0, killed = 0;

  void add(const CaseSpace& space, const std::vector<Combination>& combinations,
           const std::vector<Case>& cases, const std::vector<Case>& telling) {
    const std::vector<ClassTuple> beyond = tuples_not_met(space, combinations, cases);
    const std::size_t met = tuples_not_met(space, combinations, {}).size() - beyond.size();
    made += met, killed += met;
    for (const ClassTuple& t : tuples_not_met(space, combinations, telling)) {
      if (std::find(beyond.begin(), beyond.end(), t) != beyond.end()) continue;
      --killed;
      FAIL_CHECK("survivor: wrong where " << describe(space, t));
    }
  }
};

void check_tier(const OperatorEntry& entry, CaseSpeed speed, Teller& teller) {
  const std::vector<Case>& cases = smoke_cases(entry, speed);
  const std::vector<Case> telling = teller.telling(cases);
  Score score;
  for (const auto& [space, layers] : tier_arrays(entry.space(), Tier::smoke, speed)) {
    for (const CoverLayer& layer : layers) score.add(space, layer.combinations, cases, telling);
  }
  MESSAGE(fmt::format("{} on {}: {} of {} class mutants killed", entry.name(),
                      kWhere[static_cast<std::size_t>(speed)], score.killed, score.made));
}

void check_tiers(const OperatorEntry& entry) {
  CAPTURE(entry.name());
  Teller teller(entry);
  check_tier(entry, CaseSpeed::device, teller);
  check_tier(entry, CaseSpeed::executor, teller);
  check_tier(entry, CaseSpeed::executor_of_few, teller);
}

TEST_CASE("every class mutant of two operators is killed by tier smoke, on a device and on the executor") {
  check_tiers(find_operator("transpose"));
  check_tiers(find_operator("bias_relu"));
}

TEST_CASE(
    "tiers, nightly: every class mutant of every operator is killed by tier smoke, on a device and on the "
    "executor" *
    doctest::skip()) {
  for (const auto& entry : operators()) check_tiers(*entry);
}

TEST_CASE("a class mutant survives where no case meets its class") {
  const OperatorEntry& entry = find_operator("transpose");
  const CaseSpace space = entry.space();
  const std::vector<Case> listed = entry.cases();
  std::vector<Case> few(listed.begin(), listed.begin() + 6);
  const std::vector<Case> telling = Teller(entry).telling(few);
  CHECK(telling.size() == few.size());
  const std::vector<ClassTuple> survivors = tuples_not_met(space, single_parameters(space), telling);
  CHECK(std::any_of(survivors.begin(), survivors.end(),
                    [&](const ClassTuple& t) { return describe(space, t) == "rows: 16-bit edge"; }));
}

}  // namespace
}  // namespace plumb
