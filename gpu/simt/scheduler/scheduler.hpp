// Threads, blocks and launches, and what the files of the scheduler ask of each other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/simt/memory/map_proxy.hpp"
#include "gpu/simt/memory/memory.hpp"
#include "gpu/simt/memory/proxy.hpp"
#include "gpu/simt/race/history.hpp"
#include "gpu/simt/scheduler/clusters.hpp"
#include "gpu/simt/scheduler/launch_limits.hpp"
#include "gpu/simt/scheduler/tensor_copies.hpp"
#include "gpu/simt/scheduler/warpgroups.hpp"

namespace plumb::simt {

constexpr int kMaxThreads = 1024;
constexpr std::uint32_t kGap = 64;  // bytes between pieces of shared memory
constexpr unsigned kPastReads = 8;
constexpr unsigned char kGapByte = 0xfb;  // what they hold

struct PendingCopy {
  unsigned char* to;
  const unsigned char* from;
  int bytes, valid;
  Location location;
  bool landed;  // the bytes are there already; only the wait is missing
};

/// One more, made in its place: a copy of it would be read while the processor still has its parts to write.
inline PendingCopy& add_copy(std::vector<PendingCopy>& copies, void* to, const void* from, int bytes,
                             int valid, Location location) {
  PendingCopy& copy = copies.emplace_back();
  copy.to = static_cast<unsigned char*>(to), copy.from = static_cast<const unsigned char*>(from);
  copy.bytes = bytes, copy.valid = valid, copy.location = location;
  return copy;
}

/// A thread's asynchronous copies in the order they were started: groups that were committed, and behind them those that were not.
class ThreadCopies {
 public:
  using Range = std::span<PendingCopy>;
  PendingCopy& add(void* to, const void* from, int bytes, int valid, Location location) {
    return add_copy(all_, to, from, bytes, valid, location);
  }
  void commit() { ends_.push_back(static_cast<std::uint32_t>(all_.size())); }
  [[nodiscard]] std::size_t groups() const { return ends_.size() - first_group_; }
  Range oldest() { return Range(all_).subspan(first_, ends_[first_group_] - first_); }
  Range open() { return Range(all_).subspan(groups() > 0 ? ends_.back() : first_); }
  void drop_oldest();
  void drop_open() { all_.resize(all_.size() - open().size()); }
  void clear() { all_.clear(), ends_.clear(), first_ = first_group_ = 0; }
  /// All of them, or those that were not committed, which it has no longer.
  std::vector<PendingCopy> take_all();
  std::vector<PendingCopy> take_open();

 private:
  std::vector<PendingCopy> all_;
  std::vector<std::uint32_t> ends_;          // of the groups, in all_
  std::size_t first_ = 0, first_group_ = 0;  // those before them are over
};

/// A fence.proxy.async of a thread: when, and what it knew then.
struct ProxyFence {
  std::uint64_t epoch;  // as a Mark's
  ClockPtr known;
};

enum class ThreadState : std::uint8_t {
  ready,
  block_barrier,
  warp,
  active_mask,
  named_barrier,
  grid_barrier,
  cluster_barrier,
  done
};

/// What a thread came to, and when, as a Mark's epoch.
struct TrailPoint {
  const char* what;
  Here here;
  std::uint64_t epoch;
};
/// A volatile or atomic access before which others were let run: what a loop around it waits to see change.
struct Polled {
  const unsigned char* at = nullptr;  // null: none
  std::uint32_t bytes = 0;
  Location location = 0;
};

struct alignas(64) Thread {
  // In one line of the cache: what a switch to it and its waking touch.
  void* context = nullptr;             // where the fiber stands; null: it has none yet
  unsigned char* stack_low = nullptr;  // null: it has not run yet
  Block* block = nullptr;
  Polled polls;  // its last look at memory that may be one of a loop; none since it was woken
  uint3 index{0, 0, 0};
  std::uint16_t id = 0;  // linear in the block
  std::uint8_t lane = 0, warp = 0;
  ThreadState state = ThreadState::ready;

