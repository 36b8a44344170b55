// Loads a library at the first call of one of its functions; late_calls.py writes these functions and the tables.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
extern void* plumb_late_slots[];                     // where a function jumps to
extern const char plumb_late_names[];                // of functions, one behind the other
extern const std::uint32_t plumb_late_library_of[];  // the number of a function's library
extern const char plumb_late_libraries[];            // their paths, one behind the other

/// The function of that number, which is called directly from now on. Ends the process where it cannot be loaded: its caller expects a
/// function that returns.
[[gnu::used]] void* plumb_late_function(std::uint64_t number);
}

namespace {

const char* text_at(const char* texts, std::uint64_t number) {
  for (; number > 0; --number) texts += std::strlen(texts) + 1;
  return texts;
}

[[noreturn]] void give_up(const char* path, const char* name) {
  const char* const why = dlerror();
  std::fprintf(stderr, "%s: %s cannot be called: %s\n", path, name, why == nullptr ? "no reason given" : why);
  std::abort();
}

}  // namespace

// The path is that of the machine that built this; elsewhere the library is found by its name. A second thread finds the same address.
void* plumb_late_function(std::uint64_t number) {
  const char* const name = text_at(plumb_late_names, number);
  const char* const path = text_at(plumb_late_libraries, plumb_late_library_of[number]);
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    const char* const slash = std::strrchr(path, '/');
    library = dlopen(slash == nullptr ? path : slash + 1, RTLD_NOW);
  }
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) give_up(path, name);
  __atomic_store_n(&plumb_late_slots[number], function, __ATOMIC_RELEASE);
  return function;
}
