// Whether bytes are what their name promises. Most publishers give no checksum, and a captive portal answers every address with
// a web page: so each file is opened as what it must be.
#pragma once
#include <string>

#include "datasets/io/byte_source.hpp"
#include "datasets/remote/manifest.hpp"

namespace plumb {

/// Checks size, checksum and content of `path`; messages name `shown` (the address, or the path itself).
/// Errors: a web page; another size or checksum; a name in .gz that is no gzip, or whose gzip is damaged; a list that does not
/// parse; an archive without its member or layers; Matrix Market without its banner.
void check_download(const RemoteFile& file, const std::string& shown, const std::string& path);

/// The same for the member that was unpacked from an archive.
void check_unpacked(const RemoteFile& file, const std::string& path);

/// SHA-256 of what is left in a source, 64 hex digits.
[[nodiscard]] std::string sha256_of(ByteSource& source);

}  // namespace plumb