  // What it waits for.
  Here here{"", 0};
  const char* waits_for = "";
  unsigned mask = 0;
  Combine combine = nullptr;
  WarpOrder warp_order = WarpOrder::none;  // of the exchange it waits in
  void* in = nullptr;
  void* out = nullptr;
  unsigned answer = 0;
  int barrier_id = 0;
  const void* waits_on = nullptr;   // an object barrier; null: none
  bool in_cluster_barrier = false;  // it has arrived there, and not waited
  unsigned cluster_phase = 0;       // in which phase of it

  // What it knows.
  std::uint32_t step = 1;  // counts its own releases, never back
  std::uint32_t warp_step[kWarp] =
      {};  // of the lanes of its warp, in warp_generation; older ones say nothing
  std::uint32_t warp_generation = 0;
  ClockPtr more;                         // beyond its generation and its warp
  ClockPtr fenced_device, fenced_block;  // what its next flag store publishes
  ClockPtr seen_device, seen_block;  // what flags it read carried, effective from its next fence or barrier
  ClockPtr fenced_inits,
      known_inits;          // what its fence.mbarrier_init publishes, and those of others: of barriers alone
  bool has_clocks = false;  // any of the above is set
  ClockPtr releasing;       // what its release store under way publishes
  std::uint32_t fenced_generation = 0;  // when it last executed a fence

  ThreadCopies copies;
  std::vector<std::pair<const void*, std::vector<PendingCopy>>> bound;  // to an object barrier's next arrival
  std::vector<ProxyFence> proxy_fences;                                 // oldest first
  std::vector<MapFence> map_fences;                                     // that acquire, oldest first
  std::uint64_t init_fence = 0;                 // its last fence.mbarrier_init, as a Mark's epoch
  std::unique_ptr<ProductRegisters> registers;  // of its wgmmas; null: none yet
  std::unique_ptr<BulkGroups> bulk;             // its copies out of shared memory; null: none yet
  std::uint32_t copies_to_peers = 0;
  std::uint64_t fence_epoch = 0;  // of its last fence, until an atomic has published it
  unsigned volatile_reads = 0;
  PastRead past_reads[kPastReads];  // its last plain ones
  unsigned reads = 0;
  std::vector<TrailPoint> trail;  // with Options::trails, its last ones
  bool atomic_was_idle = false;   // its last atomic changed nothing: it may be polling
};

struct NamedBarrier {
  int expected = 0;
  int arrived = 0;
  ClockPtr clock;
  std::vector<std::uint16_t> waiting;
};

/// What a copy to another block reads of its thread's shared memory, in the asynchronous proxy.
struct FlightSource {
  Block* block = nullptr;  // null: the copy comes out of global memory
  ProxyUnit unit{};
  std::uint32_t step = 0;
  std::vector<std::uint32_t> reads;  // by 16 bytes
};
/// Copies under way that complete on a barrier: by an arrival, or by their bytes.
struct Flight {
  const void* barrier = nullptr;
  std::vector<PendingCopy> copies;
  int arrivals = 0;
  std::int64_t bytes = 0;
  ClockPtr known;                                    // to the thread that started them, then
  std::shared_ptr<std::vector<unsigned char>> tile;  // what a copy brings that is not where it came from
  FlightSource source;
  MapRead map;  // by which it finds its tile
};

/// A barrier in shared memory, or of a group.
struct ObjectBarrier {
  int expected = 0;
  int arrived = 0;
  std::int64_t awaited = 0;  // bytes announced and not yet copied
  unsigned phase = 0;
  ClockPtr gathering, complete;
  std::vector<std::uint16_t> waiting;
  Mark init;               // of who initialised it
  bool init_told = false;  // whether a copy's need of a fence behind that was looked at
};

struct Block {
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();  // unmaps its arena and stacks

  uint3 index{0, 0, 0};
  std::uint32_t id = 0;  // unique in the run, rising
  std::uint32_t generation = 1;
  int size = 0;
  int done = 0;
  int at_barrier = 0;
  int warps = 0;
  std::vector<Thread> threads;
  std::vector<std::uint16_t> ready;  // ring
  std::size_t ready_head = 0, ready_count = 0;
  unsigned warp_done[kWarp] = {};      // lanes that exited or never were
  unsigned warp_waiting[kWarp] = {};   // lanes in warp_exchange
  unsigned long long serial = 0;       // of this running of a block, for SharedSlot
  ClockPtr more;                       // known to all of its threads
  FenceLog fences;                     // its sequentially consistent ones of block scope
  std::vector<ClockPtr> fences_since;  // those of them since its last one of device scope
  std::uint32_t last_fence = 0;        // the number of that one

