// A function that the launch seam calls before each launch, for who disturbs a run. Apart from gpu/device/launch.hpp because no kernel
// file needs it.
#pragma once

namespace plumb {

/// Called with the stream before every launch that has work. Null: nothing is called.
inline void (*launch_hook)(void* stream) = nullptr;

}  // namespace plumb
