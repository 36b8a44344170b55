// The same for libomp, by OpenMP's own interface for tools (OMPT, OpenMP 5.0, section 4): a tool whose callbacks pause. A plug-in that
// clang compiled meets it too. Of the interface only what is used is declared.
#include <cstdint>

#include "verify/interposed/collisions.hpp"

namespace {

union Data {
  std::uint64_t value;
  void* pointer;
};
using Callback = void (*)();
using SetCallback = int (*)(int event, Callback);
using Lookup = Callback (*)(const char* name);

enum Event {
  kImplicitTask = 7,
  kMutexReleased = 17,
  kWork = 20,
  kSyncRegion = 23,
  kMutexAcquire = 26,
  kDispatch = 32
};

void on_implicit_task(int, Data*, Data*, unsigned, unsigned number, int) {
  plumb::collisions::pause(static_cast<int>(number));
  plumb::collisions::begin_slices();
}
void on_work(int, int, Data*, Data*, std::uint64_t, const void*) { plumb::collisions::pause(-1); }
void on_sync_region(int, int, Data*, Data*, const void*) { plumb::collisions::pause(-1); }
void on_acquire(int, unsigned, unsigned, std::uint64_t, const void*) { plumb::collisions::pause(-1); }
void on_release(int, std::uint64_t, const void*) { plumb::collisions::pause(-1); }
void on_dispatch(Data*, Data*, int, Data) { plumb::collisions::pause(-1); }

int initialize(Lookup lookup, int, Data*) {
  const auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  set(kImplicitTask, reinterpret_cast<Callback>(on_implicit_task));
  set(kWork, reinterpret_cast<Callback>(on_work));
  set(kSyncRegion, reinterpret_cast<Callback>(on_sync_region));
  set(kMutexAcquire, reinterpret_cast<Callback>(on_acquire));
  set(kMutexReleased, reinterpret_cast<Callback>(on_release));
  set(kDispatch, reinterpret_cast<Callback>(on_dispatch));
  return 1;
}

void finalize(Data*) {}

struct Tool {
  int (*initialize)(Lookup, int, Data*);
  void (*finalize)(Data*);
  Data data;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Tool* ompt_start_tool(unsigned, const char*) {
  static Tool tool{initialize, finalize, {0}};
  return &tool;
}
