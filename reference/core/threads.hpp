// How many threads this process can start. libgomp ends a program whose threads cannot be started, so every program asks first.
#pragma once
#include <functional>
#include <string>

namespace plumb {

/// The most OpenMP threads that a process is given: libgomp keeps a table of its threads on a stack, and ends in SIGSEGV where that
/// stack is too small for them.
[[nodiscard]] int most_openmp_threads();

/// " (ulimit -u is 3)", or with pids.max of the control group; "" where neither limits processes.
[[nodiscard]] std::string process_limit_text();

/// Threads that can exist at once in this process, the caller among them: `wanted`, or fewer where the system refuses them.
[[nodiscard]] int startable_threads(int wanted);

/// Makes OpenMP in the calling thread use no more threads than can be started while `others` threads or processes of this user are
/// started beside them, and starts them, so that nothing else takes their place. Returns how many they are. A thread that is started
/// later has OpenMP's default again.
int limit_openmp_threads(int others = 0);

/// While it lives, parallel regions of the calling thread have one thread where so many operations are too few to share. The threads
/// of a region wait busily for the next one, for milliseconds: longer than a small oracle takes, on cores that a child could use.
class ThreadsForWork {
 public:
  explicit ThreadsForWork(double operations);
  ~ThreadsForWork();
  ThreadsForWork(const ThreadsForWork&) = delete;
  ThreadsForWork& operator=(const ThreadsForWork&) = delete;

 private:
  int usual_;
};

/// Runs `here`, and beside it `there` in a thread of its own with as many OpenMP threads as this one has; one after the other where no
/// thread can be started. Rethrows what `here` threw, else what `there` threw.
void run_side_by_side(const std::function<void()>& here, const std::function<void()>& there);

}  // namespace plumb
