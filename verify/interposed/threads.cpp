// Functions of threads and locks, in front of the system's. Also libgomp's own threads are started through them.
#include <pthread.h>

#include <memory>

#include "verify/interposed/collisions.hpp"
#include "verify/interposed/next.hpp"

namespace {

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* begin(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  struct Known {
    Known() { plumb::collisions::enter_thread(); }
    ~Known() { plumb::collisions::leave_thread(); }
  } known;
  plumb::collisions::begin_together();
  return owned->routine(owned->argument);
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  static auto* const next = plumb::next_of<decltype(pthread_create)>("pthread_create");
  auto start = std::make_unique<Start>(Start{routine, argument});
  plumb::collisions::note_start();
  const int status = next(thread, attributes, begin, start.get());
  if (status == 0) (void)start.release();
  return status;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const next = plumb::next_of<decltype(pthread_mutex_lock)>("pthread_mutex_lock");
  if (plumb::collisions::in_force()) plumb::collisions::pause(-1);
  return next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static auto* const next = plumb::next_of<decltype(pthread_mutex_unlock)>("pthread_mutex_unlock");
  const int status = next(mutex);
  if (plumb::collisions::in_force()) plumb::collisions::pause(-1);
  return status;
}

int pthread_barrier_wait(pthread_barrier_t* barrier) {
  static auto* const next = plumb::next_of<decltype(pthread_barrier_wait)>("pthread_barrier_wait");
  plumb::collisions::pause(-1);
  const int status = next(barrier);
  plumb::collisions::pause(-1);
  return status;
}

}  // extern "C"
