// A program with a library that begins before it (start_library.cpp). With an argument it then ends by a signal of its own.
#include "reference/core/watched_start.hpp"

#include <csignal>

extern "C" int start_library();

int main(int argc, char**) {
  plumb::note_started();
  if (argc > 1) std::raise(SIGSEGV);
  return start_library();
}
