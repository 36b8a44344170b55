#include "verify/judge/self_test.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace plumb {
namespace {

// One output y of n floats with reference 1, 2, 3 ..., magnitude twice that, and a bound of 2^-10 of the magnitude.
struct Probe {
  explicit Probe(std::int64_t n) : layout(Placement{}) {
    Segment s;
    s.name = "y", s.output = true, s.rows = 1, s.cols = n;
    layout.add(s, true);
    Segment x;
    x.name = "x", x.rows = 1, x.cols = n;
    input.assign(static_cast<std::size_t>(n), 0.5f);
    x.source = input.data(), x.source_ld = n;
    layout.add(x, true);
    before.resize(static_cast<std::size_t>(layout.bytes()));
    layout.write(before.data());
    after = before;
    reference.resize(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      reference.value[k] = static_cast<double>(i + 1);
      reference.magnitude[k] = 2 * reference.value[k];
      reference.terms[k] = 64;
      bound.push_back(0x1p-10 * reference.magnitude[k]);
      set(i, static_cast<float>(i + 1));
    }
  }
  [[nodiscard]] const Segment& y() const { return layout.segments()[0]; }
  [[nodiscard]] const Segment& x() const { return layout.segments()[1]; }
  void set(std::int64_t i, float v) { std::memcpy(after.data() + y().offset + 4 * i, &v, 4); }
  void poison(std::int64_t i, Poison p) {
    const std::uint64_t bits = poison_bits(p, 4);
    std::memcpy(after.data() + y().offset + 4 * i, &bits, 4);
  }
  [[nodiscard]] Comparison judged(const JudgeParts& parts, Poison p = Poison::nan_payload) const {
    return parts.compare(y(), after.data(), {&reference, &bound, kUnit<float>}, p);
  }
  [[nodiscard]] std::int64_t misses(const JudgeParts& parts, Poison p = Poison::nan_payload) const {
    return judged(parts, p).misses;
  }

  ImageLayout layout;
  std::vector<float> input;
  std::vector<std::byte> before, after;
  ReferenceArray reference;
  LargeArray<double> bound;
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kSize = 5000;

// The probes, by what they look at. Each adds the names of those that were answered wrongly.
class SelfTest {
 public:
  explicit SelfTest(const JudgeParts& parts) : parts_(parts) {}

  std::vector<std::string> run() {
    single_elements();
    every_miss_of_a_long_array();
    outputs_never_written();
    memory();
    exit_codes();
    return wrong_;
  }

 private:
  void expect(bool holds, const char* probe) {
    if (!holds) wrong_.emplace_back(probe);
  }

  [[nodiscard]] std::int64_t misses_with(std::int64_t i, float v) const {
    Probe p(kSize);
    p.set(i, v);
    return p.misses(parts_);
  }

  void single_elements() {
    expect(Probe(kSize).misses(parts_) == 0, "the right answer passes");
    expect(misses_with(3, kNan) == 1, "a NaN where a number is due is a miss");
    expect(misses_with(3, kFloatInfinity) == 1, "an infinity where a number is due is a miss");
    expect(misses_with(6, -7.0f) == 1, "the negated value is a miss");
    expect(misses_with(6, 7.0f * 1.01f) == 1, "an error of 1 % is a miss where the bound is 0.2 %");
    expect(misses_with(6, 7.0f * 1.001f) == 0, "an error of 0.1 % is none");
    expect(misses_with(6, 1e30f) == 1,
           "an enormous value is a miss, however large a tolerance it would earn itself");
    expect(misses_with(kSize - 1, 0.0f) == 1, "a wrong last element is a miss");
    Probe p(kSize);
    p.reference.value[2] = NAN;
    expect(p.misses(parts_) == 1, "a number where NaN is due is a miss");
    p.set(2, kNan);
    expect(p.misses(parts_) == 0, "NaN where NaN is due passes");
    p.reference.value[4] = 0, p.set(4, -0.0f);
    expect(p.misses(parts_) == 0, "-0 is 0 where a result is computed");
    p.reference.moved = true;
    expect(p.misses(parts_) == 1, "-0 is not 0 in a copy");
    p.reference.value[4] = -0.0;
    expect(p.misses(parts_) == 0, "-0 is -0 in a copy, and NaN is NaN");
  }

