#include "verify/drawing/draw.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/random.hpp"

namespace plumb {
namespace {

// Random numbers in the order they are asked for: one stream per case.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : seed_(random_bits(seed, 30, stream)) {}
  std::size_t below(std::size_t n) { return random_below(seed_, 33, next_++, n); }
  double unit() { return random_unit(seed_, 34, next_++); }
  void value(const CaseSpace& space, Point& p, std::size_t parameter, std::size_t value_class) {
    space.draw_value(p, parameter, value_class, seed_, next_++);
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

Point empty_point(const CaseSpace& space) {
  const std::size_t n = space.parameters().size();
  return {&space.parameters(), std::vector<std::size_t>(n), std::vector<std::string>(n),
          std::vector<double>(n)};
}

std::size_t class_by_weight(const Parameter& parameter, Draws& draws) {
  double total = 0;
  for (const ValueClass& c : parameter.classes) total += c.weight;
  double at = draws.unit() * total;
  for (std::size_t k = 0; k + 1 < parameter.classes.size(); ++k) {
    at -= parameter.classes[k].weight;
    if (at < 0) return k;
  }
  return parameter.classes.size() - 1;
}

// Moves extents, the largest first, to smaller classes until the point is valid. Parameters in `kept` stay.
bool shrink_to_limit(const CaseSpace& space, Point& p, const std::vector<bool>& kept, const CaseLimit& limit,
                     Draws& draws) {
  const auto& parameters = space.parameters();
  while (!space.valid(p, limit)) {
    std::size_t largest = parameters.size();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (kept[i] || parameters[i].kind != ParameterKind::extent || p.classes[i] == 0 || p.numbers[i] <= 1)
        continue;
      if (largest == parameters.size() || p.numbers[i] > p.numbers[largest]) largest = i;
    }
    if (largest == parameters.size()) return false;
    draws.value(space, p, largest, draws.below(p.classes[largest]));
  }
  return true;
}

std::string class_names(const CaseSpace& space, const Point& p) {
  std::string text;
  for (std::size_t i = 0; i < p.classes.size(); ++i) {
    const Parameter& parameter = space.parameters()[i];
    if (parameter.kind != ParameterKind::word)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", parameter.key,
                          parameter.classes[p.classes[i]].name);
  }
  return text;
}

// The pairs of classes not met yet: one flag per pair of (parameter, class).
class OpenPairs {
 public:
  explicit OpenPairs(const CaseSpace& space) : space_(space) {
    for (const Parameter& p : space.parameters()) first_.push_back(total_), total_ += p.classes.size();
    open_.assign(total_ * total_, 1);
  }
  [[nodiscard]] bool open(const ClassPair& pair) const { return open_[at(pair)] != 0; }
  void close(const ClassPair& pair) { open_[at(pair)] = 0; }
  /// Closes what `p` meets; returns how many pairs were open.
  std::size_t close_all(const Point& p) {
    std::size_t closed = 0;
    for_each_pair(p, [&](const ClassPair& pair) { closed += open_[at(pair)], open_[at(pair)] = 0; });
    return closed;
  }
  template <class F>
  void for_each_pair(const Point& p, F&& f) const {
    for (std::size_t a = 0; a < p.classes.size(); ++a) {
      for (std::size_t b = a + 1; b < p.classes.size(); ++b) {
        if (p.classes[a] < classes(a) && p.classes[b] < classes(b))
          f(ClassPair{a, p.classes[a], b, p.classes[b]});
      }
    }
  }
  template <class F>
  void for_each(F&& f) const {
    const std::size_t n = space_.parameters().size();
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t ca = 0; ca < classes(a); ++ca) {
        for (std::size_t b = a + 1; b < n; ++b) {
          for (std::size_t cb = 0; cb < classes(b); ++cb) f(ClassPair{a, ca, b, cb});
        }
      }
    }
  }

 private:
  [[nodiscard]] std::size_t classes(std::size_t parameter) const {
    return space_.parameters()[parameter].classes.size();
  }
  [[nodiscard]] std::size_t at(const ClassPair& p) const {
    return (first_[p.first_parameter] + p.first_class) * total_ + first_[p.second_parameter] + p.second_class;
  }
  const CaseSpace& space_;
  std::vector<std::size_t> first_;
  std::size_t total_ = 0;
  std::vector<std::uint8_t> open_;
};

// Builds cases around one open pair at a time.
class CoverBuilder {
 public:
  CoverBuilder(const CaseSpace& space, std::uint64_t seed, const CaseLimit& limit)
      : space_(space), seed_(seed), limit_(limit), open_(space) {}

  Cover build() {
    Cover cover;
    open_.for_each([&](const ClassPair& pair) {
      if (!open_.open(pair)) return;
      const std::optional<Point> p = around(pair);
      if (!p) {
        open_.close(pair);
        cover.impossible.push_back(pair);
        return;
      }
      cover.pairs += open_.close_all(*p);
      Case c = space_.make(*p, cover.cases.size() + 1);
      c.why = describe(space_, pair);
      cover.cases.push_back(std::move(c));
    });
    // a pair called impossible may have been met by a later case
    const std::vector<ClassPair> met = pairs_met(space_, cover.cases);
    std::erase_if(cover.impossible, [&](const ClassPair& pair) {
      return std::find(met.begin(), met.end(), pair) != met.end();
    });
    return cover;
  }

