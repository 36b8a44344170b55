// Clusters: blocks that run together, see each other's shared memory and meet at a barrier of their own.
#pragma once
#include <vector>

#include "gpu/simt/language/clusters.hpp"
#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

struct Thread;
struct Block;
struct Launch;

/// The blocks of a cluster, by rank, and its barrier. They are given back together: shared memory of one that has ended is still there
/// to be found out about.
struct Cluster {
  uint3 index{0, 0, 0};  // in the grid
  std::vector<Block*> blocks;
  int threads = 0;
  int arrived = 0, gone = 0;  // those that have exited without an arrival at this phase
  unsigned phase = 0;
  std::vector<Known> arrivals;               // of this phase, by rank
  ClockPtr gathering;                        // what arriving threads know beside
  ClockPtr gathering_inits, complete_inits;  // what their fence.mbarrier_init published
  ClockPtr complete, before;  // what those who waited for the last phase know, and for the one before
  std::vector<Thread*> waiting;
};

/// Whether the block has others beside it.
bool has_peers(const Block& block);
/// The blocks that must be told of, or waited for, together with this one: its cluster's.
std::vector<Block*> blocks_beside(Block& block);
/// The block of the thread's cluster whose shared memory `p` lies in; null: none.
Block* holder_of(const Thread& thread, const void* p);
/// The same, or the thread's own block.
Block& home_of(const Thread& thread, const void* p);
/// That address of the thread's own block in the block of that rank; stops the launch where there is none.
unsigned char* in_rank(const Thread& thread, const void* p, unsigned rank, Here here);

/// Makes the blocks of the launch's cluster of that number. False: there is no room, and the launch may go on without them.
bool admit_cluster(const Launch& launch, std::uint32_t number, bool needed);
/// Clusters of the launch.
std::uint32_t clusters_of(const Launch& launch);

void leave_cluster(Thread& thread);  // it has exited
/// An access of another block's shared memory when that has ended; true where it was one.
bool touches_ended(const Thread& thread, const Block& holder, const Mark& now, const char* array,
                   std::int64_t offset);
/// A block ends: others must have done with its shared memory, and its own copies to theirs with it.
void check_visits(Block& block);

}  // namespace plumb::simt
