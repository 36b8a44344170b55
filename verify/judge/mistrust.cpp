#include "verify/judge/mistrust.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include "reference/arithmetic/cell.hpp"
#include "verify/judge/elements.hpp"

namespace plumb {
namespace {

// What one output's reference shows.
struct Survey {
  bool varies = false;          // two elements differ
  bool zeros_pass = true;       // every element is within its bound of 0
  std::int64_t inexact = -1;    // the first element whose partial sums cannot be exact
  std::int64_t unbounded = -1;  // the first element of which nothing can be said
};

Survey survey(const ReferenceArray& array, Format kind, const LargeArray<double>& bound, double exact_limit) {
  const auto n = static_cast<std::int64_t>(array.value.size());
  bool varies = false, zeros_pass = true;
  std::int64_t inexact = n, unbounded = n;
#pragma omp parallel for schedule(static) reduction(|| : varies) reduction(&& : zeros_pass) reduction(min : inexact, unbounded) if (n > 8 * kStretch)
  for (std::int64_t at = 0; at < n; ++at) {
    const auto i = static_cast<std::size_t>(at);
    varies = varies || !(array.value[i] == array.value[0]);
    const bool in_cell = is_narrow(kind) && std::isfinite(array.value[i]);  // NaN has none, and is no zero
    const double of_zero = in_cell ? distance_from_cell(kind, 0, array.value[i]) : std::fabs(array.value[i]);
    zeros_pass = zeros_pass && of_zero <= bound[i];
    if (array.magnitude[i] > exact_limit) inexact = std::min(inexact, at);
    if (std::isinf(bound[i])) unbounded = std::min(unbounded, at);
  }
  return {varies, zeros_pass, inexact < n ? inexact : -1, unbounded < n ? unbounded : -1};
}

// Sums of integers are exact up to here; there is no limit where bits are not compared.
double exact_limit(const Case& c, const Segment& s) {
  if (!is_bitwise(c.fill) || !is_floating(s.kind)) return HUGE_VAL;
  return 1 / facts(facts(c.dtype).accumulate).unit;  // 2^digits
}

std::string survey_all(const Case& c, PreparedCase& prepared) {
  const Reference& reference = prepared.reference();
  ImageLayout layout{Placement{}};
  (void)prepared.place(layout);
  std::size_t o = 0;
  std::int64_t elements = 0;
  bool varies = false, zeros_pass = true;
  for (const Segment& s : layout.segments()) {
    if (!s.output) continue;
    if (o >= reference.outputs.size()) return "the oracle has fewer outputs than the contract";
    const ReferenceArray& array = reference.outputs[o];
    if (static_cast<std::int64_t>(array.value.size()) != s.elements()) {
      return fmt::format("the oracle gives {} elements for {}, the contract {}", array.value.size(), s.name,
                         s.elements());
    }
    elements += s.elements();
    const Survey seen =
        survey(array, s.kind, prepared.bounds(static_cast<int>(o), Arithmetic::native), exact_limit(c, s));
    if (seen.inexact >= 0) {
      return fmt::format(
          "element {} of {} sums magnitudes to {:.3g}: its partial sums are not exact in {}: draw smaller "
          "numbers or fewer terms in make()",
          seen.inexact, s.name, array.magnitude[static_cast<std::size_t>(seen.inexact)], name(c.dtype));
    }
    if (seen.unbounded >= 0) {
      return fmt::format(
          "nothing can be said of {}: it is divided by 0, such as a mean of nothing, or by a difference that "
          "cancels, has a root or a logarithm of what may be negative, or is beyond the range of {}: change "
          "the data, or write the formula without it, as in where(count > A(0), sum / count, A(0))",
          place_of(s, seen.unbounded), name(c.dtype));
    }
    varies = varies || seen.varies, zeros_pass = zeros_pass && seen.zeros_pass;
    ++o;
  }
  if (elements == 0 || prepared.degenerate()) return {};
  if (!varies && elements > 1)
    return "the reference is constant: change the data, or mark the instance degenerate in make()";
  if (zeros_pass)
    return "an output of zeros would pass: change the data, or mark the instance degenerate in make()";
  return {};
}

}  // namespace

std::string why_mistrusted(const Case& c, PreparedCase& prepared) {
  try {
    return survey_all(c, prepared);
  } catch (const std::bad_alloc& e) { throw_no_memory(c, e); }
}

}  // namespace plumb
