// What was found is told when the work has ended in which it was found (host/report/telling.cpp). What is left for the end is a launch that is
// still under way, launches that wait, counts, and the exit code.
//
// A signal's handler may do next to nothing, and this one tells all: it may meet a lock that the thread holds which it interrupted. So a
// timer runs beside it, and what cannot be told in its time ends the program untold. Where a launch is under way the handler only stops it.
#include "gpu/simt/host/ends.hpp"

#include <dirent.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gpu/simt/host/report/telling.hpp"
#include "gpu/simt/state.hpp"
#include "reference/core/exhaustion.hpp"

namespace plumb::simt {

namespace {

constexpr int kPatience = 3;  // seconds for a launch to stop, and again for what is told

pid_t the_process = 0;
std::atomic<int> alarms{0};
std::atomic<pid_t> successor{0};  // the program that exec() has put beside this process
enum class Telling : int { not_begun, begun, ended };
std::atomic<Telling> telling{Telling::not_begun};
pthread_t teller;

// All but the faults of the processor, which processor_faults.cpp sees first.
constexpr int kEndingSignals[] = {SIGTERM, SIGINT,  SIGHUP,    SIGQUIT, SIGABRT, SIGALRM,
                                  SIGXCPU, SIGPIPE, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2,
                                  SIGXFSZ, SIGSYS,  SIGTRAP,   SIGIO,   SIGPWR};

[[noreturn]] void die_by(int signal) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  sigset_t it;
  sigemptyset(&it);
  sigaddset(&it, signal);
  pthread_sigmask(SIG_UNBLOCK, &it, nullptr);
  kill(getpid(), signal);
  usleep(100000);
  leave(128 + signal);
}

void write_plainly(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

void on_alarm(int);

void set_alarm() {
  struct sigaction mine {};
  mine.sa_handler = &on_alarm;
  mine.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &mine, nullptr);
  sigset_t it;
  sigemptyset(&it);
  sigaddset(&it, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &it, nullptr);
  itimerval patience{};
  patience.it_value.tv_sec = kPatience;
  setitimer(ITIMER_REAL, &patience, nullptr);
}

std::string name_of_signal(int signal) { return fmt::format("SIG{}", sigabbrev_np(signal)); }

// The code that the end asks for, when all is told. The caller may be a handler.
int tell_last(const char* cut) {
  Telling was = Telling::not_begun;
  if (!telling.compare_exchange_strong(was, Telling::begun)) {
    if (was == Telling::ended || pthread_equal(teller, pthread_self()) != 0) return code_of_the_end();
    for (;;) pause();  // another thread ends the program
  }
  teller = pthread_self();
  if (!runs_in_kernel() && !current().run.is_stopped) run_postponed();
  const int code = tell_the_rest(cut);
  telling = Telling::ended;
  return code;
}

// Where another thread has a launch under way, it is stopped, and waited for.
void wait_for_engine() {
  constexpr int kTries = kPatience * 100;
  for (int i = 0; i < kTries; ++i) {
    if (engine().try_lock()) return;
    current().run.is_stopped = true;
    usleep(10000);
  }
}

[[noreturn]] void end_by(int signal) {
  set_alarm();
  tell_last(name_of_signal(signal).c_str());
  die_by(signal);
}

// Neither the launch nor the telling came to an end.
void on_alarm(int) {
  const int signal = current().run.cut;
  if (++alarms > 1) {
    write_plainly("cut: the program was ended before all could be told\n");
    die_by(signal != 0 ? signal : SIGALRM);
  }
  end_by(signal != 0 ? signal : SIGALRM);
}

// Whether the thread may tell now: nobody is inside the executor, this thread included.
bool is_free() {
  if (!engine().try_lock()) return false;
  if (engine().depth() == 1 && !runs_in_kernel()) return true;
  engine().unlock_quietly();
  return false;
}

// abort(), by itself, an assertion or an exception that nobody catches. In a kernel it is the executor's own end.
[[noreturn]] void end_by_abort() {
  if (runs_in_kernel()) die_by(SIGABRT);
  set_alarm();
  wait_for_engine();
  const bool no_memory = is_for_want_of_memory();
  const int code = tell_last(no_memory ? "std::bad_alloc, out of memory," : "SIGABRT");
  std::fflush(nullptr);
  if (no_memory && memory_is_limited()) leave(code != 0 ? code : 2);
  die_by(SIGABRT);
}

void on_signal(int signal) {
  if (!is_the_program()) die_by(signal);
  if (successor != 0) {
    kill(successor, signal);
    return;
  }
  const int before = current().run.cut;
  current().run.cut = signal;
  if (signal == SIGABRT) end_by_abort();
  if (before != 0 || is_free()) end_by(signal);
  current().run.is_stopped = true;
  set_alarm();
}

void watch_signals() {
  for (const int signal : kEndingSignals) {
    struct sigaction now {};
    const bool is_usual = sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
                          now.sa_handler == SIG_DFL;
    if (!is_usual) continue;
    struct sigaction mine {};
    mine.sa_handler = &on_signal;
    mine.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(signal, &mine, nullptr);
  }
}

// A process that the program forks has no other threads: none of them will leave the executor.
void begin_as_child() {
  the_process = getpid();
  telling = Telling::not_begun;
  engine().begin_as_child();
  begin_telling_as_child();
}

void tell_at_exit() {
  if (!is_the_program()) return;
  enter_engine().unlock();  // what waits for other launches
  const int code = tell_last(nullptr);
  if (code == 0) return;
  std::fflush(nullptr);
  leave(code);
}

void tell_at_quick_exit() {
  const int code = code_at_once(0);
  if (code != 0) leave(code);
}

// All threads but this one wait for ever.
void park_others() {
  struct sigaction sleep {};
  sleep.sa_handler = [](int) {
    for (;;) pause();
  };
  sigaction(SIGURG, &sleep, nullptr);
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return;
  const auto mine = static_cast<pid_t>(call_system(SYS_gettid));
  while (const dirent* entry = readdir(tasks)) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread > 0 && thread != mine) call_system(SYS_tgkill, getpid(), thread, SIGURG);
  }
  closedir(tasks);
}

}  // namespace

