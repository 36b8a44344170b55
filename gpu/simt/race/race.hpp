// What happened before what: clocks, marks of accesses, and the rules of the race detector.
//
// Why clocks of this shape: nearly all CUDA code synchronises by block barriers, then by warps, then by
// flags. An event is (block, thread, generation, step): the generation counts the block's barriers, the step
// a thread's own releases since the last one. All of an earlier generation is known to the whole block, so a
// thread carries 32 words for its own warp and nothing else, until it meets a fence and a flag, or a named
// barrier: only then is there a sparse clock (Clock) over threads and blocks. This is exact: no sync object
// is shared by two generations, and the cost of a barrier does not grow with the square of a block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/simt/executor.hpp"
#include "gpu/simt/language/device_api.hpp"
#include "gpu/simt/race/known.hpp"

namespace plumb::simt {

struct Thread;
struct Block;
struct Cell;
struct Marks;

constexpr int kWarp = 32;
constexpr unsigned kWarpgroupWarps = 4;
/// Warps that no block has: in marks and clocks those behind a warpgroup's products, one for each warpgroup, and those behind the copies
/// out of shared memory of each warp's threads, those behind their copies to other blocks, and what the copies out of it write
/// (memory/proxy.hpp).
constexpr unsigned kFirstProductUnit = kWarp, kFirstCopyUnit = 2 * kWarp, kFirstPeerUnit = 3 * kWarp,
                   kFirstWriteUnit = 4 * kWarp;

/// A place in the code in 32 bits: the low 31 bits of an instruction's address, or with the top bit an index
/// of a Here.
using Location = std::uint32_t;
constexpr Location kHereBit = 0x80000000u;
Location locate(Here here);
inline Location locate(const void* pc) {
  return static_cast<Location>(reinterpret_cast<std::uintptr_t>(pc)) & ~kHereBit;
}

/// What is known of other blocks' and other warps' threads. Immutable once shared.
struct Clock {
  KnownBlocks blocks;
  // Sequentially consistent fences that came before, by number (history.hpp): of device scope, and of one block's own. They order
  // what a load may return, and no accesses: which of two such fences comes first is the schedule's choice.
  std::uint32_t fences = 0;
  std::uint32_t fences_block = 0;  // the block's id
  std::uint32_t block_fences = 0;
  bool launches_awaited = false;  // griddepcontrol.wait came before
  bool operator==(const Clock&) const = default;
};
using ClockPtr = std::shared_ptr<const Clock>;
/// What one of the two knows; the same clock where one of them knows all of it.
ClockPtr join(const ClockPtr& a, const ClockPtr& b);
/// Of one block alone.
ClockPtr clock_of(Known known);

/// One access, as it is compared with others. The shadow keeps it packed (cell.hpp).
enum Strength : std::uint8_t { kPlain = 0, kBlockScope = 1, kDeviceScope = 2 };
struct Mark {
  std::uint64_t epoch = 0;  // generation << 32 | step
  std::uint32_t block = 0;  // 0: no access
  Location location = 0;
  std::uint32_t lanes = 0;  // of the warp; several where they stood at the same step
  std::uint8_t warp = 0;
  std::uint8_t strength = kPlain;
  std::uint8_t writes : 1;
  std::uint8_t async : 1;  // of an asynchronous copy
  std::uint8_t is_volatile : 1;
  // It stands for readers of whom one is meant: some of its lanes, or with any_warp some thread of the block (chains.hpp).
  std::uint8_t any_lane : 1;
  std::uint8_t any_warp : 1;
  std::uint8_t extent;  // of an atomic or volatile access: where in 16 bytes it begins, and its size
  Mark() : writes(0), async(0), is_volatile(0), any_lane(0), any_warp(0), extent(0) {}
  bool operator==(const Mark&) const = default;
};
static_assert(sizeof(Mark) == 24, "a granule with many readers keeps one for each group");
inline std::uint8_t extent_of(const void* p, std::size_t bytes) {
  const auto log = static_cast<unsigned>(__builtin_ctzll(bytes | 16u));
  return static_cast<std::uint8_t>((reinterpret_cast<std::uintptr_t>(p) & 15u) << 3 | log);
}
/// A finding whose places are still addresses.
struct RawFinding {
  Finding finding;
  Location location = 0, other_location = 0;
  int launch = 0, other_launch = 0;
  /// Of a race between plain accesses: what the two do.
  enum Pair : std::uint8_t { kOther = 0, kReadWrite = 1, kWriteWrite = 2 } pair = kOther;
  Location tried = 0;           // a plain read that races with an atomic update
  bool both_volatile = false;   // of a race in global memory
  bool partly_written = false;  // of an uninitialised read of several words
  bool softened = false;        // it was taken as a note, since what was read was only tried
};

/// Two unordered plain writes that may have stored the same value: decided once the second has been executed.
struct Doubt {
  const unsigned char* at = nullptr;  // null: none
  std::size_t bytes = 0;
  unsigned char before[16] = {};
  Location read = 0;  // the first plain read behind the second of them
};

/// A plain read by a thread, until it is one of its older ones.
struct PastRead {
  const unsigned char* at = nullptr;
  std::uint64_t value = 0;
  Location location = 0;
  std::uint8_t bytes = 0;
  bool counted = false;  // among the Attempts of its place, and not yet tried
};
/// Plain reads of one place in the code, and those whose value the thread then tried: a compare-and-exchange of the same element
/// expected it. Counted from the first that was tried.
struct Attempts {
  std::int64_t reads = 0, tried = 0;
};

/// Two launches that nothing orders update one word atomically: no race, but each sees the other's updates.
struct SharedUpdate {
  std::string array;  // empty: there are none
  std::int64_t offset = 0;
  Location location = 0, other_location = 0;
  int launch = -1, other_launch = -1;
};

/// Where an access falls.
struct Target {
  const char* array;
  std::int64_t offset;
  const Block* home;      // whose shared memory; null: global memory
  std::int64_t into = 0;  // from the access's first byte on
};

enum class Access : std::uint8_t {
  read,
  write,
  volatile_read,
  volatile_write,
  atomic_load,
  atomic_store,
  atomic_rmw,
  atomic_exchange
};
inline bool is_write(Access kind) {
  return kind == Access::write || kind == Access::volatile_write || kind == Access::atomic_store ||
         kind == Access::atomic_rmw || kind == Access::atomic_exchange;
}
/// Whether what was there before the access decides anything.
inline bool needs_value(Access kind) { return !is_write(kind) || kind == Access::atomic_rmw; }

// clocks.cpp: what a thread knows, and what it learns where it meets others
ClockPtr snapshot(Thread& thread);
void learn(Thread& thread, const ClockPtr& clock);
void on_block_barrier(Block& block);  // before the generation rises
void on_warp_sync(Block& block, int warp, unsigned mask);
void on_fence(Thread& thread, Scope scope);
/// A release store or an acquire load: the order of that one access, not of those around it. The first before the access, the
/// second after it.
void on_release(Thread& thread);
void on_acquire(Thread& thread);
void on_grid_barrier(std::vector<Block*>& blocks);
/// griddepcontrol.wait: the launches that the thread's may begin beside have ended.
void on_launches_awaited(Thread& thread);
/// The index of the launch that a block belongs to.
int launch_of(std::uint32_t block);
/// Whether the launch of a block comes before what `knows` (by stream: launches that happened before).
bool launch_known(std::uint32_t block, const std::vector<int>& knows);
/// Whether everything `mark` stands for happened before the thread's next access.
bool known(const Thread& thread, const Mark& mark);
/// Whether the clock reaches what any of the mark's threads did.
bool reaches(const ClockPtr& clock, const Mark& mark);
/// The same for all of them.
bool reaches_all(const ClockPtr& clock, const Mark& mark);

// touch.cpp: one access to one granule
bool touch_slowly(Thread& thread, Cell& cell, const Mark& now, const Target& target, bool check_initialised);
void forget_marks();

// attempts.cpp: reads whose value a compare-and-exchange checks
void count_read(PastRead& read);
void note_attempt(Thread& thread, const void* p, std::size_t bytes, const void* expected);
/// Whether each value read at that place was tried.
bool only_tried(Location read);

// trails.cpp
void add_to_trail(Thread& thread, const char* what, Here here);
/// What the thread behind the mark met, before its access and after.
std::vector<TrailStep> trail_of(const Mark& mark, unsigned warp);

// report.cpp: sentences about a race
/// Who left the mark, a block of that launch's.
ThreadId thread_of(const Mark& mark, int launch);
/// Says where a finding is, and who did what stands there: `other`, of a launch.
void name_other(RawFinding& finding, const Target& target, const Mark& other, int launch);
void report_race(const Thread& thread, const Mark& now, const Mark& then, const Target& target);
/// A use of memory that an operation of another stream allocated, which nothing orders before it.
void report_before_allocation(const Thread& thread, const Mark& now, const Mark& allocation,
                              const Target& target);
/// Of the atomic access, which may come beside another launch's: keeps the first such pair of the run.
void note_shared_update(const Thread& thread, const Mark& now, const Mark& then, const Target& target);
void report_early_use(const Thread& thread, const Marks& marks, const Mark& now, const Target& target);
RawFinding* report_uninitialised(const Thread& thread, const Mark& now, const Target& target);
/// Decides the doubt there may be; call when the write in question has been executed.
void resolve_doubt();

// findings.cpp
RawFinding* note(FindingKind kind, const std::string& text, const Thread* thread, Location location,
                 Location other_location = 0);
/// The findings since the last call, resolved: end_run() without the end. Those that are taken are counted from there on, and found no
/// second time in the run.
std::vector<Finding> take_findings();
/// Whether one line of a report stands for both.
bool same_finding(const Finding& a, const Finding& b);
/// How often a finding that was taken has been seen until now.
std::int64_t repeats_of(const Finding& finding);
std::string show(uint3 v);

}  // namespace plumb::simt
