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
    if (!(place >= 0 && place < static_cast<double>(candidates_.in_row))) return false;
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
  const auto& [segment, image] = written_[o];
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

void ChosenAnswer::take_values(std::size_t o) {
  ReferenceArray& answer = chosen_.emplace(o, reference_.outputs[o]).first->second;
  const ReferenceArray& places = output(static_cast<std::size_t>(answer.chosen_by));
  const std::int64_t cols = written_[o].segment->cols;
  for (std::size_t e = 0; e < answer.value.size(); ++e) {
    const std::int64_t row = static_cast<std::int64_t>(e) / cols;
    answer.value[e] = places.candidates->value[static_cast<std::size_t>(
        row * places.candidates->in_row + static_cast<std::int64_t>(places.value[e]))];
  }
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
  const auto of = [&](double place) {
    return static_cast<std::size_t>(row * all.in_row + static_cast<std::int64_t>(place));
  };
  const std::string legal = fmt::format("{:.0f}, whose value is {:.9g}", m.want, all.value[of(m.want)]);
  if (!(m.got >= 0 && m.got < static_cast<double>(all.in_row)))
    return fmt::format("which is no place: a row has 0 to {}; legal is {}", all.in_row - 1, legal);
  if (Row(all, row).may_stand(m.got, m.index % s.cols)) {
    for (std::int64_t e = row * s.cols; e < (row + 1) * s.cols; ++e) {
      if (e != m.index && element(s, written_[o].image, e) == m.got)
        return fmt::format("which stands at {} too: each place stands once in a row; legal is {}",
                           place_of(s, e), legal);
    }
  }
  const std::size_t at = of(m.got);
  const std::string there = all.last[at] < all.first[at] ? "at no position"
                            : all.last[at] == all.first[at]
                                ? fmt::format("at position {} alone", all.first[at])
                                : fmt::format("at positions {} to {}", all.first[at], all.last[at]);
  return fmt::format("whose value is {:.9g} and may stand {} of the row's {}; legal is {}", all.value[at],
                     there, s.cols, legal);
}

std::string ChosenAnswer::why_no_value(std::size_t o, const Miss& m) const {
  const auto by = static_cast<std::size_t>(reference_.outputs[o].chosen_by);
  const Segment& places = *written_[by].segment;
  const auto e = static_cast<std::size_t>(m.index);
  const double place = output(by).value[e], named = element(places, written_[by].image, m.index);
  return fmt::format("want {:.9g}: the value at place {:.0f}, {} {}", m.want, place,
                     place == named ? "which is that of" : "where a legal one stands instead of that of",
                     place_of(places, m.index));
}

}  // namespace plumb
