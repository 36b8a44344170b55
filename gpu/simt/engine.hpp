// Inside the executor: threads, blocks, the shadow of memory and the clocks that say what happened before
// what.
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
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/simt/device_api.hpp"
#include "gpu/simt/executor.hpp"

namespace plumb::simt {

constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kArenaBytes = 256 * 1024;  // shared memory with the gaps between its pieces

/// A place in the code in 32 bits: the low 31 bits of an instruction's address, or with the top bit an index
/// of a Here.
using Location = std::uint32_t;
constexpr Location kHereBit = 0x80000000u;
Location locate(Here here);
inline Location locate(const void* pc) {
  return static_cast<Location>(reinterpret_cast<std::uintptr_t>(pc)) & ~kHereBit;
}

/// What is known of other blocks' and other warps' threads. Immutable once shared.
struct Known {
  std::uint32_t block = 0;
  std::uint32_t generation = 0;                                  // all of its earlier generations are known
  std::vector<std::pair<std::uint16_t, std::uint32_t>> threads;  // and of this one: (thread, step), by thread
};
struct Clock {
  std::vector<Known> blocks;  // by block
};
using ClockPtr = std::shared_ptr<const Clock>;
ClockPtr join(const ClockPtr& a, const ClockPtr& b);

struct Block;

struct PendingCopy {
  unsigned char* to;
  const unsigned char* from;
  int bytes, valid;
  Location location;
  bool landed;  // the bytes are there already; only the wait is missing
};

enum class State : std::uint8_t {
  ready,
  block_barrier,
  warp,
  active_mask,
  named_barrier,
  grid_barrier,
  done
};

struct Thread {
  void* context = nullptr;  // where the fiber stands
  Block* block = nullptr;
  uint3 index{0, 0, 0};
  std::uint16_t id = 0;  // linear in the block
  std::uint8_t lane = 0, warp = 0;
  State state = State::ready;
  unsigned char* stack_low = nullptr;

  // What it waits for.
  Here here{"", 0};
  const char* waits_for = "";
  unsigned mask = 0;
  Combine combine = nullptr;
  void* in = nullptr;
  void* out = nullptr;
  unsigned answer = 0;
  int barrier_id = 0;

  // What it knows.
  std::uint32_t step = 1;  // counts its own releases, never back
  std::uint32_t warp_step[kWarp] =
      {};  // of the lanes of its warp, in warp_generation; older ones say nothing
  std::uint32_t warp_generation = 0;
  ClockPtr more;                         // beyond its generation and its warp
  ClockPtr fenced_device, fenced_block;  // what its next flag store publishes
  ClockPtr seen_device, seen_block;  // what flags it read carried, effective from its next fence or barrier
  bool has_clocks = false;           // any of the above is set
  std::uint32_t fenced_generation = 0;  // when it last executed a fence

