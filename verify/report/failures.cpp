#include "verify/report/failures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reference/core/error.hpp"

namespace plumb {
namespace {

constexpr std::size_t kMostKept = 500;  // records of one variant
constexpr std::int64_t kShareOfPasses = 4;

using Outcomes = CommonParameters::Outcomes;

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The values of a parameter in order; none where one of them is no number.
std::vector<std::pair<double, Outcomes>> numbers_of(const CommonParameters::Values& values) {
  std::vector<std::pair<double, Outcomes>> sorted;
  for (const auto& [value, outcomes] : values) {
    const auto n = number(value);
    if (!n) return {};
    sorted.emplace_back(*n, outcomes);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return sorted;
}

// A parameter that counts nothing: some of its values are fractions, or below 0.
bool is_factor(const std::vector<std::pair<double, Outcomes>>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const auto& v) { return v.first < 0 || v.first != std::floor(v.first); });
}

void add(Outcomes& to, const Outcomes& more) { to.failed += more.failed, to.passed += more.passed; }

// Offers each limit between the values of one parameter: "rows <= 3", "rows >= 257"; of a factor also whether it is 0 or 1.
template <class Offer>
void offer_limits(const std::string& key, const std::vector<std::pair<double, Outcomes>>& sorted,
                  const Offer& offer) {
  Outcomes below, above, plain, other;
  for (const auto& [value, o] : sorted) {
    add(value == 0 || value == 1 ? plain : other, o), add(below, o);
    offer(fmt::format("{} <= {}", key, value), below);
  }
  for (auto at = sorted.rbegin(); at != sorted.rend(); ++at) {
    add(above, at->second);
    offer(fmt::format("{} >= {}", key, at->first), above);
  }
  if (!is_factor(sorted)) return;
  offer(fmt::format("{} neither 0 nor 1", key), other);
  offer(fmt::format("{} 0 or 1", key), plain);
}

// The number of multiplications of its sizes, as far as its parameters tell; as a logarithm.
double size_of(const Case& c) {
  double size = 0;
  for (const auto& [key, value] : c.params) {
    const auto n = number(value);
    if (n && *n > 1 && *n == std::floor(*n)) size += std::log2(*n);
  }
  return size;
}

std::string parameters_of(const Record& r) {
  return r.case_id.substr(std::min(r.case_id.find('('), r.case_id.size()));
}

}  // namespace

void CommonParameters::count(const Record& r, const Case& c) {
  const bool failed = is_failed(r.verdict);
  const auto count_one = [&](Outcomes& o) { ++(failed ? o.failed : o.passed); };
  count_one(all_);
  for (const std::string& held : r.data) count_one(data_[held]);
  count_one(values_["type"][r.dtype]), count_one(values_["fill"][std::string(name(c.fill))]);
  for (const auto& [key, value] : c.params) count_one(values_[key][value]);
}

std::string CommonParameters::telling(std::int64_t& passes) const {
  std::string found;
  passes = all_.passed + 1;
  const auto offer = [&](std::string text, const Outcomes& o) {
    if (o.failed == all_.failed && o.passed < passes) passes = o.passed, found = std::move(text);
  };
  for (const auto& [held, outcomes] : data_) offer(held, outcomes);
  for (const auto& [key, values] : values_) {
    for (const auto& [value, outcomes] : values) offer(fmt::format("{}={}", key, value), outcomes);
  }
  for (const auto& [key, values] : values_) offer_limits(key, numbers_of(values), offer);
  return kShareOfPasses * passes > all_.passed ? "" : found;
}

std::vector<std::string> CommonParameters::shared() const {
  std::vector<std::string> phrases;
  if (all_.failed < 2) return phrases;
  std::int64_t passes = 0;
  const std::string best = all_.passed > 0 ? telling(passes) : "";
  for (const auto& [key, values] : values_) {
    for (const auto& [value, o] : values) {
      const std::string phrase = fmt::format("{}={}", key, value);
      if (o.failed == all_.failed && o.passed < all_.passed && phrase != best) phrases.push_back(phrase);
    }
  }
  if (!best.empty())
    phrases.push_back(passes == 0 ? best + " (none that pass)"
                                  : fmt::format("{} (as {} of {} that pass)", best, passes, all_.passed));
  return phrases;
}

