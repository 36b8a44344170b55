#include "verify/drawing/shrink.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace plumb {
namespace {

class Shrinker {
 public:
  Shrinker(const CaseSpace& space, Point start, std::uint64_t seed,
           const std::function<bool(const Case&)>& fails, int most_runs)
      : space_(space), point_(std::move(start)), seed_(seed), fails_(fails), most_runs_(most_runs) {}

  void run() {
    bool changed = true;
    while (changed && runs_ < most_runs_) {
      changed = false;
      for (std::size_t i = 0; i < point_.words.size(); ++i) changed |= reduce(i);
      if (seed_ != 1) changed |= accept(point_, 1);
    }
  }
  [[nodiscard]] Shrunk result() const { return {space_.make(point_, seed_), runs_}; }

 private:
  bool accept(const Point& p, std::uint64_t seed) {
    static constexpr double kNone = std::numeric_limits<double>::infinity();
    if (runs_ >= most_runs_ || !space_.valid(p, {kNone, kNone})) return false;
    ++runs_;
    if (!fails_(space_.make(p, seed))) return false;
    point_ = p, seed_ = seed;
    return true;
  }
  bool try_word(std::size_t parameter, const std::string& word) {
    if (point_.words[parameter] == word) return false;
    Point p = point_;
    space_.set(p, parameter, word);
    return accept(p, seed_);
  }
  bool reduce(std::size_t parameter) {
    const Parameter& known = space_.parameters()[parameter];
    if (known.kind == ParameterKind::derived) return false;
    if (known.kind == ParameterKind::extent) return bisect(parameter);
    if (known.kind == ParameterKind::scalar)
      return try_word(parameter, known.simplest) || to_integer(parameter);
    for (const ValueClass& simpler :
         known.classes) {  // in the order of the description: the first that still fails
      if (simpler.words.front() == point_.words[parameter]) return false;
      if (try_word(parameter, simpler.words.front())) return true;
    }
    return false;
  }
  bool to_integer(std::size_t parameter) {
    return point_.numbers[parameter] != std::floor(point_.numbers[parameter]) && try_word(parameter, "3");
  }
  // The smallest value that still fails, if failing is monotone; some smaller one otherwise.
  bool bisect(std::size_t parameter) {
    const double before = point_.numbers[parameter];
    auto low = std::int64_t{0}, high = static_cast<std::int64_t>(std::ceil(before));
    while (low < high && runs_ < most_runs_) {
      const std::int64_t middle = low + (high - low) / 2;
      if (static_cast<double>(middle) < before && try_word(parameter, std::to_string(middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return point_.numbers[parameter] < before;
  }

  const CaseSpace& space_;
  Point point_;
  std::uint64_t seed_;
  const std::function<bool(const Case&)>& fails_;
  int most_runs_, runs_ = 0;
};

}  // namespace

Shrunk shrink_case(const CaseSpace& space, const Case& failing, const std::function<bool(const Case&)>& fails,
                   int most_runs) {
  std::optional<Point> start = space.locate(failing);
  if (!start) return {failing, 0};
  Shrinker shrinker(space, std::move(*start), failing.seed, fails, most_runs);
  shrinker.run();
  return shrinker.result();
}

}  // namespace plumb
