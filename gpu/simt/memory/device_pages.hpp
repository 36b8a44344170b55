// Memory of the device: full of a pattern, so that what nothing wrote shows, and taken page by page when it is written.
#pragma once
#include <cstddef>

namespace plumb::simt {

/// On a multiple of 256 bytes, with a gap behind it; null where there is no room. Takes room for what is written.
void* take_device_memory(std::size_t bytes);
/// Gives its room back, and keeps the addresses.
void empty_device_memory(void* p, std::size_t bytes);
void give_back_device_memory(void* p, std::size_t bytes);

}  // namespace plumb::simt
