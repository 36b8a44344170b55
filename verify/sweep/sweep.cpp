#include "verify/sweep/sweep.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <omp.h>

#include "reference/core/error.hpp"
#include "reference/core/resource_error.hpp"
#include "reference/core/threads.hpp"

namespace plumb {
namespace {

void on_interrupt(int signal) { stop_signal = signal; }

}  // namespace

bool Sweep::stopped() const { return stopped_ || stop_signal != 0; }

std::exception_ptr Sweep::run(std::size_t count, const OperatorOf& operator_of, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto histories = std::make_shared<VariantHistories>();
  const int threads = omp_get_max_threads(), threads_each = std::max(1, threads / workers_);
  const auto take_threads = [&] {  // a new thread would take OpenMP's default
    const std::lock_guard lock(mutex);
    omp_set_num_threads(threads_each);
    limit_openmp_threads();
  };
  const auto share = [&] {
    take_threads();
    try {
      Runner runner(run_, {}, histories);
      std::string op;
      for (std::size_t i; (i = next++) < count && !stopped();) {
        if (std::string now = operator_of(i); now != op) {
          runner.forget_workers();
          op = std::move(now);
        }
        work(runner, i);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop();
    }
  };
  std::vector<std::thread> others;
  try {
    for (int t = 1; t < workers_; ++t) others.emplace_back(share);
  } catch (const std::system_error&) {  // with the workers that could be started
  } catch (const std::bad_alloc&) {}
  share();
  for (std::thread& t : others) t.join();
  omp_set_num_threads(threads);
  return failure;
}

void end_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2}) {
    struct sigaction now {};
    const bool is_ignored =
        sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;  // as by nohup
    if (!is_ignored) sigaction(signal, &action, nullptr);
  }
}

void check_threads() {
  const char* const given = std::getenv("OMP_NUM_THREADS");
  if (given == nullptr) return;
  if (std::strtol(given, nullptr, 10) > most_openmp_threads()) {
    throw Error(fmt::format("OMP_NUM_THREADS={}: at most {} threads on this machine", printable(given),
                            most_openmp_threads()));
  }
}

void require_child(const RunOptions& run) {
  if (run.isolation == Isolation::none) return;
  Worker child(this_program());
  const Worker::Outcome outcome = child.missing_resources();
  if (outcome.kind != Worker::Outcome::Kind::replied || outcome.reply.text.empty()) return;
  throw ResourceError(outcome.reply.text + "; OMP_NUM_THREADS=1 asks for less");
}

}  // namespace plumb