  // Judged in pieces by several threads: wrong at both ends of what could be one piece.
  void every_miss_of_a_long_array() {
    constexpr std::int64_t kLong = (10 << 16) + 17;
    Probe p(kLong);
    std::vector<std::int64_t> spoilt;
    for (std::int64_t i = 0; i < kLong; i += 1 << 16) {
      if (i > 0) spoilt.push_back(i - 1);
      spoilt.push_back(i);
    }
    for (const std::int64_t i : spoilt) p.set(i, -1.0f);
    const Comparison c = p.judged(parts_);
    bool in_order = c.first.size() == 10;
    for (std::size_t k = 0; in_order && k < c.first.size(); ++k) in_order = c.first[k].index == spoilt[k];
    expect(c.misses == static_cast<std::int64_t>(spoilt.size()) && in_order,
           "all misses of a long array are found, and listed in order");
  }

  void outputs_never_written() {
    for (const Poison poison : {Poison::nan_payload, Poison::sentinel_a, Poison::sentinel_b}) {
      Probe p(kSize);
      for (std::int64_t i = 0; i < kSize; ++i) p.poison(i, poison);
      expect(p.misses(parts_, poison) == kSize, "an output that was never written is all misses");
    }
    const Comparison c = Probe(0).judged(parts_);
    expect(c.misses == 0 && std::isfinite(c.max_ratio) && c.max_ratio == 0,
           "an empty output has ratio 0, not the maximum of nothing");
  }

  [[nodiscard]] Trespass::Kind trespass_of(const Probe& p) const {
    return parts_.find_trespass(p.layout, p.before.data(), p.after.data()).kind;
  }

  void memory() {
    const Probe right(kSize);
    expect(trespass_of(right) == Trespass::Kind::none, "writing outputs alone is no trespass");
    Probe past(kSize);
    past.after[static_cast<std::size_t>(past.y().offset + 4 * kSize)] ^= std::byte{1};
    expect(trespass_of(past) == Trespass::Kind::guard, "one bit past the end of an output is found");
    Probe changed(kSize);
    changed.after[static_cast<std::size_t>(changed.x().offset + 4 * 17)] ^= std::byte{1};
    expect(trespass_of(changed) == Trespass::Kind::input, "a changed input is found");
  }

  void exit_codes() {
    Totals totals;
    totals.passed = 9, totals.failed = 1;
    expect(parts_.exit_code(totals) == kFailed, "one failure among passes is exit code 1");
    expect(parts_.exit_code(Totals{}) == kNothingRan, "nothing run is not success");
    Totals skipped;
    skipped.skipped = 5, skipped.without_device = 5;
    expect(parts_.exit_code(skipped) == kNoDevice, "everything skipped for want of a GPU is 77");
    skipped.without_device = 3, skipped.not_run = 2;
    expect(parts_.exit_code(skipped) == kNothingRan, "what is too large here is not for want of a GPU");
  }

