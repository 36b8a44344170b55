// A loop over pieces of work.
#pragma once
#include <cstdint>

namespace plumb {

/// Up to so many pieces are done by the thread that has them.
inline constexpr std::int64_t kFewPieces = 8;

/// f(n) for each n in [0, count), on all threads where there are more than a few. OpenMP's `if` would enter a region all the same: one of a
/// single thread allocates a team, which takes longer than a short loop.
template <class F>
void for_each_piece(std::int64_t count, const F& f) {
  if (count <= kFewPieces) {
    for (std::int64_t n = 0; n < count; ++n) f(n);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t n = 0; n < count; ++n) f(n);
}

}  // namespace plumb
