// Shared memory as the asynchronous proxy reads it: by products of a warpgroup and copies out of it, which go on beside the thread that
// started them.
//
// Each reader of the proxy counts as a thread of its own (ProxyReader), whose reads nobody knows until someone has waited for them: their
// marks carry the generation kUnderWay until settle() gives them one. So a write that comes before the wait, or that nothing orders after
// it, is a race like any other. And a plain write that such a reader reads must have a fence.proxy.async behind it, by a thread that knows
// the write, which the reading thread knows.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/simt/memory/memory.hpp"
#include "gpu/simt/race/cell.hpp"

namespace plumb::simt {

constexpr std::uint32_t kUnderWay = ~0u;  // as a generation of a Mark: no barrier comes after it

/// A reader of the proxy, by the place of a thread that no block has: a warpgroup's products, or a thread's bulk copies.
struct ProxyUnit {
  std::uint8_t warp;
  std::uint8_t lane;
  static ProxyUnit of_products(unsigned warpgroup);
  static ProxyUnit of_copies(const Thread& thread);
  static ProxyUnit of_copies_to_peers(const Thread& thread);
  static ProxyUnit of_writes(const Thread& thread);  // of global memory, by its copies out of shared memory
};

class ProxyReader {
 public:
  /// `what` reads for the running thread, in the unit's `step`.
  ProxyReader(ProxyUnit unit, std::uint32_t step, const char* what, Here here);
  /// 16 bytes at that offset of the running block's shared memory. Stops the launch where they are nobody's.
  void read(std::uint32_t offset);
  /// Reports a read of nothing but what nobody wrote.
  void finish();

 private:
  /// What a granule's cell became, where no list was before and it had one group at most behind: the next ones are mostly alike.
  struct Change {
    Cell before{}, after{};
    bool holds = false;
  };
  bool touch(Thread& thread, Cell& cell, const Target& target);
  bool fenced(const Mark& write);

  const char* what_;
  Here here_;
  Mark mark_;
  Stamp stamp_{};
  std::map<std::pair<std::uint64_t, std::uint32_t>, bool> fenced_;  // by epoch and thread of a write
  Change change_;
  std::uint64_t last_fenced_ = 0;  // epoch and thread of a write, as cells have them; 0: none
  bool reported_ = false, any_written_ = false;
  std::uint32_t first_ = ~0u;
};

/// The running thread starts `what`, which writes to b's shared memory: what threads did there before must be behind a fence.proxy.async
/// that it knows.
void check_refill(Block& b, const void* to, std::size_t bytes, const char* what, Here here);
/// The running thread starts a copy that completes on the barrier at `object`, whose initialisation by the thread of `init` must be behind
/// a fence.mbarrier_init or fence.proxy.async, where another thread did it.
void check_init_fence(Block& b, const void* object, const Mark& init, Here here);
/// The unit has read those 16-byte pieces up to `step`, and the running thread knows it.
void settle(Block& block, const std::vector<std::uint32_t>& offsets, ProxyUnit unit, std::uint32_t step);
/// Whether what a unit did, as a mark, is before the thread's next access. A barrier of the block is not enough: nobody may have waited.
bool is_waited_for(const Thread& thread, const Mark& mark);
/// What one who waited for the unit's `step` in that generation knows.
ClockPtr clock_of(const Block& block, ProxyUnit unit, std::uint32_t generation, std::uint32_t step);

}  // namespace plumb::simt
