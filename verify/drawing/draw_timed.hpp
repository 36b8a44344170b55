// Cases drawn for timing: sizes that users have, from what a launch costs to several times a cache.
#pragma once
#include <cstdint>

#include "reference/cases/case_space.hpp"

namespace plumb {

/// How large a case drawn for timing may be.
struct TimedSize {
  double least_bytes = 65536, most_bytes = 0;  // of all arrays together
  double most_work = 0;                        // multiply-adds: the oracle computes each of them on the host
  double most_entries = 1.6e7;                 // of a sparse operand: one thread of the host places them
  friend bool operator==(const TimedSize&, const TimedSize&) = default;
};

/// The `number`-th case of `seed`, of type f32 where the number is even. The values of each parameter are drawn as the operator's
/// description says under "for timing", in half of the cases as a shape of one of its families has them; then the extents that grow are scaled together until the case has its size: log-uniform in
/// bytes between the two limits, less where work or entries would exceed theirs, or where the extents end. Half of the extents
/// are made round (128, 1920), the others stay as drawn. Values are by fill real, all else is as simple as it can be.
/// Errors: an extent that the description gives no sizes for timing; 256 draws without a valid case.
[[nodiscard]] Case draw_timed_case(const CaseSpace& space, std::uint64_t seed, std::uint64_t number,
                                   const TimedSize& size);

}  // namespace plumb
