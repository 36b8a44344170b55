// Whether work is worth a team of threads.
#pragma once

namespace plumb {

/// Whether all of OpenMP's threads end work sooner than the calling thread alone, which takes `seconds` for it. What a parallel region
/// takes by itself is measured at the first call for a number of threads (some 20 to 300 us), so the answer is one of this machine; it may
/// differ between two processes, so only work whose results are the same either way may ask. Nothing is measured, and no thread started,
/// where half a microsecond or less would be gained. False within a parallel region.
[[nodiscard]] bool worth_sharing(double seconds);

}  // namespace plumb
