// How a program that runs by itself ends: by exit(), at once (_exit, quick_exit, exec), by a signal or by a fault of its host code. In every
// case what was found is told, and where there were findings no exit code is 0.
#pragma once

namespace plumb::simt {

/// From here on the ends of this program are known. A signal that the program handles or ignores stays its own.
void watch_ends();
/// This process is the program, or one that it forked; not a child of vfork(), which has the program's memory for a moment.
bool is_the_program();
/// The code with which the program ends at once, when all is told: `code`, or what the findings ask for.
int code_at_once(int code);
/// Tells all before a fault of host code ends the program, for which the caller sees. Does not return where memory is limited.
void tell_fault_of_host(int signal, bool stack_is_full);
/// Ends the program where a signal has stopped the launch that was under way.
void end_if_cut();
/// The program that exec() has put beside this process ends it: signals are sent on to it. Ends with `code`, when that one has ended.
[[noreturn]] void end_behind(int successor, int code);
/// As _exit(), when all is told.
[[noreturn]] void leave(int code);
/// A system call, beside what this program has in the place of the C library's functions.
long call_system(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

}  // namespace plumb::simt
