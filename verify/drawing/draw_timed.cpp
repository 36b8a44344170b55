#include "verify/drawing/draw_timed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/cases/case_words.hpp"
#include "reference/core/error.hpp"
#include "reference/core/random.hpp"
#include "verify/drawing/draws.hpp"

namespace plumb {
namespace {

constexpr double kOfFamilies = 0.5;  // the share of cases that take a shape of a family

double log_uniform(double low, double high, Draws& draws) { return low * std::pow(high / low, draws.unit()); }

// Operators draw apart: else the cases of one number would be alike in size and shape.
std::uint64_t seed_of(const std::string& op, std::uint64_t seed) {
  for (const char letter : op) seed = random_bits(seed, 37, static_cast<unsigned char>(letter));
  return seed;
}

// Below 8 every number is round. A width or depth is round as a power of two, a size as a multiple of one.
std::int64_t made_round(double value, bool grows) {
  if (value < 8) return std::llround(value);
  if (!grows) return std::int64_t{1} << std::lround(std::log2(value));
  const double step = std::min(64.0, std::exp2(std::floor(std::log2(value / 8))));
  return std::llround(value / step) * static_cast<std::int64_t>(step);
}

// One case: what is drawn once, and the scale that its size asks for.
class TimedDraw {
 public:
  TimedDraw(const CaseSpace& space, const TimedSize& size, const std::string& dtype, Draws& draws)
      : space_(space), size_(size), point_(empty_point(space)), shapes_(space.parameters().size()) {
    const auto& parameters = space.parameters();
    for (const Parameter& p : parameters) values_.push_back(p.timed);
    if (!space.timed_families().empty() && draws.unit() < kOfFamilies) take_shape(draws);
    for (std::size_t i = 0; i < parameters.size(); ++i) draw(i, parameters[i], dtype, draws);
    scale(log_uniform(size.least_bytes, size.most_bytes, draws));
  }
  [[nodiscard]] const Point& point() const { return point_; }

 private:
  struct Shape {
    double base = 0;
    bool round = false;
    std::size_t like = 0;  // the parameter whose value this one takes; its own index: none
  };

  // The values that a shape of a family says, in place of the description's.
  void take_shape(Draws& draws) {
    const std::vector<TimedFamily>& families = space_.timed_families();
    const TimedFamily& family = families[draws.below(families.size())];
    const std::string& shape = family.shapes[draws.below(family.shapes.size())];
    const bool noisy = draws.unit() < 0.5;
    std::map<std::string, std::string> made;  // numbers of one value stay equal
    for (auto& [i, timed] : space_.timed_shape(shape)) {
      for (std::string& word : timed.words) {
        const double share = std::pow(1 + family.noise, 2 * draws.unit() - 1);
        if (!noisy || values_[i].high == 0) continue;
        word = made.try_emplace(word, with_noise(word, share)).first->second;
      }
      values_[i] = std::move(timed);
    }
  }
  static std::string with_noise(const std::string& word, double share) {
    const double value = std::stod(word);
    return std::to_string(std::max<std::int64_t>(1, std::llround(value * share)));
  }

  void draw(std::size_t i, const Parameter& p, const std::string& dtype, Draws& draws) {
    if (p.kind == ParameterKind::derived) return;
    const TimedValues& timed = values_[i];
    // in this order and always, so that a case follows from few numbers
    const double alike = draws.unit(), round = draws.unit();
    shapes_[i].like = !timed.like.empty() && alike < timed.alike ? space_.index(timed.like) : i;
    shapes_[i].round = round < 0.5;
    if (!timed.words.empty()) {
      const std::string& word = timed.words[draws.below(timed.words.size())];
      space_.set(point_, i, shapes_[i].like == i ? word : point_.words[shapes_[i].like]);
    } else if (timed.high > 0) {
      shapes_[i].base = log_uniform(static_cast<double>(timed.low), static_cast<double>(timed.high), draws);
      put(i, shapes_[i].base);
    } else if (p.kind == ParameterKind::extent) {
      throw Error(fmt::format("{}: '{}' has no sizes for timing: timed_size() or timed_range() in describe()",
                              space_.op(), p.key));
    } else {
      space_.set(point_, i, p.key == kDtypeKey ? dtype : p.key == "fill" ? "real" : p.simplest);
    }
  }

  void put(std::size_t i, double value) {
    const TimedValues& timed = values_[i];
    const std::int64_t whole =
        shapes_[i].round ? made_round(value, timed.grows) : static_cast<std::int64_t>(std::llround(value));
    space_.set(point_, i, std::to_string(std::clamp(whole, timed.low, timed.high)));
  }
  void put_sizes(double factor) {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      if (!values_[i].grows) continue;
      if (shapes_[i].like == i) {
        put(i, shapes_[i].base * factor);
      } else {
        space_.set(point_, i, point_.words[shapes_[i].like]);
      }
    }
  }

  // The largest factor within all limits: sizes grow with it, but for the steps of round extents.
  void scale(double bytes) {
    double low = -60, high = 60;  // powers of two
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      put_sizes(std::exp2(middle));
      const bool fits = space_.bytes(point_) <= bytes && space_.multiply_adds(point_) <= size_.most_work &&
                        space_.entries(point_) <= size_.most_entries;
      (fits ? low : high) = middle;
    }
    put_sizes(std::exp2(low));
  }

  const CaseSpace& space_;
  const TimedSize& size_;
  Point point_;
  std::vector<Shape> shapes_;
  std::vector<TimedValues> values_;  // of the parameters, as the case's shape has them
};

}  // namespace

Case draw_timed_case(const CaseSpace& space, std::uint64_t seed, std::uint64_t number,
                     const TimedSize& size) {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::vector<ValueClass>& types = space.parameters()[space.index(kDtypeKey)].classes;
  const std::string& dtype = types[number % types.size()].words.front();
  const std::uint64_t own_seed = seed_of(space.op(), seed);
  Draws draws(own_seed, number);
  for (int attempt = 0; attempt < 256; ++attempt) {
    const TimedDraw drawn(space, size, dtype, draws);
    const Point& p = drawn.point();
    if (!space.valid(p, {kNone, kNone}) || !space.worth_timing(p) || space.idle(p)) continue;
    // the extents of some shapes end before the case is as small, or as large, as any is to be
    if (space.bytes(p) > size.most_bytes || space.multiply_adds(p) > size.most_work) continue;
    Case c = space.make(p, random_bits(own_seed, 36, number) >> 24);
    c.why = "drawn for timing";
    return c;
  }
  throw Error(
      fmt::format("{}: 256 draws gave no case for timing of at most {:.3g} bytes and {:.3g} multiply-adds",
                  space.op(), size.most_bytes, size.most_work));
}

}  // namespace plumb
