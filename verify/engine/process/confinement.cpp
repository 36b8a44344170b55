#include "verify/engine/process/confinement.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

#include <omp.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLUMB_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PLUMB_SANITIZED 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define PLUMB_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLUMB_THREAD_SANITIZED 1
#endif
#endif

#include "reference/core/exhaustion.hpp"
#include "reference/core/threads.hpp"

namespace plumb {
namespace {

#if defined(PLUMB_THREAD_SANITIZED)
constexpr bool kThreadSanitized = true;
#else
constexpr bool kThreadSanitized = false;
#endif
#if defined(PLUMB_SANITIZED)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// A number from the first word of a file, or `otherwise`.
std::uint64_t number_in(const char* path, std::uint64_t otherwise) {
  std::FILE* f = std::fopen(path, "re");
  if (f == nullptr) return otherwise;
  unsigned long long v = 0;
  const bool read = std::fscanf(f, "%llu", &v) == 1;  // cgroups write "max" where there is no limit
  std::fclose(f);
  return read ? v : otherwise;
}

void limit_memory_use() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return;
  const std::uint64_t machine = static_cast<std::uint64_t>(info.totalram) * info.mem_unit;
  const std::uint64_t bytes = std::min(machine, number_in("/sys/fs/cgroup/memory.max", machine)) / 4 * 3;
  // RLIMIT_DATA counts private writable memory; it counts neither the window of the image nor reserved address space
  limit_data(bytes);
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

void refuse_other_processes() {
  if (kArchitecture == 0) return;
  constexpr auto low_word_of = [](int argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
  };
  const auto self = static_cast<std::uint32_t>(getpid());
  std::vector<sock_filter> code;
  const auto add = [&](sock_filter line) { code.push_back(line); };
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                    end = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const sock_filter load_number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  add(end);
  add(load_number);
  for (const long never : std::initializer_list<long>{SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
                                                      SYS_pidfd_send_signal, 438L /* pidfd_getfd */}) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(never), 0, 1));
    add(end);
  }
  // allowed: a signal to this process (raise, abort), or to 0, which means this process or its group
  for (const long own : std::initializer_list<long>{SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo,
                                                    SYS_rt_tgsigqueueinfo, SYS_prlimit64}) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(own), 0, 5));
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_word_of(0)));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 2, 0));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    add(end);
    add(allow);
  }
  add(allow);
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
    return;  // root need not set PR_SET_NO_NEW_PRIVS
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// Drops the capabilities that act on other processes. Those for files stay: a plug-in may lie in a folder that only its owner can read.
void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) return;
  const std::uint32_t keep = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
  data[0].effective &= keep, data[0].permitted &= keep, data[0].inheritable = 0;
  data[1] = {};
  syscall(SYS_capset, &header, data);
}

std::mutex started_mutex;
std::vector<pid_t> started;  // started by start_process() and not yet ended

// Returns false where the process does not die: a process inside a driver's call may stay there, and the judge must go on.
bool kill_and_reap(pid_t pid) {
  kill(pid, SIGKILL);
  constexpr int kBrief = 100, kPatience = 10'000;  // 20 us each, then 1 ms
  for (int tries = 0; tries < kPatience; ++tries) {
    const pid_t done = waitpid(pid, nullptr, WNOHANG);
    if (done == pid || (done < 0 && errno != EINTR)) return true;
    usleep(tries < kBrief ? 20 : 1000);
  }
  return false;
}

std::vector<int> children() {
  std::vector<int> all;
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return all;
  while (const dirent* entry = readdir(threads)) {
    if (entry->d_name[0] == '.') continue;
    std::FILE* f = std::fopen((std::string("/proc/self/task/") + entry->d_name + "/children").c_str(), "re");
    if (f == nullptr) continue;
    for (int pid = 0; std::fscanf(f, "%d", &pid) == 1;) all.push_back(pid);
    std::fclose(f);
  }
  closedir(threads);
  return all;
}

}  // namespace

void guard_judge() {
  for (int fd = 0; fd <= 2; ++fd) {
    // otherwise a report that is opened later gets the number of standard output
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd) _exit(2);
  }
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int wanted = omp_get_max_threads();
  if (wanted <= most_openmp_threads()) {                   // check_threads() refuses more
    const int threads = limit_openmp_threads(1 + wanted);  // beside a child and its threads
    if (threads < wanted) setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);  // for children
  }
  if (!kSanitized && std::getenv("PLUMB_DEBUGGABLE") == nullptr) prctl(PR_SET_DUMPABLE, 0);
}

void confine_worker(bool limit_memory) {
  if (std::FILE* f = std::fopen("/proc/self/oom_score_adj", "we")) {
    std::fputs("1000", f);
    std::fclose(f);
  }
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // has_children() then sees processes that a variant has started and left
  if (kSanitized) return;
  if (limit_memory) limit_memory_use();
  refuse_other_processes();
  drop_capabilities();
}

bool is_sanitized() { return kSanitized; }
bool is_thread_sanitized() { return kThreadSanitized; }

int count_threads() {
  struct stat threads {};  // a directory with a folder for each thread, and two more links
  return stat("/proc/self/task", &threads) == 0 ? static_cast<int>(threads.st_nlink) - 2 : 0;
}

bool has_children() {
  pid_t pid = 0;
  while ((pid = waitpid(-1, nullptr, WNOHANG)) > 0) {}
  return pid == 0;
}

int start_process(pid_t& pid, const char* program, const posix_spawn_file_actions_t& actions,
                  const posix_spawnattr_t& attributes, char* const* arguments, char* const* environment) {
  const std::lock_guard lock(started_mutex);
  const int status = posix_spawn(&pid, program, &actions, &attributes, arguments, environment);
  if (status == 0) started.push_back(pid);
  return status;
}

void end_process(pid_t pid, bool reaped) {
  if (!reaped) (void)kill_and_reap(pid);
  kill(-pid, SIGKILL);
  const std::lock_guard lock(started_mutex);
  started.erase(std::remove(started.begin(), started.end(), pid), started.end());
  // processes that a variant left: when one ends, its own children become children of this process
  for (int round = 0; round < 100; ++round) {
    int found = 0;
    for (const int stray : children()) {
      if (std::find(started.begin(), started.end(), stray) != started.end()) continue;
      ++found;
      if (!kill_and_reap(stray)) return;
    }
    if (found == 0) return;
  }
}

}  // namespace plumb
