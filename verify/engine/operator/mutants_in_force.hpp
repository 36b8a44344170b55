// Which mutant of a schema is in force, and which places it was felt in (mutant_points.hpp): on a board in memory, which whoever attacks a
// schema shares with the processes that run it. Whoever runs and judges a variant between the two knows nothing of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

/// Mutants of one build are numbered from 1 to this.
inline constexpr int kMostMutants = 1 << 17;

/// What a run of the original showed of a mutant's place. Absent: it does not apply to the types of an instantiation. Felt: the
/// mutant would have changed something there; where it is not felt, its run is the original's.
enum PlaceSeen : std::uint8_t { kPlaceReached = 1, kPlaceAbsent = 2, kPlaceFelt = 4 };

struct SeenMutant {
  std::int32_t number;
  std::int32_t seen;  // PlaceSeen, or several
};

/// As it lies in memory.
struct BoardMemory;

class MutantBoard {
 public:
  /// Throws ResourceError where there is no memory or descriptor for it.
  MutantBoard();
  ~MutantBoard();
  MutantBoard(const MutantBoard&) = delete;
  MutantBoard& operator=(const MutantBoard&) = delete;

  /// "NAME=VALUE": processes that begin with it, as children of this one, ask this board.
  [[nodiscard]] std::string variable() const;
  /// So does this process from here on, until the board is gone.
  void use_here();

  /// From here on; 0: the original. Forgets what was reached.
  void put(int number);
  /// Every mutant whose place was reached or found absent since then.
  [[nodiscard]] std::vector<SeenMutant> seen() const;

 private:
  int fd_ = -1;
  BoardMemory* memory_ = nullptr;
};

}  // namespace plumb
