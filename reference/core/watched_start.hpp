// For the one source file of a program that has main(): from before the constructors of its libraries on, a signal where memory is limited
// ends it with exit code kUsage and names the limit. cuBLASLt's constructors get no memory within some limits, and end by SIGSEGV.
#pragma once
#include "reference/core/exhaustion.hpp"

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
