// Public data that `dataset fetch` knows by name: where it is, what it is called here, its licence, its
// checksum where known.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumb {

/// What a file must hold; it is opened as that before it is taken.
enum class Content : std::uint8_t {
  any,
  categories,      // a list of the challenge: parsed
  images,          // a list of the challenge: its first lines parsed, inflated to the end
  weights,         // a tar of layers: names, order and the first layer
  edge_list,       // SNAP: its first lines parsed, inflated to the end
  matrix_archive,  // a tar with `member` in it
};

struct RemoteFile {
  std::string file;  // its name in the cache folder, and below a mirror
  std::string url;
  std::string sha256;       // 64 hex digits; empty where the publisher gives none that is known to be stable
  std::int64_t bytes = -1;  // -1: not known
  std::string member;  // of a tar.gz: the one member that is needed, kept instead of the archive; empty: keep
                       // the file
  Content content = Content::any;
  std::int64_t neurons = 0;  // of weights and images
  // Of the inflated images, of the text of the first layer; empty: not known.
  // NOLINTNEXTLINE(readability-redundant-string-init): left out in braces
  std::string content_sha256 = "";
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

/// The folder of fetched data: $PLUMB_CACHE, else $XDG_CACHE_HOME/plumbline, else $HOME/.cache/plumbline. Not
/// created here. Nothing when none of the three is set.
[[nodiscard]] std::optional<std::string> find_cache_folder();
/// The same; throws Error when none of the three is set.
[[nodiscard]] std::string cache_folder();

}  // namespace plumb
