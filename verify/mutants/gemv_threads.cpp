// Threads of gemv that race, as gemv_threads.hpp has them. No fault here needs help to show: verify makes threads collide.
#include "verify/mutants/gemv_threads.hpp"

#include "verify/mutants/host_mutant.hpp"

namespace plumb {
namespace {

using namespace gemv_threads;

constexpr unsigned kShows = kNumeric | kRepeat | kRace;

#define PLUMB_RACING(NAME, KERNEL, FAULT, INCIDENT, KILLED_BY)                           \
  const HostMutant<Gemv> KERNEL##_m {                                                    \
    NAME, KERNEL<float, false>, KERNEL<double, false>, {42, FAULT, INCIDENT, KILLED_BY}, \
        Traits{}.not_reproducible()                                                      \
  }

PLUMB_RACING("threads_share_sum", reduction, "the sum of a row is shared by the threads that add to it",
             "the missing reduction clause", kShows);
PLUMB_RACING("threads_share_lanes", temporary, "partial sums declared before the loop are shared",
             "a temporary that is not private", kShows);
PLUMB_RACING("threads_share_buffer", buffer, "products of a row stand in one buffer of all threads",
             "a scratch array allocated once, before the region", kShows);
PLUMB_RACING("threads_skip_barrier", nowait, "a loop reads what the loop before it has not written yet",
             "nowait on a loop whose results the next one deals out otherwise", kShows);
PLUMB_RACING("threads_increment", increment, "threads add to the same elements of y", "a missing atomic",
             kShows);
PLUMB_RACING("threads_add_out_of_order", ordered, "a running sum is added to before the ordered part",
             "an ordered block that holds too little", kShows);
PLUMB_RACING("threads_more_than_parts", eight_parts, "of more than eight threads several have one partial y",
             "a buffer with a place for each thread of the machine that it was written on", kNumeric | kRace);
PLUMB_RACING("threads_lock_apart", locks, "each thread adds to y under a lock of its own",
             "a lock per thread where one per element was meant", kShows);

}  // namespace
}  // namespace plumb
