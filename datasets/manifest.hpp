// Public data that `dataset fetch` knows by name: where it is, what it is called here, its licence, its
// checksum where known.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct RemoteFile {
  std::string file;  // its name in the cache folder, and below a mirror
  std::string url;
  std::string sha256;       // 64 hex digits; empty where the publisher gives none that is known to be stable
  std::int64_t bytes = -1;  // -1: not known
  std::string member;  // of a tar.gz: the one member that is wanted, kept instead of the archive; empty: keep
                       // the file
};

struct RemoteSet {
  std::string name;    // what a person types
  std::string folder;  // below the cache folder: sdnn, matrices
  std::string what;    // one line
  std::string licence;
  std::vector<RemoteFile> files;
};

[[nodiscard]] const std::vector<RemoteSet>& manifest();

/// Throws Error with the nearest name when there is no such set.
[[nodiscard]] const RemoteSet& manifest_entry(const std::string& name);

/// Where fetched data lies: $PLUMB_CACHE, else $XDG_CACHE_HOME/plumbline, else $HOME/.cache/plumbline. Not
/// created here. Throws Error when none of the three is set.
[[nodiscard]] std::string cache_folder();

}  // namespace plumb
