// Histories: what atomic and volatile accesses have written, and which of it a load may still return.
//
// Why: on a device a relaxed load may return a value that is no longer the newest, and a relaxed store may come to lie behind one that
// ran before it. The history of an address keeps its last few writes in coherence order, each with who wrote it, who read it and what it published. A load
// returns any write that is not older than one it knows; a store takes any position after those it knows. What a thread knows is
// what happens before it (clocks.cpp), what it read or wrote itself, and what sequentially consistent fences put before its own. The
// schedule's seed draws. Memory holds the newest value, except between an access's call into the executor and the next one.
#pragma once
#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// What a write carries from those who fenced or released before it.
struct Flag {
  ClockPtr device;
  ClockPtr block;
  std::uint32_t block_id = 0;
};

/// A write that loads may return.
struct PastWrite {
  std::uint64_t value = 0;
  Mark by;                    // block 0: it was there before the first atomic or volatile write
  std::vector<Mark> readers;  // none are kept of the oldest write: there is nothing before it to return
  Flag flag;
  bool follows = false;  // of a read-modify-write: nothing may come between it and the write before it
  std::uint32_t fences_looked_at = 0;
  std::uint32_t known_by_fence = 0;  // the first of them that comes after it; 0: none
};
struct History {
  std::uint32_t block = 0;  // shared memory: whose
  std::size_t bytes = 0;
  std::vector<PastWrite> writes;  // coherence order
};

/// What threads knew at their sequentially consistent fences, numbered from 1. The oldest are dropped.
class FenceLog {
 public:
  void add(ClockPtr clock);
  std::uint32_t count() const { return dropped_ + static_cast<std::uint32_t>(clocks_.size()); }
  std::uint32_t dropped() const { return dropped_; }
  const ClockPtr& at(std::uint32_t number) const { return clocks_[number - dropped_ - 1]; }
  bool lossy() const { return lossy_; }  // some were dropped that a thread may not know otherwise
  void forget();                         // all but the count: whoever asks knows what they knew

 private:
  std::vector<ClockPtr> clocks_;
  std::uint32_t dropped_ = 0;
  bool lossy_ = false;
};

/// The atomic or volatile access whose call into the executor came last.
struct Unfinished {
  History* history = nullptr;  // null: none, or memory is as it should be
  unsigned char* at = nullptr;
  std::size_t write = 0;  // which of the writes it is, if it writes
  bool writes = false;
};

/// The executor's part of an atomic or volatile access: what it takes up, what it publishes, and where a load returns a past write,
/// its value in memory. The access itself follows. `home`: whose shared memory it is; null: global memory.
void pass_value(Thread& thread, unsigned char* p, std::size_t bytes, Access kind, Scope scope,
                const Block* home);
/// After the access itself: notes what it wrote, and leaves the newest value in memory.
void finish_access();
/// A fence.sc: an acquire and release fence, and one that takes its turn with all others of a scope that holds both threads.
void on_ordered_fence(Thread& thread, Scope scope);
void forget_histories(std::uint64_t seed);

}  // namespace plumb::simt
