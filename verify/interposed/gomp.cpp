// The entry points that g++ compiles OpenMP constructs into, in front of libgomp, which offers a tool no callbacks (OMPT). A program's own
// functions are found before those of a library, for a user's plug-in too. Where no seed is in force each one only calls the next.
#include "verify/interposed/collisions.hpp"
#include "verify/interposed/next.hpp"

namespace {

using plumb::next_of;
using plumb::collisions::in_force;

// One parallel region, from its first thread to its last.
struct Region {
  void (*body)(void*);
  void* data;
  plumb::collisions::Meeting meeting = {};
};

// Where a thread is: null outside of every region that began under a seed.
thread_local Region* region = nullptr;
thread_local int meetings = 0;  // of that region

int thread_number() {
  static auto* const next = next_of<int()>("omp_get_thread_num");
  return next();
}

int team_size() {
  static auto* const next = next_of<int()>("omp_get_num_threads");
  return next();
}

void meet() {
  if (region != nullptr) region->meeting.attend(team_size(), ++meetings);
}

void pause_here() {
  if (in_force()) plumb::collisions::pause(thread_number());
}

struct Pauses {
  Pauses() { pause_here(); }
  ~Pauses() { pause_here(); }
};

// The body of a region, in each of its threads.
void run_body(void* of) {
  Region* const outer = region;
  const int outer_meetings = meetings;
  region = static_cast<Region*>(of), meetings = 0;
  meet();
  pause_here();
  plumb::collisions::begin_slices();
  region->body(region->data);
  pause_here();
  region = outer, meetings = outer_meetings;
}

}  // namespace