  unsigned char* arena = nullptr;
  std::uint32_t arena_used = 0;
  std::size_t static_shared = 0;  // bytes of its __shared__ variables so far
  std::vector<SharedPiece> pieces;
  std::vector<std::uint16_t> piece_of;  // by 4 bytes: 1 + index of the piece, 0: none
  std::unique_ptr<Shadow> shadow;
  unsigned char* dynamic = nullptr;
  NamedBarrier named[16];
  std::unordered_map<const void*, ObjectBarrier> objects;
  std::vector<Flight> flying;
  std::vector<std::unique_ptr<Warpgroup>> warpgroups;  // null: no wgmma yet
  Here met_at{"", 0}, met_at_too{"", 0};  // two barriers at which warps of the block met; line 0: none yet
  std::unordered_map<const void*, std::vector<void*>> meetings;
  int at_grid_barrier = 0;
  int held_back = 0;                 // turns that the others of the launch have first
  std::shared_ptr<Cluster> cluster;  // null: alone, and no cluster barrier yet
  unsigned rank = 0;                 // there
  int at_cluster_barrier = 0;
  bool relaxed_arrivals = false;  // some thread arrived at the cluster's barrier without a release
  unsigned met_in_cluster = 0;    // the last phase of it that was a barrier of the block, too
  bool ended = false;             // all threads have exited, and its end was looked at

  unsigned char* stacks = nullptr;
  std::size_t stack_count = 0;
  std::vector<std::uint16_t> free_stacks;  // of them, by number; the next to be taken is the last
};

struct Launch {
  std::string kernel;
  const void* kernel_address = nullptr;  // where the name is to be looked up
  std::uint32_t first_block = 0;         // id of its block 0
  std::uint32_t blocks = 0;
  uint3 grid{1, 1, 1}, block{1, 1, 1};
  int stream = 0;
  std::vector<int> knows;          // by stream: launches before this index happened before
  std::vector<int> knows_at_once;  // the same, for threads that have not waited for what it may begin beside
  bool host = false;               // a fill or copy
  int beside = -1;                 // the launch, by its index, that it may begin beside; -1: none
  bool awaited = false;            // one of its threads has waited for that one
  std::vector<int>
      open;  // launches before those indices that may be under way all the same: none that ended waited for them
  Here here{"", 0};
};

/// A launch as it was asked for.
struct LaunchOrder {
  std::string name;              // empty: looked up by the kernel's address
  const void* kernel = nullptr;  // null: not known
  uint3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared = 0;  // bytes
  void* stream = nullptr;
  bool cooperative = false, by_seam = false;
  Here here{"", 0};
  void (*body)(void*) = nullptr;
  void* closure = nullptr;
  uint3 cluster{0, 0, 0};  // cudaLaunchAttributeClusterDimension; 0: not given
  bool programmatic =
      false;  // cudaLaunchAttributeProgrammaticStreamSerialization: it may begin before the one before it has ended
};

/// A launch by a thread of the grid under way (dynamic parallelism), kept until that grid has ended.
struct NestedLaunch {
  void* stream;         // as the kernel says it
  std::uint64_t block;  // whose NULL stream that is, as its serial number
  std::function<void(void* stream)> launch;
};

/// Of a launch: the schedule may take its turn from a block that is about to make an atomic operation, and hold it back while the others go on for
/// many turns, as probabilistic concurrency testing does. What they must not do in between may take them a while.
class Preemption {
 public:
  Preemption() = default;
  /// In one of so many operations, `times` at most, for up to 2^longest turns.
  constexpr Preemption(unsigned one_in, unsigned longest, int times)
      : one_in_(one_in), longest_(longest), times_(times) {}
  /// Drawn for a launch: none, where the run's order of blocks is not.
  static Preemption of_launch();
  /// Whether the block loses its turn here; it may be held back from there on.
  bool draws(Block& block);