std::vector<std::string> CommonParameters::range() const {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> phrases;
  for (const auto& [key, values] : values_) {
    std::vector<std::string> failing;
    Values of_failures;
    for (const auto& [value, o] : values) {
      if (o.failed > 0) failing.push_back(value), of_failures[value] = o;
    }
    const auto sorted = numbers_of(of_failures), all = numbers_of(values);
    if (failing.empty() || (failing.size() == values.size() && key != "type" && key != "fill")) continue;
    if (failing.size() <= kNamed)
      phrases.push_back(fmt::format("{} {}", key, fmt::join(failing, ", ")));
    else if (all.empty())
      phrases.push_back(fmt::format("{} of {} values of {}", failing.size(), values.size(), key));
    else if (sorted.front().first != all.front().first || sorted.back().first != all.back().first)
      phrases.push_back(fmt::format("{} {} to {}", key, sorted.front().first, sorted.back().first));
  }
  return phrases;
}

std::string FailedVariant::headline() const {
  if (variant == kTheCaseItself)
    return fmt::format("{} {} of {} {} nothing", failed, failed == 1 ? "case" : "cases", op,
                       failed == 1 ? "proves" : "prove");
  const std::int64_t judged = failed + passed;
  return fmt::format("{} of {} {} of {} ({}) {}", failed, judged, judged == 1 ? "case" : "cases", variant, op,
                     failed == 1 ? "fails" : "fail");
}

std::vector<std::string> FailedVariant::lines() const {
  if (variant == kTheCaseItself || failed < 2) return {};
  std::vector<std::string> counts, shared = common.shared();
  for (const auto& [verdict, count] : verdicts) counts.push_back(fmt::format("{} {}", name(verdict), count));
  if (verdicts.size() == 1)
    shared.insert(shared.begin(), fmt::format("verdict {}", name(verdicts.begin()->first)));
  std::vector<std::string> lines;
  lines.push_back(shared.empty() ? "in common: nothing that the case ids tell"
                                 : fmt::format("in common: {}", fmt::join(shared, "; ")));
  if (verdicts.size() > 1) lines.push_back(fmt::format("verdicts: {}", fmt::join(counts, ", ")));
  lines.push_back(fmt::format("occur with: {}", fmt::join(common.range(), "; ")));
  return lines;
}

std::vector<const Record*> FailedVariant::smallest(std::size_t most) const {
  std::vector<const Record*> chosen;
  std::set<Verdict> kinds;
  const auto told = [&](const Record& r) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const Record* have) {
      const bool alike = have->verdict == r.verdict && have->reason == r.reason;
      const bool both_empty = have->wrote == Wrote::nothing && r.wrote == Wrote::nothing;
      return alike || both_empty || parameters_of(*have) == parameters_of(r);
    });
  };
  for (const auto& [size, r] : records) {
    if (chosen.size() < most && kinds.insert(r.verdict).second) chosen.push_back(&r);
  }
  for (const auto& [size, r] : records) {
    if (chosen.size() < most && !told(r)) chosen.push_back(&r);
  }
  return chosen;
}

void Failures::count(const Record& r) {
  const bool failed = is_failed(r.verdict);
  if (!failed && !is_passed(r.verdict)) return;
  const auto [at, is_new] = at_.emplace(r.op + " " + r.variant, variants_.size());
  if (is_new) variants_.push_back({r.op, r.variant, 0, 0, {}, {}, {}});
  FailedVariant& v = variants_[at->second];
  ++(failed ? v.failed : v.passed);
  double size = 0;
  try {
    const Case c = parse_case(r.case_id);
    v.common.count(r, c);
    size = size_of(c);
  } catch (const Error&) {}  // a record of compute-sanitizer need not have a case
  if (!failed) return;
  ++v.verdicts[r.verdict];
  v.records.emplace(size, r);
  if (v.records.size() > kMostKept) v.records.erase(std::prev(v.records.end()));
}

std::vector<const FailedVariant*> Failures::variants() const {
  std::vector<const FailedVariant*> failed;
  for (const FailedVariant& v : variants_) {
    if (v.failed > 0) failed.push_back(&v);
  }
  return failed;
}

}  // namespace plumb
