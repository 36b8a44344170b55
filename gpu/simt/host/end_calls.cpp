// The C library's functions that end a process at once, in the place of the C library's own: all is told before. exec() makes another
// program of the process, whose exit code would hide what was found: where something was, that program runs beside this process, which
// waits for it and keeps its own exit code.
#include <alloca.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

#include "gpu/simt/host/ends.hpp"
#include "gpu/simt/host/report/ledger.hpp"
#include "gpu/simt/host/report/report_files.hpp"
#include "gpu/simt/host/report/telling.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

long call_system(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
  const long result = ::syscall(number, a, b, c, d, e, f);
  return result < 0 ? -errno : result;
#endif
}

namespace {

template <class F>
F* next_of(F*, const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// Puts the other program beside this one. Returns where it cannot be: the error is the call's.
template <class Exec>
int exec_beside(Exec exec) {
  volatile int error = 0;  // of the child, which has this process's memory until it is another program
  const pid_t child = vfork();
  if (child < 0) return -1;
  if (child == 0) {
    exec();
    error = errno;
    leave(127);
  }
  if (error == 0) end_behind(child, tell_the_rest(nullptr));
  waitpid(child, nullptr, 0);
  errno = error;
  return -1;
}

template <class Exec>
int end_by_exec(Exec exec) {
  if (!is_the_program()) return exec();
  enter_engine().unlock();  // launches that wait are run, and what they find is told
  if (has_told_findings()) return exec_beside(exec);
  add_end_to_ledger(false);
  write_report_files("exec");
  const int result = exec();
  const int error = errno;
  add_begin_to_ledger();
  write_report_files(nullptr);
  errno = error;
  return result;
}

// The arguments of execl() and its like from the first on, as an array on the caller's stack.
#define PLUMB_SIMT_ARGUMENTS(argv, first, list)                                 \
  std::size_t count = 1;                                                        \
  va_start(list, first);                                                        \
  while (va_arg(list, const char*) != nullptr) ++count;                         \
  va_end(list);                                                                 \
  auto** const argv = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  argv[0] = const_cast<char*>(first);                                           \
  va_start(list, first);                                                        \
  for (std::size_t i = 1; i <= count; ++i) argv[i] = va_arg(list, char*)

}  // namespace

}  // namespace plumb::simt

using plumb::simt::call_system;
using plumb::simt::code_at_once;
using plumb::simt::end_by_exec;
using plumb::simt::next_of;

extern "C" {

[[noreturn]] void _exit(int code) { plumb::simt::leave(code_at_once(code)); }
[[noreturn]] void _Exit(int code) noexcept { _exit(code); }

int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  return end_by_exec([=] { return next_of(&execve, "execve")(path, argv, envp); });
}
int execv(const char* path, char* const argv[]) noexcept {
  return end_by_exec([=] { return next_of(&execv, "execv")(path, argv); });
}
int execvp(const char* file, char* const argv[]) noexcept {
  return end_by_exec([=] { return next_of(&execvp, "execvp")(file, argv); });
}
int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  return end_by_exec([=] { return next_of(&execvpe, "execvpe")(file, argv, envp); });
}
int fexecve(int fd, char* const argv[], char* const envp[]) noexcept {
  return end_by_exec([=] { return next_of(&fexecve, "fexecve")(fd, argv, envp); });
}
int execl(const char* path, const char* first, ...) noexcept {
  va_list list;
  PLUMB_SIMT_ARGUMENTS(argv, first, list);
  va_end(list);
  return execv(path, argv);
}
int execlp(const char* file, const char* first, ...) noexcept {
  va_list list;
  PLUMB_SIMT_ARGUMENTS(argv, first, list);
  va_end(list);
  return execvp(file, argv);
}
int execle(const char* path, const char* first, ...) noexcept {
  va_list list;
  PLUMB_SIMT_ARGUMENTS(argv, first, list);
  char* const* const envp = va_arg(list, char**);  // behind the null that ends the arguments
  va_end(list);
  return execve(path, argv, envp);
}

#if defined(__x86_64__) || defined(__aarch64__)
long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& word : a) word = va_arg(list, long);
  va_end(list);
  if (number == SYS_exit_group) a[0] = code_at_once(static_cast<int>(a[0]));
  const long result = call_system(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
#endif
}
