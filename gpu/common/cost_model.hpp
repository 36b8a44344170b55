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

/// The candidate of least time by its model; -1 where none fits. `text` says its time, and the next one's.
template <int N>
int choose(const CostModel (&models)[N], const Terms (&terms)[N], const char* const (&names)[N], char* text,
           std::size_t size) {
  int best = -1, next = -1;
  double time[N] = {};
  const double nearest = nearest_of(models, terms);
  for (int c = 0; c < N; ++c) {
    if (!terms[c].fits) continue;
    time[c] = predicted_us(models[c], terms[c]) * doubt(beyond_fitted(models[c], terms[c]), nearest);
    if (best < 0 || time[c] < time[best])
      next = best, best = c;
    else if (next < 0 || time[c] < time[next])
      next = c;
  }
  if (best >= 0 && next >= 0 && time[next] < HUGE_VAL) {
    std::snprintf(text, size, "%s: %.3g us by the model; %s: %.3g us", names[best], time[best], names[next],
                  time[next]);
  } else {
    std::snprintf(text, size, "%s: no other fits, or is known to such a size",
                  best >= 0 ? names[best] : "none");
  }
  return best;
}

/// The terms as tools/fit reads them from a report of bench.
inline void print_terms(const Terms& terms, char* text, std::size_t size) {
  int at = std::snprintf(text, size, terms.fits ? "terms" : "unfit");
  for (int i = 0; i < kTerms && at >= 0 && static_cast<std::size_t>(at) < size; ++i)
    at += std::snprintf(text + at, size - static_cast<std::size_t>(at), " %.6g", terms.of[i]);
}

/// The candidate to take: `measured`, whatever its model says, with its terms as the text; or, where that is -1, the one of least time.
/// 0 where what is wanted does not fit: every list begins with a candidate that runs always.
template <int N>
int take_terms(int measured, const CostModel (&models)[N], const Terms (&terms)[N],
               const char* const (&names)[N], char* text, std::size_t size) {
  if (measured < 0) {
    const int best = choose(models, terms, names, text, size);
    return best < 0 ? 0 : best;
  }
  print_terms(terms[measured], text, size);
  return terms[measured].fits ? measured : 0;
}

}  // namespace plumb
