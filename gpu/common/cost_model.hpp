// What adaptive rungs choose by: every candidate says what it would do for a problem, in terms that cost a chip time, and the least time
// by a model is taken. The costs are fitted to measured times by tools/fit. Header only.
#pragma once
#include <cmath>
#include <cstdio>

#include "reference/core/abi.hpp"

namespace plumb {

constexpr int kTerms = 8;

/// What a candidate does for a problem. The first two are what nothing overlaps (a start, further launches); the others overlap as far
/// as the model's sharpness says. `fits` is false where it cannot run, or does the same as another one.
struct Terms {
  bool fits = false;
  double of[kTerms] = {};
};

/// Microseconds for a unit of each term, and the most of it in the cases that they are fitted to. Terms that overlap are added as a norm:
/// 1 adds them, a large number takes the greatest.
struct CostModel {
  double sharpness, cost[kTerms], most[kTerms];
};

inline double predicted_us(const CostModel& model, const Terms& terms) {
  double overlapped = 0;
  for (int i = 2; i < kTerms; ++i) overlapped += std::pow(model.cost[i] * terms.of[i], model.sharpness);
  return model.cost[0] * terms.of[0] + model.cost[1] * terms.of[1] +
         std::pow(overlapped, 1 / model.sharpness);
}

/// How far the terms lie beyond what the model was fitted to: 1 or less within, 2 where a term is twice as large.
inline double beyond_fitted(const CostModel& model, const Terms& terms) {
  double most = 0;
  for (int i = 0; i < kTerms; ++i) {
    if (terms.of[i] > most * model.most[i]) most = model.most[i] > 0 ? terms.of[i] / model.most[i] : HUGE_VAL;
  }
  return most;
}

constexpr double kBelieved = 2;
/// What the model's time is multiplied by: 1 up to kBelieved times as far as its cases, or, where all candidates lie further out, as the
/// nearest; beyond that by the square of how much further. Without bound where its cases had none of a term.
inline double doubt(double beyond, double nearest) {
  const double limit = kBelieved * std::fmax(nearest, 1);
  return beyond > limit ? beyond / limit * (beyond / limit) : 1;
}
template <int N>
double nearest_of(const CostModel (&models)[N], const Terms (&terms)[N]) {
  double nearest = HUGE_VAL;
  for (int c = 0; c < N; ++c) {
    if (terms[c].fits) nearest = std::fmin(nearest, beyond_fitted(models[c], terms[c]));
  }
  return nearest;
}

/// Microseconds of every candidate by its model, more where its cases say little of such terms; without bound where it does not fit.
template <int N>
void believed_us(const CostModel (&models)[N], const Terms (&terms)[N], double (&us)[N]) {
  const double nearest = nearest_of(models, terms);
  for (int c = 0; c < N; ++c) {
    us[c] = terms[c].fits
                ? predicted_us(models[c], terms[c]) * doubt(beyond_fitted(models[c], terms[c]), nearest)
                : HUGE_VAL;
  }
}

/// What candidates do before their first run, and how many runs share it: 0 stands for so many that it does not count.
template <int N>
struct Preparation {
  const CostModel (*models)[N] = nullptr;  // null: no candidate prepares anything
  Terms terms[N] = {};
  std::int64_t uses = 0;
  [[nodiscard]] bool counts() const { return models != nullptr && uses > 0; }
};

/// The candidate of least time by its model, its share of the preparation included; -1 where none fits. `text` says its time, and the
/// next one's.
template <int N>
int choose(const CostModel (&models)[N], const Terms (&terms)[N], const char* const (&names)[N], char* text,
           std::size_t size, const Preparation<N>& preparation = {}) {
  int best = -1, next = -1;
  double run[N], before[N] = {}, time[N];
  const bool counts = preparation.counts();
  believed_us(models, terms, run);
  if (counts) believed_us(*preparation.models, preparation.terms, before);
  for (int c = 0; c < N; ++c) {
    time[c] = counts ? run[c] + before[c] / static_cast<double>(preparation.uses) : run[c];
    if (!terms[c].fits) continue;
    if (best < 0 || time[c] < time[best])
      next = best, best = c;
    else if (next < 0 || time[c] < time[next])
      next = c;
  }
  if (best < 0 || next < 0 || time[next] == HUGE_VAL) {
    std::snprintf(text, size, "%s: no other fits, or is known to such a size",
                  best >= 0 ? names[best] : "none");
    return best;
  }
  char of_best[112], of_next[112];
  const auto print = [&](int c, const char* by, char(&to)[112]) {
    if (counts)
      std::snprintf(to, sizeof to, "%s: %.3g us%s after %.3g us", names[c], run[c], by, before[c]);
    else
      std::snprintf(to, sizeof to, "%s: %.3g us%s", names[c], run[c], by);
  };
  print(best, " by the model", of_best), print(next, "", of_next);
  if (counts)
    std::snprintf(text, size, "%s; %s; uses: %lld", of_best, of_next,
                  static_cast<long long>(preparation.uses));
  else
    std::snprintf(text, size, "%s; %s", of_best, of_next);
  return best;
}

/// The terms as tools/fit reads them from a report of bench.
inline int print_terms(const char* word, const Terms& terms, char* text, std::size_t size) {
  int at = std::snprintf(text, size, "%s", word);
  for (int i = 0; i < kTerms && at >= 0 && static_cast<std::size_t>(at) < size; ++i)
    at += std::snprintf(text + at, size - static_cast<std::size_t>(at), " %.6g", terms.of[i]);
  return at;
}
/// The same with those of the preparation, where there is one.
template <int N>
void print_terms(const Terms& terms, const Preparation<N>& preparation, int c, char* text, std::size_t size) {
  const int at = print_terms(terms.fits ? "terms" : "unfit", terms, text, size);
  if (preparation.models == nullptr || at < 0 || static_cast<std::size_t>(at) >= size) return;
  print_terms(" prepare", preparation.terms[c], text + at, size - static_cast<std::size_t>(at));
}

/// The candidate to take: `measured`, whatever its model says, with its terms as the text; or, where that is -1, the one of least time.
/// 0 where what is wanted does not fit: every list begins with a candidate that runs always.
template <int N>
int take_terms(int measured, const CostModel (&models)[N], const Terms (&terms)[N],
               const char* const (&names)[N], char* text, std::size_t size,
               const Preparation<N>& preparation = {}) {
  if (measured < 0) {
    const int best = choose(models, terms, names, text, size, preparation);
    return best < 0 ? 0 : best;
  }
  print_terms(terms[measured], preparation, measured, text, size);
  return terms[measured].fits ? measured : 0;
}

}  // namespace plumb
