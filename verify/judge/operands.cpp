#include "verify/judge/operands.hpp"

#include <algorithm>
#include <cmath>

#include "reference/arithmetic/fp.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 26;
constexpr const char* kNanIn = "NaN in ";

double value_of(const Segment& s, std::int64_t i, std::int64_t j) {
  const Format held = s.source_kind == Format::none ? s.kind : s.source_kind;
  return decode(held, static_cast<const std::byte*>(s.source) + (i * s.source_ld + j) * facts(held).bytes);
}

// What values hold, row by row.
struct Seen {
  bool nan = false, infinite = false, cancels = false;

  // values(n) for n in [begin, end) are one row.
  template <class Values>
  void add_row(std::int64_t begin, std::int64_t end, const Values& values) {
    NeumaierSum<double> sum;
    std::int64_t terms = 0;
    bool finite = true;
    for (std::int64_t n = begin; n < end; ++n) {
      const double v = values(n);
      nan = nan || std::isnan(v), infinite = infinite || std::isinf(v);
      finite = finite && std::isfinite(v);
      if (finite) sum.add(v);
      terms += v != 0 ? 1 : 0;
    }
    cancels = cancels || (finite && terms >= 2 && sum.value() == 0);
  }
};

// The row pointers of a sparse operand whose values these are; null where they are no such thing.
const Segment* row_pointers(const std::vector<Segment>& arrays, const std::string& values) {
  if (!values.ends_with(".val")) return nullptr;
  const std::string name = values.substr(0, values.size() - 3) + "row_ptr";
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const Segment& s) { return s.name == name; });
  return found != arrays.end() && found->source != nullptr ? &*found : nullptr;
}

Seen look_at(const std::vector<Segment>& arrays, const Segment& s) {
  Seen seen;
  if (const Segment* const pointers = row_pointers(arrays, s.name)) {
    const auto* row_ptr = static_cast<const std::int32_t*>(pointers->source);
    for (std::int64_t i = 0; i + 1 < pointers->cols; ++i)
      seen.add_row(row_ptr[i], row_ptr[i + 1], [&](std::int64_t n) { return value_of(s, 0, n); });
    return seen;
  }
  for (std::int64_t i = 0; i < s.rows; ++i)
    seen.add_row(0, s.cols, [&](std::int64_t j) { return value_of(s, i, j); });
  return seen;
}

}  // namespace

std::vector<std::string> describe_operands(const std::vector<Segment>& arrays) {
  std::int64_t all = 0;
  for (const Segment& s : arrays) all += s.elements();
  std::vector<std::string> found;
  for (const Segment& s : arrays) {
    if (s.output || !is_floating(s.kind) || s.source == nullptr || all > kMostValues) continue;
    const Seen seen = look_at(arrays, s);
    if (seen.nan) found.push_back(kNanIn + s.name);
    if (seen.infinite) found.push_back("infinities in " + s.name);
    if (seen.cancels) found.push_back("rows of " + s.name + " that cancel");
  }
  return found;
}

bool hold_nan(const std::vector<std::string>& operands) {
  return std::any_of(operands.begin(), operands.end(),
                     [](const std::string& o) { return o.starts_with(kNanIn); });
}

}  // namespace plumb
