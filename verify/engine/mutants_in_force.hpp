// Which mutant of a schema is in force in this process, and which places its run has reached (mutant_points.hpp).
#pragma once
#include <cstdint>
#include <vector>

namespace plumb {

/// Mutants of one build are numbered from 1 to this.
inline constexpr int kMostMutants = 1 << 17;

/// What a run of the original showed of a mutant's place. Absent: it does not apply to the types of an instantiation. Felt: the
/// mutant would have changed something there; where it is not felt, its run is the original's.
enum PlaceSeen : std::uint8_t { kPlaceReached = 1, kPlaceAbsent = 2, kPlaceFelt = 4 };

struct SeenMutant {
  std::int32_t number;
  std::int32_t seen;  // PlaceSeen, or both
};

/// From here on; 0: the original. Forgets what was reached.
void put_mutant_in_force(int number);

/// Every mutant whose place was reached or found absent since then.
[[nodiscard]] std::vector<SeenMutant> seen_mutants();

}  // namespace plumb
