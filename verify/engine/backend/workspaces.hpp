// Address space of workspaces. Whoever uses one after its run ends by a signal, and says what it was.
#pragma once
#include <cstddef>
#include <cstdint>

namespace plumb {

/// A mapping of `size` bytes, whole pages. Null: there is no memory.
[[nodiscard]] std::byte* map_workspace(std::size_t size);

/// Closes the mapping of `size` bytes at `first`, whole pages, in which `bytes` at `data` were the workspace. Its addresses are kept for a
/// while, so that nothing else has them. An access to them writes a line to stderr, before the process ends by SIGSEGV as it would
/// without. Where address space is limited the mapping is given back at once.
void close_workspace(std::byte* first, std::size_t size, const std::byte* data, std::int64_t bytes);

/// Pages of address space that they have, those that are closed too: not what a kernel leaks.
[[nodiscard]] std::int64_t pages_of_workspaces();

}  // namespace plumb
