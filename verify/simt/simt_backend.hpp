// The CPU executor behind the engine's Backend: memory is the host's, and every array of a run is declared to the executor.
#pragma once
#include <memory>

#include "verify/engine/backend/backend.hpp"

namespace plumb {

/// Simulated threads that one run may ask for, over all its launches; a run that asks for more is skipped. Chosen so that
/// the smoke tier of every rung ends within minutes on two cores (a simulated thread costs about a microsecond), and that 65,568 columns
/// by tiles of 64 and 512 threads run.
inline constexpr std::int64_t kMaxSimtThreads = std::int64_t{9} << 16;

[[nodiscard]] std::unique_ptr<Backend> new_simt_backend();

}  // namespace plumb
