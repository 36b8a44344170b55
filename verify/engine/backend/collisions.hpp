// Host threads that are made to meet: what a run under --stress asks of the process that makes it.
#pragma once
#include <cstdint>

namespace plumb {

/// Set by verify/interposed in the programs that are linked with it; null in all others. From a call with a seed until one with 0,
/// threads of this process begin parallel regions together, wait at random at OpenMP constructs, at locks and at their start, and
/// are interrupted at random.
inline void (*collide_threads)(std::uint64_t seed) = nullptr;

}  // namespace plumb
