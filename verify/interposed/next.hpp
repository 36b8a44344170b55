// The function that would have been called, had none of the same name stood in this program.
#pragma once
#include <dlfcn.h>

namespace plumb {

template <class Function>
Function* next_of(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace plumb