// A construct that is passed: a pause before it, and one after.
#define PLUMB_CONSTRUCT(RESULT, NAME, PARAMETERS, ...)           \
  RESULT NAME PARAMETERS {                                       \
    static auto* const next = next_of<RESULT PARAMETERS>(#NAME); \
    if (!in_force()) return next(__VA_ARGS__);                   \
    const Pauses pauses;                                         \
    return next(__VA_ARGS__);                                    \
  }

// A construct behind which all threads of a team stand.
#define PLUMB_BARRIER(NAME)                           \
  void NAME() {                                       \
    static auto* const next = next_of<void()>(#NAME); \
    pause_here();                                     \
    next();                                           \
    meet();                                           \
    pause_here();                                     \
  }

// A construct that begins a region with `body(data)`: the threads meet first.
#define PLUMB_REGION(RESULT, NAME, PARAMETERS, ...)                                                     \
  RESULT NAME PARAMETERS {                                                                              \
    static auto* const next = next_of<RESULT PARAMETERS>(#NAME);                                        \
    Region begun{body, data};                                                                           \
    const bool disturbed = in_force();                                                                  \
    return disturbed ? plumb_call(run_body, &begun, next, __VA_ARGS__) : next(body, data, __VA_ARGS__); \
  }

namespace {

using Body = void (*)(void*);

template <class Function, class... Arguments>
auto plumb_call(Body body, Region* begun, Function* next, Arguments... arguments) {
  return next(body, begun, arguments...);
}

}  // namespace

extern "C" {

using Ull = unsigned long long;

PLUMB_REGION(void, GOMP_parallel, (Body body, void* data, unsigned count, unsigned flags), count, flags)
PLUMB_REGION(unsigned, GOMP_parallel_reductions, (Body body, void* data, unsigned count, unsigned flags),
             count, flags)
PLUMB_REGION(void, GOMP_parallel_sections,
             (Body body, void* data, unsigned count, unsigned sections, unsigned flags), count, sections,
             flags)

#define PLUMB_REGION_OF_LOOP(KIND)                                                                           \
  PLUMB_REGION(                                                                                              \
      void, GOMP_parallel_loop_##KIND,                                                                       \
      (Body body, void* data, unsigned count, long first, long last, long step, long chunk, unsigned flags), \
      count, first, last, step, chunk, flags)
PLUMB_REGION_OF_LOOP(static)
PLUMB_REGION_OF_LOOP(dynamic)
PLUMB_REGION_OF_LOOP(guided)
PLUMB_REGION_OF_LOOP(nonmonotonic_dynamic)
PLUMB_REGION_OF_LOOP(nonmonotonic_guided)

#define PLUMB_REGION_OF_RUNTIME_LOOP(KIND)                                                                \
  PLUMB_REGION(void, GOMP_parallel_loop_##KIND,                                                           \
               (Body body, void* data, unsigned count, long first, long last, long step, unsigned flags), \
               count, first, last, step, flags)
PLUMB_REGION_OF_RUNTIME_LOOP(runtime)
PLUMB_REGION_OF_RUNTIME_LOOP(nonmonotonic_runtime)
PLUMB_REGION_OF_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

#define PLUMB_LOOP(KIND)                                                                                    \
  PLUMB_CONSTRUCT(bool, GOMP_loop_##KIND##_start,                                                           \
                  (long first, long last, long step, long chunk, long* from, long* to), first, last, step,  \
                  chunk, from, to)                                                                          \
  PLUMB_CONSTRUCT(bool, GOMP_loop_##KIND##_next, (long* from, long* to), from, to)                          \
  PLUMB_CONSTRUCT(bool, GOMP_loop_ull_##KIND##_start,                                                       \
                  (bool up, Ull first, Ull last, Ull step, Ull chunk, Ull* from, Ull* to), up, first, last, \
                  step, chunk, from, to)                                                                    \
  PLUMB_CONSTRUCT(bool, GOMP_loop_ull_##KIND##_next, (Ull * from, Ull * to), from, to)
PLUMB_LOOP(static)
PLUMB_LOOP(dynamic)
PLUMB_LOOP(guided)
PLUMB_LOOP(nonmonotonic_dynamic)
PLUMB_LOOP(nonmonotonic_guided)
PLUMB_LOOP(ordered_static)
PLUMB_LOOP(ordered_dynamic)
PLUMB_LOOP(ordered_guided)

PLUMB_BARRIER(GOMP_barrier)
PLUMB_BARRIER(GOMP_loop_end)
PLUMB_BARRIER(GOMP_sections_end)
PLUMB_CONSTRUCT(void, GOMP_loop_end_nowait, (), )
PLUMB_CONSTRUCT(void, GOMP_sections_end_nowait, (), )
PLUMB_CONSTRUCT(unsigned, GOMP_sections_start, (unsigned count), count)
PLUMB_CONSTRUCT(unsigned, GOMP_sections_next, (), )
PLUMB_CONSTRUCT(void, GOMP_critical_start, (), )
PLUMB_CONSTRUCT(void, GOMP_critical_end, (), )
PLUMB_CONSTRUCT(void, GOMP_critical_name_start, (void** name), name)
PLUMB_CONSTRUCT(void, GOMP_critical_name_end, (void** name), name)
PLUMB_CONSTRUCT(void, GOMP_atomic_start, (), )
PLUMB_CONSTRUCT(void, GOMP_atomic_end, (), )
PLUMB_CONSTRUCT(void, GOMP_ordered_start, (), )
PLUMB_CONSTRUCT(void, GOMP_ordered_end, (), )
PLUMB_CONSTRUCT(void, GOMP_doacross_post, (long* counts), counts)
PLUMB_CONSTRUCT(void, GOMP_taskwait, (), )
PLUMB_CONSTRUCT(void, omp_set_lock, (void* lock), lock)
PLUMB_CONSTRUCT(void, omp_unset_lock, (void* lock), lock)

// The one thread that a construct is given to comes late more often than not: the others must not depend on it.
bool GOMP_single_start() {
  static auto* const next = next_of<bool()>("GOMP_single_start");
  if (!in_force()) return next();
  pause_here();
  const bool chosen = next();
  for (int i = 0; i < (chosen ? 4 : 1); ++i) pause_here();
  return chosen;
}

// Asked where a loop of static schedule begins, which is no call of its own.
int omp_get_thread_num() {
  const int number = thread_number();
  if (in_force()) plumb::collisions::pause(number);
  return number;
}

}  // extern "C"
