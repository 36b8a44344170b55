// What a path may name besides a file: a descriptor of this process, a Unix socket. Internal to this folder.
#pragma once
#include <filesystem>
#include <string>

namespace plumb {

/// N, where `path` is /dev/fd/N, /proc/self/fd/N or another name of the same; -1 where it is not. Links are not followed.
[[nodiscard]] int descriptor_named(const std::filesystem::path& path);

/// A descriptor connected to the Unix stream socket at `path`; -1 with errno.
[[nodiscard]] int connect_to_socket(const std::string& path);

/// A descriptor that reads what `path` names: a file, a device, a pipe; a socket, also behind /dev/stdin. -1 with errno.
[[nodiscard]] int open_to_read(const std::string& path);

}  // namespace plumb