 private:
  unsigned one_in_ = 0, longest_ = 0;
  int times_ = 0;
};

/// Whether the run's order is one whose launches do so.
bool draws_preemption();

/// What belongs to the launch under way, and is put aside while another of the host's threads has one under way (host/callers.cpp).
struct LaunchUnderWay {
  int number = -1;  // among the run's launches
  bool cooperative = false;
  bool by_seam = false;  // launched through the seam, which asks for shared memory on the kernel's behalf
  LaunchShape shape;
  void (*body)(void*) = nullptr;
  void* closure = nullptr;
  const unsigned char* params_low = nullptr;  // the launch's arguments, on the launching thread's stack
  const unsigned char* params_high = nullptr;
  std::vector<Block*> resident;
  std::vector<NestedLaunch> nested;  // launches by the grid under way
  int depth = 0;                     // of grids that launched the one under way
  std::int64_t idle = 0;             // polls since anything changed
  std::int64_t slice_idle = 0;       // in this block's slice
  std::int64_t slice_polls = 0;      // polls in this block's slice, whatever changed
  bool turn_over = false;            // the slice ended by the schedule's draw
  bool slice_ends = false;           // at the next switch
  Preemption preemption;
  bool begins_anew = false;  // its kernel asks for clusters
  std::string short_of;      // what a further block would have needed and did not get
};

/// Of the executor: one of the host's threads at a time, as often as it likes. It may leave at once however often it has entered.
class EngineMutex {
 public:
  void lock() { mutex_.lock(), enter(); }
  bool try_lock() { return mutex_.try_lock() && enter(); }
  void unlock();  // what was found inside is told (host/report/telling.cpp)
  void unlock_quietly() { --depth_, mutex_.unlock(); }
  unsigned leave();  // how often the thread had entered
  void enter_again(unsigned depth);
  [[nodiscard]] unsigned depth() const { return depth_; }  // for the thread inside
  /// In a process that another one has forked, where only the thread is left that forked it.
  void begin_as_child();