void watch_ends() {
  if (the_process != 0) return;
  the_process = getpid();
  std::atexit(&tell_at_exit);
  at_quick_exit(&tell_at_quick_exit);
  pthread_atfork(nullptr, nullptr, &begin_as_child);
  watch_signals();
}

bool is_the_program() { return the_process != 0 && getpid() == the_process; }

int code_at_once(int code) {
  if (!is_the_program()) return code;
  wait_for_engine();
  const int asked = tell_last(nullptr);
  return asked != 0 ? asked : code;
}

void tell_fault_of_host(int signal, bool stack_is_full) {
  if (!is_the_program()) return;
  set_alarm();
  wait_for_engine();
  std::string how = name_of_signal(signal) + " in host code";
  rlimit stack{};
  if (stack_is_full && getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY)
    how += fmt::format(", whose stack is full (ulimit -s is {}),", stack.rlim_cur / 1024);
  const int code = tell_last(how.c_str());
  const bool may_be_of_limit = signal == SIGSEGV || signal == SIGBUS;
  if (may_be_of_limit && memory_is_limited()) leave(code != 0 ? code : 2);
}

void end_if_cut() {
  const int signal = current().run.cut;
  if (signal != 0 && is_the_program()) end_by(signal);
}

void end_behind(int child, int code) {
  successor = child;
  park_others();
  // whoever waits for the end of what this process wrote or reads waits for the other one alone
  call_system(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  leave(code);
}

void leave(int code) {
  for (;;) call_system(SYS_exit_group, code);
}

}  // namespace plumb::simt
