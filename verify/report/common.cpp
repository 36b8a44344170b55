#include "verify/report/common.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reference/core/case_id.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void CommonParameters::count(const Record& r) {
  const bool failed = is_failed(r.verdict) && r.verdict != Verdict::mistrusted;
  if (!failed && !is_passed(r.verdict)) return;
  Case c;
  try {
    c = parse_case(r.case_id);
  } catch (const Error&) { return; }  // a record of compute-sanitizer need not have a case
  Variant& v = variants_[r.op + " " + r.variant];
  const auto add = [&](const std::string& key, const std::string& value) {
    Outcomes& o = v.values[key][value];
    ++(failed ? o.failed : o.passed);
  };
  ++(failed ? v.all.failed : v.all.passed);
  for (const std::string& held : r.data) {
    Outcomes& o = v.data[held];
    ++(failed ? o.failed : o.passed);
  }
  add("type", r.dtype), add("fill", std::string(name(c.fill)));
  for (const auto& [key, value] : c.params) add(key, value);
}

// A parameter that counts nothing: some of its values are fractions, or below 0.
bool is_factor(const std::vector<std::pair<double, CommonParameters::Outcomes>>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const auto& v) { return v.first < 0 || v.first != std::floor(v.first); });
}

std::string CommonParameters::best(const Variant& v, std::int64_t& passes) {
  std::string found;
  passes = v.all.passed + 1;
  const auto offer = [&](std::string text, const Outcomes& o) {
    if (o.failed == v.all.failed && o.passed < passes) passes = o.passed, found = std::move(text);
  };
  for (const auto& [held, outcomes] : v.data) offer(held, outcomes);
  for (const auto& [key, values] : v.values) {
    for (const auto& [value, outcomes] : values) offer(fmt::format("{}={}", key, value), outcomes);
  }
  for (const auto& [key, values] : v.values) {
    std::vector<std::pair<double, Outcomes>> sorted;
    for (const auto& [value, outcomes] : values) {
      if (const auto n = number(value)) sorted.emplace_back(*n, outcomes);
    }
    if (sorted.size() != values.size()) continue;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Outcomes below, above, plain, other;
    for (const auto& [value, o] : sorted) {
      Outcomes& of = value == 0 || value == 1 ? plain : other;
      of.failed += o.failed, of.passed += o.passed;
    }
    if (is_factor(sorted)) {
      offer(fmt::format("{} neither 0 nor 1", key), other);
      offer(fmt::format("{} 0 or 1", key), plain);
    }
    for (const auto& [value, o] : sorted) {
      below.failed += o.failed, below.passed += o.passed;
      offer(fmt::format("{} <= {}", key, value), below);
    }
    for (auto at = sorted.rbegin(); at != sorted.rend(); ++at) {
      above.failed += at->second.failed, above.passed += at->second.passed;
      offer(fmt::format("{} >= {}", key, at->first), above);
    }
  }
  return found;
}

std::vector<std::string> CommonParameters::lines(std::size_t most) const {
  std::vector<std::string> all;
  for (const auto& [variant, v] : variants_) {
    if (v.all.failed < 2 || v.all.passed < 1 || all.size() == most) continue;
    std::int64_t passes = 0;
    const std::string what = best(v, passes);
    if (what.empty() || 4 * passes > v.all.passed) continue;
    all.push_back(fmt::format("{0} of {0} failures and {1} of {2} passes of {3} have {4}", v.all.failed,
                              passes, v.all.passed, variant, what));
  }
  return all;
}

}  // namespace plumb