 private:
  bool enter() {
    if (++depth_ == 1) owner_ = std::this_thread::get_id();
    return true;
  }
  std::recursive_mutex mutex_;
  unsigned depth_ = 0;  // of the thread inside
  std::thread::id owner_;
};
using EngineLock = std::unique_lock<EngineMutex>;
EngineMutex& engine();

// fibers.cpp
void switch_out();  // to the next thread of the slice, until somebody wakes this one
/// From the scheduler; a thread of the block comes back to it when the slice is over.
void switch_to(Thread& thread);
void wake(Thread& thread);
Thread& pop_ready(Block& block);
void yield(bool spinning);
void progress();  // something happened that a polling thread may be waiting for
/// The executor itself ran out of `what`: the run ends, and nothing is said about the kernel.
void run_short(const std::string& what, const char* of = "memory");
[[noreturn]] void stop();  // abandons the launch from inside a fiber
template <class F>
void for_threads_in_order(Block& b, F f);

// blocks.cpp
std::unique_ptr<Block> admit(const Launch& launch, std::uint32_t linear);
/// Whether a further block could be made. Where it could not and others are under way that need not be joined, they go on
/// without it; else the run is given up.
bool admit_or_run_short(const Launch& launch, std::uint32_t linear, bool needed);
void give_back(Block* block);
void take_stack(Thread& thread);  // of its block's, one that no other thread is on
unsigned char* top_of_stack(const Thread& thread);
void leave_stack(Thread& thread);  // it has exited

// meetings.cpp, warps.cpp: where threads wait for each other
bool same_place(Here a, Here b);
/// Completes the block's barrier where all threads that have not returned wait at it.
void meet_without_the_gone(Block& block);
/// Completes the exchange that `thread` waits in, if all lanes it needs are there. True if it did.
bool try_complete_warp(Thread& thread);
/// Lanes that asked for the active mask and whose warp cannot run on: those at one place form one group.
bool resolve_active_masks(Block& block);
void release_grid_barrier();

// shared.cpp
unsigned char* place_piece(Block& block, const char* name, const void* slot, std::size_t bytes,
                           std::size_t alignment);
void check_gaps(Block& block);

// run.cpp
/// The running thread has exited: whom that wakes. None is the running one from here on.
void end_thread(Thread& thread);
/// The thread of the block that runs next in its slice, made the running one; null: the slice is over.
Thread* next_in_slice(Block& block);
void run_blocks(const Launch& launch, bool cooperative);

// launch.cpp
/// Whether a device refuses the launch under way; noted, and the run stopped, where it does.
bool refuse_launch();
/// The launch under way is refused, whose end is the caller's.
void refuse(LaunchError error, const std::string& text);
void run_launch(const LaunchOrder& order);
/// The same of a kernel whose arguments are packed: `invoke` calls it with them.
void launch_packed(const void* kernel, void (*invoke)(const void*, void**), void** args, LaunchOrder order);

// nested.cpp
/// From a thread of the grid under way.
void launch_nested(void* stream, std::function<void(void* stream)> launch);
/// What the grid that has ended in `stream` has launched, and what that launches.
void run_nested(void* stream);

// asynchronous.cpp
bool land_flights(Block& block);  // all there are; false: there were none
void check_flights(const Block& block);

/// Both addresses, or the first (`reads` is false), of an asynchronous copy; a finding that stops the launch.
void must_be_multiple(const void* to, const void* from, int of, bool reads, Here here);
void poison_bytes(unsigned char* at, int bytes);
/// Calls `copy` with the place and the barrier of each block of `mask` that lie as those of the thread's own block.
using CopyToOne = std::function<void(void* to, const void* object)>;
void multicast(unsigned mask, void* shared_dst, const void* object, Here here, const CopyToOne& copy);
/// A thread's copy to that block.
void send(Thread& thread, Block& to, Flight flight);
/// How an object barrier of the block stands, as a clause behind who waits for it.
std::string show_barrier(const Block& block, const void* key);
/// The block that holds the barrier of an asynchronous copy, which must have been initialised; an access of the thread.
Block& take_copy_barrier(Thread& thread, const void* object, Here here);

// atomics.cpp
/// Lets others run: where the schedule draws it, and always where the thread polls.
void pause_by_chance(Thread& thread, bool polls);
/// Lets others run before an atomic or ordered access: always after one that changed nothing, else as the schedule draws.
void pause_before_atomic(Thread& thread, const volatile void* p, std::size_t bytes, Here here);

// What the scheduler asks of the host room.
/// `programmatic`: as in LaunchOrder.
Launch& open_launch(void* stream, bool programmatic = false);
/// A function of the host's that `stream` calls begins and ends on this of the host's threads (host/host_code.cpp).
void begin_host_function(const void* stream);
void end_host_function();
/// What an operation that is queued to `stream` now comes after: what the host has waited for, and by the legacy default stream's
/// rule the null stream and the blocking streams (host/api/runtime/streams.cpp).
void enter_stream(const void* stream);
/// The executor's key of the stream that a launch names, whether that stream is being captured, and a launch kept as a graph's node.
void* launch_key(void* stream);
bool is_captured(void* stream);
void capture_launch(void* stream, std::function<void(void* stream)> launch);
/// Whether the stream is one of several that the program has made (host/api/runtime/streams.cpp).
bool may_overlap(const void* stream);
/// Whether a launch with these arguments may wait for launches in other streams, which it then overlaps (host/postponed.cpp).
bool may_be_postponed(const void* stream, const void* arguments, std::size_t bytes);
/// `may_be_refused`: whether the launch is one becomes known when it runs.
void postpone(const void* stream, std::function<void()> launch, bool may_be_refused);
/// Runs what waits: whoever enters the executor for anything but a launch or its error asks for it.
void run_postponed();
/// The same where a device may refuse one of the launches: of the others it is known that their launching was no error.
void run_what_may_be_refused();
/// One of the host's threads at a time.
EngineLock enter_engine();
EngineLock try_enter_engine();  // owns nothing where another thread is inside
/// Between two slices of a launch: where the host has two callers at once, the other may go on here. `polls`: the launch waits for something.
void offer_turn(bool polls);
void begin_by_itself();  // begin_run() for a program that does not
/// Whether the program began the run by itself: it is told of a refused launch by an error code and goes on.
bool runs_by_itself();
/// Ends a program that asks for what the executor does not have, with exit code 3: this is no finding. Elsewhere it returns.
void end_unsupported(const char* what, Here here);
/// Ends a program that runs by itself where a finding has stopped the device, unless PLUMB_SIMT_GO_ON=1.
void end_if_stopped();
/// Prints what a program that runs by itself has found so far.
void report_now();

}  // namespace plumb::simt
