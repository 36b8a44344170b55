// Keeps a variant away from its judge: limits of the child process, and settings of the judge's own process. The guards of the image
// find a wrong kernel's stray stores; this file is about kernels that send signals, read other processes' memory or leave processes.
#pragma once
#include <spawn.h>
#include <sys/types.h>

namespace plumb {

/// For the judge, once at the start: its memory cannot be read through /proc (PR_SET_DUMPABLE 0; so no core file and no debugger
/// either, which PLUMB_DEBUGGABLE=1 gives back), processes orphaned by a child become its own, descriptors 0 to 2 are open, and
/// writing to a full disk or to a closed pipe is an error rather than a signal.
void guard_judge();

/// For a child process, before its first run. A signal to another process, ptrace, and reading another process's memory end it with
/// SIGSYS. A host variant's memory is limited to three quarters of the machine's. Where memory runs out nevertheless, the kernel ends
/// this process first. In builds with sanitizers, whose runtimes need some of these, only the last holds.
void confine_worker(bool limit_memory);

/// True in builds with sanitizers.
[[nodiscard]] bool is_sanitized();

/// True in builds with ThreadSanitizer: with Archer beside it, a race of OpenMP threads is reported and ends the process.
[[nodiscard]] bool is_thread_sanitized();

/// Threads of this process.
[[nodiscard]] int count_threads();

/// True when this process has living children or adopted orphans; ended ones are reaped.
[[nodiscard]] bool has_children();

/// posix_spawn() of a child in a group of its own, which ends with end_process() and not before. Returns what posix_spawn does.
int start_process(pid_t& pid, const char* program, const posix_spawn_file_actions_t& actions,
                  const posix_spawnattr_t& attributes, char* const* arguments, char* const* environment);

/// Ends a child of start_process() with its group, and every other child of this process: those are what a variant left.
/// `reaped`: the child has ended by itself and was waited for. After ten seconds a child that does not die is given up.
void end_process(pid_t pid, bool reaped);

}  // namespace plumb