  std::vector<PendingCopy> open;                                        // started, not committed
  std::deque<std::vector<PendingCopy>> committed;                       // groups, oldest first
  std::vector<std::pair<const void*, std::vector<PendingCopy>>> bound;  // to an object barrier's next arrival
  std::uint64_t fence_epoch = 0;  // of its last fence, until an atomic has published it
  unsigned volatile_reads = 0;
  bool atomic_was_idle = false;  // its last atomic changed nothing: it may be polling
};

/// One access, as the shadow keeps it.
enum Strength : std::uint8_t { kPlain = 0, kBlockScope = 1, kDeviceScope = 2 };
struct Mark {
  std::uint64_t epoch = 0;  // generation << 32 | step
  std::uint32_t block = 0;  // 0: no access
  Location location = 0;
  std::uint32_t lanes = 0;  // of the warp; several where they stood at the same step
  std::uint8_t warp = 0;
  std::uint8_t strength = kPlain;
  std::uint8_t writes = 0;
  std::uint8_t async = 0;  // of an asynchronous copy
};
/// Groups of reads or atomics of one granule, beyond the first.
struct MarkSet {
  std::vector<Mark> marks;
  std::uint64_t warps = 0;  // a bit for each warp that may be among them (warp_bit)
};
/// Shadow of one granule (4 bytes, or 1 where an array is accessed in smaller pieces).
struct Cell {
  Mark write;                     // the last plain write
  Mark other;                     // one group of reads or atomics since
  std::uint32_t more = 0;         // index of further ones, 0: none
  std::uint32_t owner_block = 0;  // shared memory: whose contents these are; older ones are nothing
  std::uint8_t initialised = 0;
  std::uint8_t async_pending = 0;
  std::uint16_t async_thread = 0;
  std::uint8_t atomics = 0;  // some mark beside `write` is a write
};

/// The shadow of a contiguous range of memory. Pages come into being when touched.
class Shadow {
 public:
  explicit Shadow(std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  Cell* at(std::size_t offset) { return cells_ + (offset >> shift_); }
  std::size_t granule() const { return std::size_t{1} << shift_; }
  void refine();  // from 4-byte to 1-byte granules
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  int shift_ = 2;
  Cell* cells_;
};

struct Array {
  std::string name;
  unsigned char* base = nullptr;
  std::size_t bytes = 0;
  bool initialised = true;
  bool writable = true;
  std::unique_ptr<Shadow> shadow;  // made at the first access that needs it
};

/// A piece of a block's shared memory.
struct SharedPiece {
  const char* name;
  const void* slot;          // who asked for it
  std::uint32_t begin, end;  // bytes in the arena
};

struct NamedBarrier {
  int expected = 0;
  int arrived = 0;
  ClockPtr clock;
  std::vector<std::uint16_t> waiting;
};

/// Copies under way that complete on a barrier: by an arrival, or by their bytes.
struct Flight {
  const void* barrier = nullptr;
  std::vector<PendingCopy> copies;
  int arrivals = 0;
  std::int64_t bytes = 0;
  ClockPtr known;  // to the thread that started them, then
};

/// A barrier in shared memory, or of a group.
struct ObjectBarrier {
  int expected = 0;
  int arrived = 0;
  std::int64_t awaited = 0;  // bytes announced and not yet copied
  unsigned phase = 0;
  ClockPtr gathering, complete;
  std::vector<std::uint16_t> waiting;
};

struct Block {
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
  unsigned warp_done[kWarp] = {};     // lanes that exited or never were
  unsigned warp_waiting[kWarp] = {};  // lanes in warp_exchange
  unsigned long long serial = 0;      // of this running of a block, for SharedSlot
  ClockPtr more;                      // known to all of its threads

  unsigned char* arena = nullptr;
  std::uint32_t arena_used = 0;
  std::vector<SharedPiece> pieces;
  std::vector<std::uint16_t> piece_of;  // by 4 bytes: 1 + index of the piece, 0: none
  std::unique_ptr<Shadow> shadow;
  unsigned char* dynamic = nullptr;
  NamedBarrier named[16];
  std::unordered_map<const void*, ObjectBarrier> objects;
  std::vector<Flight> flying;
  Here met_at{"", 0}, met_at_too{"", 0};  // two barriers at which warps of the block met; line 0: none yet
  std::unordered_map<const void*, std::vector<void*>> meetings;
  int at_grid_barrier = 0;

  unsigned char* stacks = nullptr;
  std::size_t stack_count = 0;
};

struct Launch {
  std::string kernel;
  const void* kernel_address = nullptr;  // where the name is to be looked up
  std::uint32_t first_block = 0;         // id of its block 0
  std::uint32_t blocks = 0;
  uint3 grid{1, 1, 1}, block{1, 1, 1};
  int stream = 0;
  std::vector<int> knows;  // by stream: launches before this index happened before
  bool host = false;       // a fill or copy
  Here here{"", 0};
};

/// A flag: what those who wrote it had published.
struct Flag {
  ClockPtr device;
  ClockPtr block;
  std::uint32_t block_id = 0;
};

/// A finding whose places are still addresses.
struct RawFinding {
  Finding finding;
  Location location = 0, other_location = 0;
  int launch = 0, other_launch = 0;
};

/// Two unordered plain writes that may have stored the same value: decided once the second has been executed.
struct Doubt {
  const unsigned char* at = nullptr;  // null: none
  std::size_t bytes = 0;
  unsigned char before[16] = {};
};

/// Everything there is. One per process: instrumented code finds it without an argument.
struct Engine {
  Options options;
  bool begun = false;  // begin_run() was called
  bool is_stopped = false;
  bool running = false;  // inside a launch
  Counters counters;
  std::uint64_t rng = 1;
  Order order = Order::ascending;

  // Of each of the host's threads: instrumented host code beside a launch is no fiber of it.
  static inline thread_local Thread* current = nullptr;
  void* scheduler = nullptr;  // context to return to
  bool cooperative = false;
  std::uint32_t next_block_id = 1;
  unsigned long long block_serial = 0;
  std::vector<Launch> launches;
  const unsigned char* params_low = nullptr;  // the launch's arguments, on the launching thread's stack
  const unsigned char* params_high = nullptr;

