#include "verify/drawing/open_tuples.hpp"

#include <utility>

namespace plumb {

OpenTuples::OpenTuples(const CaseSpace& space, std::vector<Combination> combinations, Sizes sizes)
    : space_(space), combinations_(std::move(combinations)), with_(space.parameters().size()) {
  for (const Parameter& p : space.parameters()) class_count_.push_back(p.classes.size());
  std::size_t total = 0;
  for (std::size_t c = 0; c < combinations_.size(); ++c) {
    first_.push_back(total);
    see(c);
    std::size_t tuples = 1;
    for (const std::size_t parameter : combinations_[c]) tuples *= class_count_[parameter];
    total += tuples;
  }
  open_.assign(total, 1);
  close_what_is_met_once(sizes);
}

void OpenTuples::see(std::size_t combination) {
  std::vector<Member> members;
  std::size_t stride = 1;
  for (std::size_t k = combinations_[combination].size(); k-- > 0;) {
    const std::size_t parameter = combinations_[combination][k];
    members.push_back({parameter, stride});
    stride *= class_count_[parameter];
  }
  for (const Member& member : members) {
    const std::size_t sees = space_.extent_of_shape(member.parameter).value_or(member.parameter);
    Seen& seen = with_[sees].emplace_back(Seen{combination, member.parameter, member.stride});
    for (const Member& other : members) {
      if (other.parameter != member.parameter) seen.others[seen.other_count++] = other;
    }
  }
}

std::size_t OpenTuples::close_all(const Point& p) {
  std::size_t closed = 0;
  for_each_met(p, [&](std::size_t index) { ++closed, open_[index] = 0; });
  return closed;
}

std::size_t OpenTuples::open_of(const Classes& classes, bool idle) const {
  std::size_t n = 0;
  const Idleness how = idleness(classes, idle);
  for (std::size_t c = 0; c < combinations_.size(); ++c) n += open_in(c, classes, how);
  return n;
}

void OpenTuples::open_with_each(std::size_t parameter, const Classes& classes, bool idle,
                                std::vector<std::size_t>& met) const {
  const std::size_t count = class_count_[parameter];
  met.assign(count, 0);
  if (idle) {  // what sees to that may be another class of this parameter
    Classes other = classes;
    for (std::size_t k = 0; k < count; ++k) {
      other[parameter] = k;
      space_.update_shapes(other);
      const Idleness how = idleness(other, idle);
      for (const Seen& seen : with_[parameter]) met[k] += open_in(seen.combination, other, how);
    }
    return;
  }
  for (const Seen& seen : with_[parameter]) {
    const std::optional<std::size_t> first = first_beside(seen, classes);
    const bool by_shape = seen.parameter != parameter;
    for (std::size_t k = 0; first && k < count; ++k) {
      const std::size_t value_class = by_shape ? space_.shape_of(seen.parameter, k) : k;
      if (value_class < class_count_[seen.parameter]) met[k] += open_[*first + value_class * seen.stride];
    }
  }
}

// Classes that one case is enough for: they are met alone, and in every form. And three classes, one of which sees to it that nothing
// is computed: it has no part in what the others do together, and is met with each of them.
void OpenTuples::close_what_is_met_once(Sizes sizes) {
  for_each_open([&](const ClassTuple& t, std::size_t index) {
    std::size_t once = 0, forms = 0, nothings = 0;
    bool alone = false;  // a class that no other one is met with
    for (std::size_t k = 0; k < t.size; ++k) {
      alone = alone || met_once(space_, sizes, t.parameter[k], t.value_class[k]);
      once += space_.parameters()[t.parameter[k]].classes[t.value_class[k]].once ? 1 : 0;
      forms += space_.is_form(t.parameter[k]) ? 1 : 0;
      nothings += space_.is_nothing(t.parameter[k], t.value_class[k]) ? 1 : 0;
    }
    if (once > 1 || (once == 1 && forms + 1 < t.size) || (alone && t.size > 1) ||
        (nothings > 0 && t.size > 2))
      open_[index] = 0;
  });
}

OpenTuples::Idleness OpenTuples::idleness(const Classes& classes, bool idle) const {
  return {idle, idle ? space_.nothings(classes) : std::vector<std::size_t>{}};
}

// The tuple of a combination that these classes meet, in open_. A value of no class meets nothing. A case that computes nothing meets
// what is about all that sees to that: a width of 70,001 beside no rows is no test of wide rows, and none of a depth of 0.
std::optional<std::size_t> OpenTuples::met(std::size_t combination, const Classes& classes,
                                           const Idleness& how) const {
  const Combination& parameters = combinations_[combination];
  std::size_t index = 0;
  for (const std::size_t parameter : parameters) {
    const std::size_t count = class_count_[parameter], value_class = classes[parameter];
    if (value_class >= count) return std::nullopt;
    index = index * count + value_class;
  }
  if (how.idle && !is_about(how.nothings, parameters)) return std::nullopt;
  return first_[combination] + index;
}

std::size_t OpenTuples::open_in(std::size_t combination, const Classes& classes, const Idleness& how) const {
  const std::optional<std::size_t> index = met(combination, classes, how);
  return index ? open_[*index] : 0;
}

// The tuple with the first class of that parameter, in open_; nothing where another one's value is of no class.
std::optional<std::size_t> OpenTuples::first_beside(const Seen& seen, const Classes& classes) const {
  std::size_t index = first_[seen.combination];
  for (std::size_t k = 0; k < seen.other_count; ++k) {
    const Member& other = seen.others[k];
    if (classes[other.parameter] >= class_count_[other.parameter]) return std::nullopt;
    index += classes[other.parameter] * other.stride;
  }
  return index;
}

ClassTuple OpenTuples::tuple(const Combination& c, std::size_t index) const {
  ClassTuple t{c.size(), {}, {}};
  for (std::size_t k = c.size(); k-- > 0;) {
    t.parameter[k] = c[k], t.value_class[k] = index % class_count_[c[k]];
    index /= class_count_[c[k]];
  }
  return t;
}

}  // namespace plumb
