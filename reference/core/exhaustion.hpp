// What a program says where memory or threads ran out, and how it ends where no handler can say it.
#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace plumb {

/// " (ulimit -v is 1000000)": the limits of this process's address space and data, in KiB as the shell's `ulimit` takes them; "" where
/// there are none. One that limit_data() has set is no user's, and is not told.
[[nodiscard]] std::string memory_limit_text();

/// True where a user limits this process's address space or data (`ulimit -v`, `ulimit -d`).
[[nodiscard]] bool memory_is_limited();

/// True in a handler, or in an end of the program, that a std::bad_alloc has led to.
[[nodiscard]] bool is_for_want_of_memory();

/// Limits this process's private writable memory to `bytes`. A lower limit of the user stays, and stays the user's.
void limit_data(std::uint64_t bytes);

/// One line, without "error: ", for an exception that ends the program: what(), and where memory or threads ran out the limits that
/// this process is under. `advice`: what a person can do about too little memory, "" for nothing.
[[nodiscard]] std::string ending_text(const std::exception& e, const std::string& advice = "");

/// Says that an allocation of this thread failed, for allocators other than operator new: of an exception that leaves a parallel region
/// nothing else is known.
void note_exhausted_memory() noexcept;

/// From here on, an exception that leaves a parallel region or a thread because memory ran out ends the program with exit code kUsage
/// and a line `error: out of memory` with the limits; `before` is called first. Any other goes the way of std::terminate(). A library that
/// ends this process where it gets no memory (libgomp: exit code 1, which would be a verdict) is told and ended so too.
void end_where_memory_is_exhausted(void (*before)() noexcept = nullptr);

/// The program returns from main(): from here on its end is no library's.
void note_own_end() noexcept;

/// Begins to watch, where a user limits address space or data. Called by the system (watched_start.hpp).
void watch_start(int argc, char** argv, char** environment) noexcept;

/// main() has been reached: from here on a signal is a fault.
void note_started() noexcept;

}  // namespace plumb
