#include "gpu/simt/host/api/curand_library.hpp"

#include <cstdlib>
#include <string>

#include <dlfcn.h>

namespace plumb::simt {

namespace {

// RTLD_DEEPBIND: its own calls are to itself, not to the functions of the same names here.
void* open_library() {
  constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  const char* const home = std::getenv("CUDA_HOME");
  const std::string folder = home != nullptr ? home : "/usr/local/cuda";
  for (const char* const sub : {"/lib64/", "/lib/"}) {
    void* const library = dlopen((folder + sub + "libcurand.so.10").c_str(), kHow);
    if (library != nullptr) return library;
  }
  return home != nullptr ? nullptr : dlopen("libcurand.so.10", kHow);
}

}  // namespace

void* curand_function(const char* name) {
  static void* const library = open_library();
  return library != nullptr ? dlsym(library, name) : nullptr;
}

}  // namespace plumb::simt
