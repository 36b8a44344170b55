// The toolkit's own libcurand, whose generators for the host need no GPU: it makes what the executor does not.
#pragma once
#include <cstddef>
#include <memory>

namespace plumb::simt {

/// A function of it by its name; null where there is no such library. It is looked for in $CUDA_HOME, where that is set, else in
/// /usr/local/cuda and where the loader looks.
void* curand_function(const char* name);

/// Calls it; CURAND_STATUS_TYPE_ERROR where a library of another version has no such function.
template <class... Parameters>
int call_curand(const char* name, Parameters... parameters) {
  constexpr int kTypeError = 103;
  void* const function = curand_function(name);
  if (function == nullptr) return kTypeError;
  return reinterpret_cast<int (*)(Parameters...)>(function)(parameters...);
}

struct DestroyLibraryGenerator {
  void operator()(void* generator) const { call_curand("curandDestroyGenerator", generator); }
};
/// One of its generators, which write the host's memory.
using LibraryGenerator = std::unique_ptr<void, DestroyLibraryGenerator>;

}  // namespace plumb::simt
