// What a module of PTX, as C++ for the CPU executor, sees: gpu/simt/ptx/module_code.py writes files that include this one, and
// compile_module.py parses it once for all of them.
#pragma once
#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/language/ptx_table.hpp"
#include "gpu/simt/language/shim.hpp"

namespace plumb::simt {

/// Past the checks: the argument of a launch is no memory of the kernel's.
void copy_argument(void* to, const void* from, std::size_t bytes);

namespace ptx {

/// What a kernel begins with: .maxntid and .reqntid.
inline void most_threads(unsigned x, unsigned y, unsigned z) { launch_bounds(x * y * z); }
inline void exact_threads(unsigned x, unsigned y, unsigned z) {
  if (blockDim.x != x || blockDim.y != y || blockDim.z != z) refuse_other_block({x, y, z});
}
/// An address in a variable's initial value.
inline bool set_pointer(unsigned char* at, const void* pointer) {
  __builtin_memcpy(at, &pointer, sizeof pointer);
  return true;
}
/// Functions that the driver gives every module; results first, then arguments, each by its place.
void built_in_vprintf(unsigned char* written, unsigned char* format, unsigned char* arguments);
void built_in___assertfail(unsigned char* message, unsigned char* file, unsigned char* line,
                           unsigned char* function, unsigned char* character_bytes);
void built_in_malloc(unsigned char* memory, unsigned char* bytes);
void built_in_free(unsigned char* memory);

}  // namespace ptx
}  // namespace plumb::simt