  const JudgeParts& parts_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> judge_self_test(const JudgeParts& parts) { return SelfTest(parts).run(); }

namespace {

// Wrong judges: the real one with one change each.

Comparison edit_misses(const Segment& s, const std::byte* image, const Expected& expected, Poison poison,
                       bool (*excused)(double got, double want, double bound, std::int32_t terms)) {
  Comparison c = compare(s, image, expected, poison);
  c.misses = 0;
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double got = element(s, image, i), want = expected.reference->value[k],
                 bound = (*expected.bound)[k];
    const bool miss = !(std::fabs(got - want) <= bound) && !(std::isnan(got) && std::isnan(want));
    if (miss && !excused(got, want, bound, expected.reference->terms[k])) ++c.misses;
  }
  return c;
}

Comparison nan_passes(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  return edit_misses(s, image, e, p, [](double got, double want, double bound, std::int32_t) {
    return !(std::fabs(got - want) > bound);
  });
}
Comparison signs_ignored(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  return edit_misses(s, image, e, p, [](double got, double want, double bound, std::int32_t) {
    return std::fabs(std::fabs(got) - std::fabs(want)) <= bound;
  });
}
Comparison five_percent(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  return edit_misses(s, image, e, p, [](double got, double want, double, std::int32_t) {
    return std::fabs(got - want) <= 0.05 * std::fabs(want);
  });
}
Comparison error_over_k(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  return edit_misses(s, image, e, p, [](double got, double want, double bound, std::int32_t terms) {
    return std::fabs(got - want) / terms <= bound;
  });
}
Comparison scaled_by_candidate(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  return edit_misses(s, image, e, p, [](double got, double want, double bound, std::int32_t) {
    return std::fabs(got - want) <= bound / std::fabs(want) * std::fabs(got) * 1024;
  });
}
Comparison maximum_of_nothing(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  Comparison c = compare(s, image, e, p);
  if (c.elements == 0) c.max_ratio = -std::numeric_limits<double>::infinity();
  return c;
}
Comparison first_block_only(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  Segment head = s;
  head.cols = std::min<std::int64_t>(s.cols, 1024);
  return compare(head, image, e, p);
}
Comparison poison_is_right(const Segment& s, const std::byte* image, const Expected& e, Poison p) {
  Comparison c = compare(s, image, e, p);
  for (std::int64_t i = 0; i < s.elements(); ++i) {
    if (element_bits(s, image, i) == poison_bits(p, s.element_bytes())) --c.misses;
  }
  return c;
}
Trespass guards_skipped(const ImageLayout& layout, const std::byte* before, const std::byte* after) {
  const Trespass t = find_trespass(layout, before, after);
  return t.kind == Trespass::Kind::guard ? Trespass{} : t;
}
Trespass inputs_skipped(const ImageLayout& layout, const std::byte* before, const std::byte* after) {
  const Trespass t = find_trespass(layout, before, after);
  return t.kind == Trespass::Kind::input ? Trespass{} : t;
}
ExitCode always_zero(const Totals&) { return kOk; }
ExitCode skip_is_success(const Totals& t) { return t.failed > 0 ? kFailed : kOk; }

}  // namespace

std::vector<JudgeFault> judge_faults() {
  std::vector<JudgeFault> faults;
  const auto with_compare = [&](const char* name, decltype(JudgeParts::compare) f) {
    faults.push_back({name, {}});
    faults.back().parts.compare = f;
  };
  with_compare("NaN passes (if (err > bound) fail)", nan_passes);
  with_compare("signs are ignored", signs_ignored);
  with_compare("5 % relative tolerance", five_percent);
  with_compare("the error is divided by k", error_over_k);
  with_compare("the tolerance is scaled by the candidate", scaled_by_candidate);
  with_compare("the maximum over an empty range", maximum_of_nothing);
  with_compare("only the first block is compared", first_block_only);
  with_compare("an element that still holds its poison passes", poison_is_right);
  faults.push_back({"the guard check is skipped", {}});
  faults.back().parts.find_trespass = guards_skipped;
  faults.push_back({"the input check is skipped", {}});
  faults.back().parts.find_trespass = inputs_skipped;
  faults.push_back({"exit code 0 with failures", {}});
  faults.back().parts.exit_code = always_zero;
  faults.push_back({"exit code 0 when nothing ran", {}});
  faults.back().parts.exit_code = skip_is_success;
  return faults;
}

}  // namespace plumb
