#include "reference/core/threads.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <omp.h>

namespace plumb {
namespace {

// Threads that all wait until released, so that they exist at the same time.
class WaitingThreads {
 public:
  WaitingThreads() { pthread_mutex_lock(&gate_); }
  ~WaitingThreads() {
    pthread_mutex_unlock(&gate_);
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }
  WaitingThreads(const WaitingThreads&) = delete;
  WaitingThreads& operator=(const WaitingThreads&) = delete;

  [[nodiscard]] bool start_one() {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, pass_gate, &gate_) != 0) return false;
    threads_.push_back(thread);
    return true;
  }

 private:
  static void* pass_gate(void* gate) {
    pthread_mutex_lock(static_cast<pthread_mutex_t*>(gate));
    pthread_mutex_unlock(static_cast<pthread_mutex_t*>(gate));
    return nullptr;
  }
  pthread_mutex_t gate_ = PTHREAD_MUTEX_INITIALIZER;
  std::vector<pthread_t> threads_;
};

// pids.max of this process's control group, "" where there is none.
std::string pids_of_control_group() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // HIERARCHY:CONTROLLERS:PATH
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers != "pids") continue;
    std::ifstream file("/sys/fs/cgroup" + (controllers.empty() ? "" : "/" + controllers) +
                       line.substr(second + 1) + "/pids.max");
    std::string most;
    if (file >> most && most != "max") return most;
  }
  return {};
}

}  // namespace

std::string process_limit_text() {
  std::string text;
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    text = fmt::format("ulimit -u is {}", limit.rlim_cur);
  if (const std::string most = pids_of_control_group(); !most.empty())
    text += fmt::format("{}pids.max of the control group is {}", text.empty() ? "" : ", ", most);
  return text.empty() ? text : fmt::format(" ({})", text);
}

int most_openmp_threads() {
  return std::max(1024, 8 * static_cast<int>(std::thread::hardware_concurrency()));
}

int startable_threads(int wanted) {
  WaitingThreads waiting;
  int threads = 1;
  while (threads < wanted && waiting.start_one()) ++threads;
  return threads;
}

int limit_openmp_threads(int others) {
  const int wanted = omp_get_max_threads();
  const int threads = std::max(1, startable_threads(wanted + others) - others);
  if (threads < wanted) omp_set_num_threads(threads);
#pragma omp parallel
  {}
  return threads;
}

ThreadsForWork::ThreadsForWork(double operations) : usual_(omp_get_max_threads()) {
  constexpr double kWorthSharing = 1e7;  // operations: several milliseconds of an oracle
  if (operations < kWorthSharing) omp_set_num_threads(1);
}
ThreadsForWork::~ThreadsForWork() { omp_set_num_threads(usual_); }

void run_side_by_side(const std::function<void()>& here, const std::function<void()>& there) {
  // either: it is run by get() where no thread can be started
  std::future<void> other =
      std::async(std::launch::async | std::launch::deferred, [&, threads = omp_get_max_threads()] {
        omp_set_num_threads(threads);  // a new thread has OpenMP's default
        there();
      });
  std::exception_ptr failure;
  try {
    here();
  } catch (...) { failure = std::current_exception(); }
  if (failure) {
    other.wait();
    std::rethrow_exception(failure);
  }
  other.get();
}

}  // namespace plumb
