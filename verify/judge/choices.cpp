#include "verify/judge/choices.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "verify/judge/elements.hpp"

namespace plumb {
namespace {

// What is known of one row of places while it is gone through.
class Row {
 public:
  Row(const Candidates& candidates, std::int64_t row)
      : candidates_(candidates),
        begin_(row * candidates.in_row),
        taken_(static_cast<std::size_t>(candidates.in_row)) {}

  [[nodiscard]] bool may_stand(double place, std::int64_t position) const {
    if (!candidates_.has(place)) return false;
    const auto at = static_cast<std::size_t>(begin_ + static_cast<std::int64_t>(place));
    return candidates_.first[at] <= position && position <= candidates_.last[at];
  }
  [[nodiscard]] bool is_taken(double place) const { return taken_[static_cast<std::size_t>(place)]; }
  void take(double place) { taken_[static_cast<std::size_t>(place)] = true; }

 private:
  const Candidates& candidates_;
  std::int64_t begin_;
  std::vector<bool> taken_;
};

bool is_copy(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// With as many digits as it takes.
std::string text_of(double value) {
  const auto narrow = static_cast<float>(value);
  return narrow == value ? fmt::format("{}", narrow) : fmt::format("{}", value);
}

// One row of places: `of_oracle` (cols) becomes `got` where that is legal, and elsewhere a place of the oracle's that was not chosen.
void choose_row(Row row, const double* got, double* of_oracle, std::int64_t cols) {
  std::vector<std::int64_t> open;
  const std::vector<double> offered(of_oracle, of_oracle + cols);
  for (std::int64_t p = 0; p < cols; ++p) {
    if (row.may_stand(got[p], p) && !row.is_taken(got[p])) {
      of_oracle[p] = got[p], row.take(got[p]);
    } else {
      open.push_back(p);
    }
  }
  auto next = offered.begin();
  for (const std::int64_t p : open) {
    const auto fits = [&](double place) { return !row.is_taken(place) && row.may_stand(place, p); };
    const auto found = std::find_if(next, offered.end(), fits);
    if (found == offered.end()) continue;
    of_oracle[p] = *found, row.take(*found);
    next = found;
  }
}

}  // namespace

ChosenAnswer::ChosenAnswer(const Reference& reference, const std::vector<WrittenOutput>& outputs)
    : reference_(reference), written_(outputs) {
  if (outputs.empty()) return;
  for (std::size_t o = 0; o < reference.outputs.size(); ++o) {
    if (reference.outputs[o].candidates != nullptr) take_places(o);
  }
  for (std::size_t o = 0; o < reference.outputs.size(); ++o) {
    if (reference.outputs[o].chosen_by >= 0) take_values(o);
  }
}

const ReferenceArray& ChosenAnswer::output(std::size_t o) const {
  const auto chosen = chosen_.find(o);
  return chosen == chosen_.end() ? reference_.outputs[o] : chosen->second;
}

void ChosenAnswer::take_places(std::size_t o) {
  ReferenceArray& answer = chosen_.emplace(o, reference_.outputs[o]).first->second;
  const auto* const segment = written_[o].segment;
  const auto* const image = written_[o].image;
  const std::int64_t cols = segment->cols;
#pragma omp parallel for schedule(static) if (segment->elements() > kStretch)
  for (std::int64_t i = 0; i < segment->rows; ++i) {
    std::vector<double> got(static_cast<std::size_t>(cols));
    for_each_element(*segment, image, i * cols, (i + 1) * cols, [&](std::int64_t e, const std::byte* at) {
      got[static_cast<std::size_t>(e - i * cols)] = decode(segment->kind, at);
    });
    choose_row(Row(*answer.candidates, i), got.data(), answer.value.data() + i * cols, cols);
  }
}

// A value is that of the place that was named. Where that is no legal one, it may also be that of the legal one: what is wrong is the place.
void ChosenAnswer::take_values(std::size_t o) {
  ReferenceArray& answer = chosen_.emplace(o, reference_.outputs[o]).first->second;
  const auto by = static_cast<std::size_t>(answer.chosen_by);
  const Candidates& all = *reference_.outputs[by].candidates;
  const LargeArray<double>& chosen = output(by).value;
  const WrittenOutput &values = written_[o], &places = written_[by];
  const std::int64_t cols = places.segment->cols, elements = places.segment->elements();
  for_each_element(*places.segment, places.image, 0, elements, [&](std::int64_t e, const std::byte* at) {
    const auto value_at = [&](double place) {
      return all.value_at(e / cols, static_cast<std::int64_t>(place));
    };
    const double place = chosen[static_cast<std::size_t>(e)], named = decode(places.segment->kind, at);
    double& expected = answer.value[static_cast<std::size_t>(e)];
    expected = value_at(place);
    if (place == named || !all.has(named)) return;
    if (is_copy(element(*values.segment, values.image, e), value_at(named))) expected = value_at(named);
  });
}

void ChosenAnswer::explain(std::size_t o, std::vector<Miss>& misses) const {
  const ReferenceArray& reference = reference_.outputs[o];
  if (!reference.leaves_choice()) return;
  for (Miss& m : misses) m.why = reference.candidates != nullptr ? why_no_place(o, m) : why_no_value(o, m);
}

std::string ChosenAnswer::why_no_place(std::size_t o, const Miss& m) const {
  const Segment& s = *written_[o].segment;
  const Candidates& all = *reference_.outputs[o].candidates;
  const std::int64_t row = m.index / s.cols;
  const auto value_at = [&](double place) {
    return text_of(all.value_at(row, static_cast<std::int64_t>(place)));
  };
  const std::string legal = fmt::format("legal is {:.0f}, whose value is {}", m.want, value_at(m.want));
  if (!all.has(m.got)) return fmt::format("which is no place: a row has 0 to {}; {}", all.in_row - 1, legal);
  if (Row(all, row).may_stand(m.got, m.index % s.cols)) {
    for (std::int64_t e = row * s.cols; e < (row + 1) * s.cols; ++e) {
      if (e != m.index && element(s, written_[o].image, e) == m.got)
        return fmt::format("which stands at {} too: each place stands once in a row; {}", place_of(s, e),
                           legal);
    }
  }
  const auto at = static_cast<std::size_t>(row * all.in_row + static_cast<std::int64_t>(m.got));
  const std::int32_t first = all.first[at], last = all.last[at];
  const std::string there = last < first    ? "at no position"
                            : last == first ? fmt::format("at position {} alone", first)
                                            : fmt::format("at positions {} to {}", first, last);
  return fmt::format("whose value is {} and may stand {} of the row's {}; {}", value_at(m.got), there, s.cols,
                     legal);
}

std::string ChosenAnswer::why_no_value(std::size_t o, const Miss& m) const {
  const auto by = static_cast<std::size_t>(reference_.outputs[o].chosen_by);
  const Segment& places = *written_[by].segment;
  const double place = output(by).value[static_cast<std::size_t>(m.index)];
  const bool is_named = place == element(places, written_[by].image, m.index);
  return fmt::format("want {}: the value at place {:.0f}, {} {}{}", text_of(m.want), place,
                     is_named ? "which" : "where", place_of(places, m.index),
                     is_named ? " names" : " has no legal one");
}

}  // namespace plumb
