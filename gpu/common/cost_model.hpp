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

/// Microseconds for a unit of each term. Terms that overlap are added as a norm: 1 adds them, a large number takes the greatest.
struct CostModel {
  double sharpness, cost[kTerms];
};

inline double predicted_us(const CostModel& model, const Terms& terms) {
  double overlapped = 0;
  for (int i = 2; i < kTerms; ++i) overlapped += std::pow(model.cost[i] * terms.of[i], model.sharpness);
  return model.cost[0] * terms.of[0] + model.cost[1] * terms.of[1] +
         std::pow(overlapped, 1 / model.sharpness);
}

/// What candidates do before their first run, and how many runs share it: 0 stands for so many that it does not count.
template <int N>
struct Preparation {
  const CostModel (*models)[N] = nullptr;  // null: no candidate prepares anything
  Terms terms[N] = {};
  std::int64_t uses = 0;
  [[nodiscard]] bool counts() const { return models != nullptr && uses > 0; }
};

/// Microseconds that the models foresee, of candidates that fit.
template <int N>
struct Foreseen {
  double run[N] = {}, before[N] = {};
  double time[N] = {};  // of a run with its share of what comes before
  bool fits[N] = {};
  /// Candidates in the order of their times, `most` at most. Returns how many.
  int least(int most, int* of) const {
    int count = 0;
    for (int c = 0; c < N; ++c) {
      if (!fits[c]) continue;
      int at = count < most ? count++ : most;
      for (; at > 0 && time[c] < time[of[at - 1]]; --at) {
        if (at < most) of[at] = of[at - 1];
      }
      if (at < most) of[at] = c;
    }
    return count;
  }
};

template <int N>
Foreseen<N> foresee(const CostModel (&models)[N], const Terms (&terms)[N],
                    const Preparation<N>& preparation = {}) {
  Foreseen<N> of;
  for (int c = 0; c < N; ++c) {
    if (!terms[c].fits) continue;
    of.fits[c] = true;
    of.time[c] = of.run[c] = predicted_us(models[c], terms[c]);
    if (!preparation.counts()) continue;
    of.before[c] = predicted_us((*preparation.models)[c], preparation.terms[c]);
    of.time[c] += of.before[c] / static_cast<double>(preparation.uses);
  }
  return of;
}

/// The candidate of least time by its model, its share of the preparation included; -1 where none fits. `text` says its time, and the
/// next one's.
template <int N>
int choose(const CostModel (&models)[N], const Terms (&terms)[N], const char* const (&names)[N], char* text,
           std::size_t size, const Preparation<N>& preparation = {}) {
  const Foreseen<N> foreseen = foresee(models, terms, preparation);
  int least[2] = {-1, -1};
  if (foreseen.least(2, least) < 2) {
    std::snprintf(text, size, "%s: no other fits", least[0] >= 0 ? names[least[0]] : "none");
    return least[0];
  }
  const bool counts = preparation.counts();
  char of_best[112], of_next[112];
  const auto print = [&](int c, const char* by, char(&to)[112]) {
    if (counts)
      std::snprintf(to, sizeof to, "%s: %.3g us%s after %.3g us", names[c], foreseen.run[c], by,
                    foreseen.before[c]);
    else
      std::snprintf(to, sizeof to, "%s: %.3g us%s", names[c], foreseen.run[c], by);
  };
  print(least[0], " by the model", of_best), print(least[1], "", of_next);
  if (counts)
    std::snprintf(text, size, "%s; %s; uses: %lld", of_best, of_next,
                  static_cast<long long>(preparation.uses));
  else
    std::snprintf(text, size, "%s; %s", of_best, of_next);
  return least[0];
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
