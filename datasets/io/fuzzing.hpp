// Whether this is a fuzzer's build: checksums then count as correct, or no random input would ever get past
// them.
#pragma once

namespace plumb {

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr bool kFuzzing = true;
#else
inline constexpr bool kFuzzing = false;
#endif

}  // namespace plumb
