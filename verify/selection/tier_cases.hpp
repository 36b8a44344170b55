// The cases of the tiers: those that contracts list, each with its reason, and arrays that cover the descriptions' classes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/drawing/cover.hpp"
#include "verify/engine/entry.hpp"

namespace plumb {

/// Who runs the cases. The CPU executor is some hundred times slower than a device: it gets the same classes in thinner cases, and
/// dear classes in tier smoke only where few kernels are judged: a user's, or one that is mutated.
enum class CaseSpeed : std::uint8_t { device, executor, executor_of_few };
constexpr bool on_executor(CaseSpeed speed) { return speed != CaseSpeed::device; }

/// One of the executor's where `devices`, as typed, name it.
[[nodiscard]] CaseSpeed speed_of(const std::vector<std::string>& devices, bool few_kernels);

/// What the covering array of a tier is to meet: smoke and full. Empty for stress, which is listed by hand.
[[nodiscard]] std::vector<CoverLayer> cover_layers(const CaseSpace& space, Tier tier, CaseSpeed speed);

/// What the array over contexts() is to meet, in tier smoke: special values in each size and layout, on a device in each type.
[[nodiscard]] CoverLayer context_layer(const CaseSpace& contexts, CaseSpeed speed);

/// All that the contract lists, of every tier. For the executor, the second fill of a listed large size is of tier full.
[[nodiscard]] std::vector<Case> listed_cases(const OperatorEntry& entry, CaseSpeed speed);

/// listed_cases(), then what the arrays add: of tier smoke, and of tier full where `most` reaches
/// there. Made cases are marked `drawn`: where one proves nothing it is skipped, with the reason.
[[nodiscard]] std::vector<Case> tier_cases(const OperatorEntry& entry, Tier most, CaseSpeed speed);

}  // namespace plumb
