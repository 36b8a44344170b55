// Calls of the runtime from a program's C files: functions of C's own names, beside those of C++, which are overloaded.
#include "gpu/simt/host/api/runtime/c_calls.h"

#include "gpu/simt/host/api.hpp"

#define PLUMB_C_CALL(result, name, parameters, arguments)                \
  extern "C" result plumb_simt_c_##name parameters __asm__(#name);       \
  result plumb_simt_c_##name parameters {                                \
    [[maybe_unused]] constexpr plumb::simt::Here here{"a file in C", 0}; \
    return name arguments;                                               \
  }
PLUMB_C_CALLS(PLUMB_C_CALL)
#undef PLUMB_C_CALL
