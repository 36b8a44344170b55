// Downloads for `dataset fetch`: resumed where they broke off, checked, and in place only when whole.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datasets/remote/manifest.hpp"

namespace plumb {

struct FetchOptions {
  std::string folder;  // cache folder; the set's own folder is made below it
  std::string mirror;  // non-empty: every file comes from MIRROR/<last part of its url> (http, https or file)
  bool force = false;  // download again files that exist
  /// Called now and then: file, bytes so far, bytes in all (-1: not known).
  std::function<void(const std::string&, std::int64_t, std::int64_t)> progress;
  std::function<void(const std::string&)> say;  // one line per step
};

/// True where this build can fetch (libcurl and OpenSSL were there).
[[nodiscard]] bool fetch_built();

/// Fetches all files of the set; returns their paths. What is there already is checked as a download is.
///
/// A file comes as FILE.part and is renamed when whole. A broken transfer leaves FILE.part, and the next call
/// goes on from there; a full disk or a wrong checksum leaves nothing. Where no checksum is known, the
/// content is checked (check_download.hpp). Fetches of one file at once: one works, the others wait for it.
///
/// Errors    `URL: what: why`: no such host or file, timeouts (30 s to connect, 60 s of silence), a disk that
/// is full, a
///           checksum or size that differs, a web page, damaged gzip, a list that does not parse, an archive without
///           its member; a build without
///           libcurl.
std::vector<std::string> fetch(const RemoteSet& set, const FetchOptions& options);

}  // namespace plumb
