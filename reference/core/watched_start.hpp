// For the one source file of a program that has main(): from before the constructors of its libraries on, a signal where memory is limited
// ends it with exit code kUsage and names the limit. cuBLASLt's constructors get no memory within some limits, and end by SIGSEGV.
#pragma once

namespace plumb {

/// Begins to watch, where a user limits address space or data. Called by the system.
void watch_start(int argc, char** argv, char** environment) noexcept;

/// main() has been reached: from here on a signal is a fault.
void note_started() noexcept;

}  // namespace plumb

// A sanitizer's own start comes first.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#elif !defined(__has_feature)
#define PLUMB_WATCHES_START
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && \
    !__has_feature(memory_sanitizer)
#define PLUMB_WATCHES_START
#endif
#if defined(PLUMB_WATCHES_START)
[[gnu::section(".preinit_array"), gnu::used]] static void (*plumb_watch_start)(int, char**,
                                                                               char**) = plumb::watch_start;
#undef PLUMB_WATCHES_START
#endif
