#include "verify/judge/given.hpp"

#include <algorithm>
#include <cmath>

#include "reference/core/dtype.hpp"
#include "verify/judge/choices.hpp"
#include "verify/judge/elements.hpp"

namespace plumb {
namespace {

Segment segment_of(const ArrayInfo& a) {
  Segment s;
  s.name = a.name, s.kind = a.kind, s.output = true;
  s.rows = a.rows, s.cols = s.ld = a.cols;
  return s;
}

// Whether an operand holds NaN.
bool holds_nan(const ArrayInfo& a) {
  if (a.data == nullptr || !is_floating(a.kind)) return false;
  const auto* const data = static_cast<const std::byte*>(a.data);
  for (std::int64_t i = 0; i < a.rows * a.cols; ++i) {
    if (std::isnan(decode(a.kind, data + i * a.element_bytes()))) return true;
  }
  return false;
}

}  // namespace

std::vector<GivenOutput> judge_given(const OperatorEntry& entry, const GivenCall& call,
                                     const std::vector<const void*>& outputs, Arithmetic arithmetic) {
  const std::unique_ptr<PreparedCase> prepared = entry.prepare(call);
  const Tolerance tolerance{Fill::own, arithmetic, call.dtype, true};
  const bool nan_in_data = std::any_of(call.arrays.begin(), call.arrays.end(), holds_nan);
  std::vector<Segment> segments;
  for (const ArrayInfo& a : call.arrays) {
    if (a.output) segments.push_back(segment_of(a));
  }
  std::vector<WrittenOutput> written;
  for (std::size_t o = 0; o < segments.size(); ++o)
    written.push_back({&segments[o], static_cast<const std::byte*>(outputs[o])});
  const ChosenAnswer answer(prepared->reference(), written);
  std::vector<GivenOutput> all;
  for (std::size_t o = 0; o < segments.size(); ++o) {
    const Segment& s = segments[o];
    const LargeArray<double>& bound = prepared->bounds(static_cast<int>(o), arithmetic, true);
    const Expected expected{&answer.output(o), &bound, is_floating(s.kind) ? tolerance.unit() : 0,
                            tolerance.eta(), nan_in_data};
    GivenOutput& said = all.emplace_back();
    said.name = s.name;
    said.comparison = compare(s, written[o].image, expected, Poison::nan_payload);
    answer.explain(o, said.comparison.first);
    for (std::int64_t i = 0; i < s.elements(); ++i)
      said.unbounded += std::isinf(bound[static_cast<std::size_t>(i)]) ? 1 : 0;
    for (const Miss& m : said.comparison.first) said.misses.push_back(describe_miss(s, m));
  }
  return all;
}

}  // namespace plumb
