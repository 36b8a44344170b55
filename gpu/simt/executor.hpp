// The CPU executor, seen from a host program: choose a schedule, name the arrays a kernel may touch, run,
// collect findings.
//
// Why this shape: a wrong kernel is data, so nothing here throws for one. A finding that makes further
// execution meaningless (a divergent barrier, an access out of bounds) abandons the fibers of that launch
// where they stand, without unwinding through instrumented code, and later launches of the same run do
// nothing, as after a sticky error on a device. A race is recorded and the kernel goes on. One
// operating-system thread launches at a time: parallelism over cases is over processes.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/simt/language/vector_types.hpp"

namespace plumb::simt {

/// Order in which runnable threads are picked. All are legal on a device; each hides other mistakes.
enum class Order : std::uint8_t { from_seed, ascending, descending, by_warp, random };

/// How a run is scheduled and what it starts from. The same options and the same kernels give the same run.
struct Options {
  std::uint64_t seed = 0;
  Order order = Order::from_seed;
  std::uint32_t poison = 0x7fc0dead;  // pattern of shared memory at block start
  int resident_blocks = 1;  // blocks under way at once; more are admitted where running ones wait for others
  int multiprocessors = 4;  // what device_multiprocessors() answers
  int max_findings = 32;    // distinct ones; further ones are counted only
  std::int64_t max_threads =
      0;          // of all launches together; a launch beyond them stops the run. 0: any number
  int chip = 90;  // the compute capability whose launch limits apply: 90 is sm_90
  bool chip_is_told =
      false;          // to the program, as the device's; else its compute capability is that of its language
  bool check = true;  // every access, for races, bounds and initialisation; false: only what shows by itself
  bool strict = false;              // two plain writes of the same value race, too
  bool trails = false;              // findings tell what their threads met before
  bool volatile_is_atomic = false;  // volatile accesses of global memory are relaxed atomics, as in PTX
};

enum class FindingKind : std::uint8_t {
  race,
  out_of_bounds,
  read_only_written,
  uninitialised,
  misaligned,
  divergent_barrier,
  lane_outside_mask,
  deadlock,
  async_copy_not_waited_for,
  exited_block,       // whose shared memory another of its cluster uses
  product_registers,  // of a wgmma, used before its wait or without its fence
  trap,
  bad_launch,
  device_memory_on_host,
};
const char* name_of(FindingKind kind);

/// A place in a source file; line 0 where it is not known.
struct Place {
  std::string file;
  int line = 0;
  std::string by = "";  // what a compiler made of it, where that is what ran: FILE:LINE of PTX
};

/// A thread of a launch, or the host: its code, or its copies and fills.
struct ThreadId {
  uint3 block{0, 0, 0};
  uint3 thread{0, 0, 0};
  bool host = false;
};

/// A barrier, fence or other order that a thread of a finding came to.
struct TrailStep {
  std::string what;
  Place place;
  std::uint32_t generation = 0;  // barriers of its whole block before it
  bool before = true;            // the thread's access
};

/// One thing that is wrong with a kernel. For a race, `place`/`thread` is the access that came second in this
/// schedule.
struct Finding {
  FindingKind kind = FindingKind::race;
  std::string kernel;
  std::string text;  // one line: what happened, to which element of which array
  std::string hint;  // what would order the two accesses, or what to look at; may be empty
  Place place;
  ThreadId thread;
  bool is_note = false;  // worth a look, and no mistake by itself
  bool has_other = false;
  Place other_place;
  ThreadId other_thread;
  std::string other_kernel;  // where the other access is of another launch
  std::string array;         // empty where no array is involved
  std::int64_t offset = -1;  // bytes into it
  std::vector<TrailStep> trail,
      other_trail;           // with Options::trails; empty where the thread's block has ended
  std::string suppressed;    // the rule that lets it be, as FILE:LINE
  std::int64_t repeats = 1;  // how often the same pair of lines was seen

  /// The finding in full, several lines, as a verdict prints it.
  std::string describe() const;
};

/// Forgets arrays and findings and starts a run. Streams start in no order to each other; the first launch
/// orders nothing.
void begin_run(const Options& options);

/// Ends the run; its findings with their source lines resolved (needs addr2line, of binutils, for races and
/// bounds).
std::vector<Finding> end_run();

/// The findings since they were last taken, likewise; the run goes on.
std::vector<Finding> findings_so_far();

/// Whether a finding, or what the executor ran out of, has stopped the run: launches do nothing from there on, and device_read()
/// throws, as after a sticky error on a device.
bool stopped();

/// Threads that a launch beyond Options::max_threads would have brought the run to; 0 where there was none.
std::int64_t threads_refused();

/// What the executor itself ran out of, as "out of memory: ..."; empty where nothing. It says nothing about the kernel, whose run
/// was given up.
std::string shortage();

/// Makes [data, data + bytes) an array that kernels may touch. Where `initialised` is false, a read before a
/// write is a finding; where `writable` is false, a write is. Memory outside every array, shared memory and
/// program variables is out of bounds. Where `device_only` is true, an access by instrumented host code is a finding, as it is an
/// error on a device.
void add_array(const std::string& name, const void* data, std::size_t bytes, bool initialised, bool writable,
               bool device_only = false);
void remove_array(const void* data);

/// Work queued to `later` from here on starts after everything queued to `earlier` so far (an event and its
/// wait).
void order_streams(const void* later, const void* earlier);
/// Everything queued so far happens before everything queued from here on (a device-wide synchronisation).
void order_all();
/// A stream of the runtime that does not wait for the default one. It is never destroyed: its address tells it from others.
void* make_stream();
/// Calls both, as two of the host's threads do. Launches of the two that no stream orders overlap: between blocks of one, and where its threads
/// wait, the other goes on as the run's seed draws. Throws what one of them throws.
void call_together(const std::function<void()>& first, const std::function<void()>& second);
/// Reads the bytes in the order of `stream`, as whoever uses the result there does: what another stream writes, and this one has not
/// waited for, is a race. Bytes that nothing wrote are no finding.
void read_in_order(const char* what, const void* data, std::size_t bytes, void* stream);

/// What the run did: launches, blocks, thread switches, instrumented accesses.
struct Counters {
  std::int64_t launches = 0, blocks = 0, threads = 0, switches = 0, accesses = 0;
};
Counters counters();

/// What programs were given and have not given back, of any run.
struct Held {
  std::int64_t streams = 0, events = 0, arrays = 0;  // arrays: of cudaMalloc and its like
};
Held held();

}  // namespace plumb::simt
