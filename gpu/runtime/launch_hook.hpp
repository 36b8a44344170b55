// A word in the launch seam's ear before each launch, of whoever disturbs a run. Apart from launch.hpp: no kernel file needs it.
#pragma once

namespace plumb {

/// Called with the stream before every launch that has work; null: nobody listens.
inline void (*launch_hook)(void* stream) = nullptr;

}  // namespace plumb
