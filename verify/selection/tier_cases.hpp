// The cases of the tiers: those that contracts list, each with its reason, and arrays that cover the descriptions' classes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/drawing/cover.hpp"
#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// Who runs the cases. The CPU executor is some hundred times slower than a device: it gets the same classes in thinner cases, and
/// dear classes in tier smoke only where few kernels are judged: a user's, or one that is mutated.
enum class CaseSpeed : std::uint8_t { device, executor, executor_of_few };
constexpr bool on_executor(CaseSpeed speed) { return speed != CaseSpeed::device; }

/// One of the executor's where `devices`, as typed, name it.
[[nodiscard]] CaseSpeed speed_of(const std::vector<std::string>& devices, bool few_kernels);

/// A covering array of a tier: what it is to meet, in a space whose classes are an operator's own or coarser.
struct TierArray {
  CaseSpace space;
  std::vector<CoverLayer> layers;
};
/// Those of smoke and of full, for the space of an operator: of its own classes, and of contexts(). Empty for stress, which is listed by
/// hand.
[[nodiscard]] std::vector<TierArray> tier_arrays(const CaseSpace& space, Tier tier, CaseSpeed speed);

/// On the executor, the seeds of special values at every position that are of smoke in a type other than the first: those up to this one.
inline constexpr std::uint64_t kSeedsInFurtherTypes = 3;

/// All that the contract lists, of every tier. For the executor, the second fill of a listed large size is of tier full.
[[nodiscard]] std::vector<Case> listed_cases(const OperatorEntry& entry, CaseSpeed speed);

/// listed_cases(), then what the arrays add: of tier smoke, and of tier full where `most` reaches there. A case without which all of that
/// is met, too, is left out. Made cases are marked `drawn`: where one proves nothing it is skipped, with the reason.
[[nodiscard]] std::vector<Case> tier_cases(const OperatorEntry& entry, Tier most, CaseSpeed speed);

}  // namespace plumb