  std::vector<std::unique_ptr<Array>> arrays;
  Array* last_array = nullptr;
  std::vector<std::unique_ptr<Array>> image;  // writable segments of the program: __device__ variables
  std::vector<std::pair<const unsigned char*, const unsigned char*>> constants;  // its read-only segments

  std::unordered_map<const volatile void*, Flag> flags;
  std::vector<MarkSet> mark_sets;            // [0] unused
  std::vector<std::uint32_t> free_mark_sets;

  std::vector<const void*> streams;            // [0]: the null stream
  std::vector<std::vector<int>> stream_knows;  // by stream: what its next launch knows

  Doubt doubt;
  RawFinding doubtful;
  const unsigned char* access_at = nullptr;  // the access being looked at
  std::size_t access_bytes = 0;
  std::vector<RawFinding> findings;
  std::int64_t further_findings = 0;
};
extern Engine engine;
/// Whether every access is looked at, and clocks are kept.
inline bool checking() { return engine.options.check; }

inline std::uint64_t next_random() {
  engine.rng ^= engine.rng << 13;
  engine.rng ^= engine.rng >> 7;
  engine.rng ^= engine.rng << 17;
  return engine.rng;
}

inline bool one_in(unsigned n) { return next_random() % n == 0; }

// executor.cpp
void set_heap_limit(std::size_t bytes);  // of what kernels allocate (device_heap.cpp)
void switch_out();                       // to the scheduler, until somebody wakes the running thread
void wake(Thread& t);
Launch& open_launch(void* stream);
std::vector<int> knowledge_of(const void* stream);  // launches that its next one comes after, by stream
void add_knowledge(const void* stream, const std::vector<int>& knows);
/// What an operation that is queued to `stream` now comes after: what the host has waited for, and by the legacy default stream's
/// rule the null stream and the blocking streams (host_streams.cpp).
void enter_stream(const void* stream);
/// The executor's key of the stream that a launch names, whether that stream is being captured, and a launch kept as a graph's node.
void* launch_key(void* stream);
bool is_captured(void* stream);
void capture_launch(void* stream, std::function<void(void* stream)> launch);
/// One of the host's threads at a time.
std::unique_lock<std::recursive_mutex> enter_engine();
void begin_by_itself();  // begin_run() for a program that does not (host_api.cpp)
void yield(bool spinning);
bool land_flights(Block& block);  // all there are; false: there were none (asynchronous.cpp)

/// Lets others run before an atomic or ordered access: always after one that changed nothing, else as the schedule draws.
void pause_before_atomic(Thread& thread, Here here);
void progress();           // something happened that a polling thread may be waiting for
[[noreturn]] void stop();  // abandons the launch from inside a fiber

// findings
/// Decides the doubt there may be; call when the write in question has been executed.
void settle_doubt();
inline void settle() {
  if (engine.doubt.at != nullptr) settle_doubt();
}
RawFinding* note(FindingKind kind, const std::string& text, const Thread* thread, Location location,
                 Location other_location = 0);

/// The findings so far, resolved, and forgotten: end_run() without the end.
std::vector<Finding> take_findings();
/// Prints what a program that runs by itself has found so far (host_api.cpp).
void report_now();

// race.cpp: what happens to memory and to clocks
enum class Access : std::uint8_t {
  read,
  write,
  volatile_read,
  volatile_write,
  atomic_load,
  atomic_store,
  atomic_rmw
};
void access(void* p, std::size_t bytes, Access kind, Location location, Scope scope = Scope::device);
void async_started(void* to, const void* from, std::size_t bytes, std::size_t valid, Location location);
/// The copy has come: for whoever waited (`taken`) a write of the running thread, else still one of the thread that started it.
void async_landed(Block& block, void* to, std::size_t bytes, Location location, bool taken);
void on_block_barrier(Block& block);  // before the generation rises
void on_warp_sync(Block& block, int warp, unsigned mask);
void on_fence(Thread& thread, Scope scope);
ClockPtr snapshot(Thread& thread);
void learn(Thread& thread, const ClockPtr& clock);
void on_grid_barrier(std::vector<Block*>& blocks);
/// A fill (from null) or copy in stream order: checks bounds and leaves its mark.
void host_operation(const char* what, void* stream, Here here, void* to, const void* from, std::size_t bytes);
void load_image();  // finds the program's segments
void forget_marks();
/// True where the executor should let others run: the thread polls.
bool polling(Thread& thread);

// locate.cpp
Place resolve(Location location);
std::vector<Place> resolve(const std::vector<Location>& locations);
std::string function_name(const void* address);

}  // namespace plumb::simt