 private:
  static constexpr int kTries = 300;     // starts per pair before it is called impossible
  static constexpr int kCandidates = 4;  // classes tried per free parameter

  std::optional<Point> around(const ClassPair& pair) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      Draws draws(seed_, ++drawn_);
      Point p = start(pair, attempt, draws);
      std::vector<bool> kept(p.classes.size());
      kept[pair.first_parameter] = kept[pair.second_parameter] = true;
      if (!shrink_to_limit(space_, p, kept, limit_, draws)) continue;
      improve(p, kept, draws);
      return p;
    }
    return std::nullopt;
  }

  // The pair's classes, with small, empty and drawn extents in turn.
  Point start(const ClassPair& pair, int attempt, Draws& draws) {
    Point p = empty_point(space_);
    for (std::size_t i = 0; i < p.classes.size(); ++i) {
      const Parameter& parameter = space_.parameters()[i];
      std::size_t c = 0;
      if (i == pair.first_parameter) {
        c = pair.first_class;
      } else if (i == pair.second_parameter) {
        c = pair.second_class;
      } else if (parameter.kind == ParameterKind::extent && attempt % 3 != 2) {
        c = attempt % 3 == 0 ? cheap(parameter) : 0;
      } else if (attempt > 0) {
        c = draws.below(parameter.classes.size());
      }
      draws.value(space_, p, i, c);
    }
    return p;
  }
  // The first class of an extent with a value above 1: not degenerate, and small.
  static std::size_t cheap(const Parameter& parameter) {
    for (std::size_t c = 0; c < parameter.classes.size(); ++c) {
      const ValueClass& v = parameter.classes[c];
      if (v.words.empty() ? v.low > 1 : v.words.front() != "0" && v.words.front() != "1") return c;
    }
    return 0;
  }

  // Each free parameter in a drawn order takes the class, among a few, that meets the most open pairs and leaves the point valid.
  void improve(Point& p, const std::vector<bool>& kept, Draws& draws) {
    std::vector<std::size_t> order(p.classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
    for (const std::size_t parameter : order) {
      if (kept[parameter]) continue;
      const std::size_t classes = space_.parameters()[parameter].classes.size();
      std::size_t most = gain(p);
      for (int k = 0; k < kCandidates; ++k) {
        Point other = p;
        draws.value(space_, other, parameter, draws.below(classes));
        if (const std::size_t g = gain(other); g > most && space_.valid(other, limit_))
          p = std::move(other), most = g;
      }
    }
  }
  std::size_t gain(const Point& p) const {
    std::size_t n = 0;
    open_.for_each_pair(p, [&](const ClassPair& pair) { n += open_.open(pair) ? 1 : 0; });
    return n;
  }

  const CaseSpace& space_;
  std::uint64_t seed_, drawn_ = 0;
  CaseLimit limit_;
  OpenPairs open_;
};

}  // namespace

Case draw_case(const CaseSpace& space, std::uint64_t seed, std::uint64_t number, const CaseLimit& limit) {
  Draws draws(seed, number);
  const auto& parameters = space.parameters();
  for (int attempt = 0; attempt < 256; ++attempt) {
    Point p = empty_point(space);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      draws.value(space, p, i, class_by_weight(parameters[i], draws));
    std::vector<bool> kept(parameters.size());
    kept[draws.below(parameters.size())] = true;
    if (!shrink_to_limit(space, p, kept, limit, draws)) continue;
    Case c = space.make(p, random_bits(seed, 35, number) >> 24);
    c.why = class_names(space, p);
    return c;
  }
  throw Error(
      fmt::format("{}: 256 draws gave no case within the limit of {:.3g} elements and {:.3g} multiply-adds",
                  space.op(), limit.elements, limit.work));
}

std::string describe(const CaseSpace& space, const ClassPair& pair) {
  const Parameter &a = space.parameters()[pair.first_parameter],
                  &b = space.parameters()[pair.second_parameter];
  return fmt::format("{}: {} with {}: {}", a.key, a.classes[pair.first_class].name, b.key,
                     b.classes[pair.second_class].name);
}

Cover cover_pairs(const CaseSpace& space, std::uint64_t seed, const CaseLimit& limit) {
  return CoverBuilder(space, seed, limit).build();
}

std::vector<ClassPair> pairs_met(const CaseSpace& space, const std::vector<Case>& cases) {
  std::vector<ClassPair> met;
  const OpenPairs pairs(space);
  for (const Case& c : cases) {
    if (const std::optional<Point> p = space.locate(c))
      pairs.for_each_pair(*p, [&](const ClassPair& pair) { met.push_back(pair); });
  }
  return met;
}

}  // namespace plumb
