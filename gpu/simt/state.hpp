// The state of the executor: one struct for each concern, behind current(). One per process: instrumented code finds it without an
// argument. Included by .cpp files alone; a header of a room knows the types of its own room and of those before it.
#pragma once
#include <atomic>
#include <bitset>
#include <deque>
#include <unordered_map>

#include "gpu/simt/host/stream_order.hpp"
#include "gpu/simt/race/history.hpp"
#include "gpu/simt/race/lists.hpp"
#include "gpu/simt/scheduler/scheduler.hpp"
#include "gpu/simt/scheduler/undefined.hpp"

namespace plumb::simt {

/// A function of the host's that a stream calls.
struct HostFunction {
  int launch = -1;                       // that stands for it in the stream
  const unsigned char* frame = nullptr;  // its variables lie below
  bool signals = false;                  // it has stored to an atomic: another thread may take that up
};

/// The run: what it was asked for, and how it stands.
struct RunState {
  Options options;
  const ChipLimits* chip = nullptr;
  bool begun = false;       // begin_run() was called
  bool is_stopped = false;  // launches do nothing
  std::atomic<int> cut{0};  // the signal that ends the program; 0: none has come
  Counters counters;
  std::uint64_t rng = 1;
  Order order = Order::ascending;
  Refusal refusal;       // of the last launch
  std::string shortage;  // what the executor itself ran out of
  // Of this of the host's threads: the function that a stream calls, and which it runs. launch -1: none.
  static inline thread_local HostFunction host_function;
  std::int64_t skipped = 0;  // launches after the run was stopped
};

/// The launch under way, all launches and their blocks.
struct ScheduleState : LaunchUnderWay {
  // Of each of the host's threads: instrumented host code beside a launch is no fiber of it.
  static inline thread_local Thread* thread = nullptr;
  void* scheduler = nullptr;  // context to return to
  std::uint32_t next_block_id = 1;
  unsigned long long block_serial = 0;
  std::deque<Launch> launches;               // they stay where they are: several may be under way
  std::vector<std::unique_ptr<Block>> pool;  // blocks for use again
  // cudaFuncAttributeMaxDynamicSharedMemorySize by kernel, and the greatest of them: a launch written as
  // kernel<<<...>>> does not say which kernel's address it is of.
  std::unordered_map<const void*, std::size_t> dynamic_allowed;
  std::size_t most_dynamic_allowed = 0;
  bool large_clusters = false;  // cudaFuncAttributeNonPortableClusterSizeAllowed of some kernel
};

/// What kernels may touch.
struct MemoryState {
  std::vector<std::unique_ptr<Array>> arrays;
  Array* last_array = nullptr;
  std::uintptr_t lowest = UINTPTR_MAX, highest = 0;  // what all arrays of the run lay between
  std::vector<std::unique_ptr<Array>>
      variables;                              // __device__ and __constant__ ones that have told their names
  std::vector<std::unique_ptr<Array>> image;  // writable segments of the program: the other variables
  std::vector<std::pair<const unsigned char*, const unsigned char*>> constants;  // its read-only segments
};

/// What the race detector keeps beside the marks in the shadow.
struct RaceState {
  std::unordered_map<const unsigned char*, History> histories;  // of atomic and volatile accesses
  FenceLog fences;  // sequentially consistent ones of device scope
  Unfinished unfinished;
  std::vector<ClockPtr> map_releases;  // the latest fences of the tensormap proxy that release
  ClockPtr taken;                      // what the last atomic or volatile access read carries
  std::uint64_t draws = 1;
  unsigned stale_of_16 = 0;    // how often a load or store prefers what is not newest
  SharedUpdate shared_update;  // the first of the run
  CellTables tables;
  MarkLists lists;
  std::uint32_t known_below =
      0;  // all threads of the launch under way know what blocks below that number did
  Doubt doubt;
  RawFinding doubtful;
  std::unordered_map<Location, Attempts> attempts;
  std::bitset<1024> tried_somewhere;         // by the remainder of a place: whether it may be in `attempts`
  const unsigned char* access_at = nullptr;  // the access being looked at
  std::size_t access_bytes = 0;
  bool partly_written = false;  // of its words that nobody wrote others were written
};

struct ReportState {
  std::vector<RawFinding> findings;
  std::vector<RawFinding> taken;  // by take_findings()
  std::int64_t further_findings = 0;
  std::vector<Here> heres;  // what Locations with the top bit stand for
};

struct Executor {
  RunState run;
  ScheduleState schedule;
  MemoryState memory;
  RaceState race;
  ReportState report;
  StreamOrder streams;
  Undefined undefined;
};
/// Never destroyed: it outlives the program's own statics, whose destructors may free memory.
union LastingExecutor {
  Executor value;
  LastingExecutor() : value() {}
  ~LastingExecutor() {}  // NOLINT(modernize-use-equals-default): that one is deleted
};
extern LastingExecutor the_executor;
inline Executor& current() { return the_executor.value; }

/// The launch under way, or the last one.
inline const Launch& launch_under_way() {
  return current().schedule.launches[static_cast<std::size_t>(current().schedule.number)];
}

/// Whether every access is looked at, and clocks are kept.
inline bool checking() { return current().run.options.check; }

/// Whether the address lies between arrays of the run: most accesses of host code lie outside.
inline bool among_arrays(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return address >= current().memory.lowest && address < current().memory.highest;
}

/// Whether an access of host code is looked at.
inline bool is_watched(const void* p, bool writes) {
  return among_arrays(p) || (writes && current().run.host_function.launch >= 0);
}

/// Whether the address is of an argument of the launch under way, which any thread may read.
inline bool is_argument(const unsigned char* p) {
  const ScheduleState& s = current().schedule;
  return p >= s.params_low && p < s.params_high;
}

/// The thread comes to what orders its accesses.
inline void leave_trail(Thread& t, const char* what, Here here) {
  if (current().run.options.trails) add_to_trail(t, what, here);
}

inline std::uint64_t next_random() {
  std::uint64_t& rng = current().run.rng;
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return rng;
}
inline bool one_in(unsigned n) { return next_random() % n == 0; }

inline void resolve_pending() {
  if (current().race.doubt.at != nullptr) resolve_doubt();
  if (current().race.unfinished.history != nullptr) finish_access();
}
/// The same before a plain read. The copy of a structure is told as its write and then its read, before it is made: the first read behind
/// a write that is in doubt decides nothing yet.
inline void resolve_before_read(Location read) {
  Doubt& doubt = current().race.doubt;
  if (doubt.at != nullptr && doubt.read == 0) doubt.read = read;
  if (doubt.at == nullptr || doubt.read != read) resolve_pending();
}

template <class F>
void for_threads_in_order(Block& b, F f) {
  if (current().run.order == Order::descending) {
    for (int i = b.size - 1; i >= 0; --i) f(b.threads[static_cast<std::size_t>(i)]);
  } else {
    for (int i = 0; i < b.size; ++i) f(b.threads[static_cast<std::size_t>(i)]);
  }
}

}  // namespace plumb::simt
