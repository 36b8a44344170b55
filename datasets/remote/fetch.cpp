#include "datasets/remote/fetch.hpp"

#include "reference/core/error.hpp"

#if defined(PLUMB_WITH_FETCH)
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "datasets/io/byte_source.hpp"
#include "datasets/io/output_file.hpp"
#include "datasets/remote/check_download.hpp"
#endif

namespace plumb {

#if !defined(PLUMB_WITH_FETCH)

bool fetch_built() { return false; }
std::vector<std::string> fetch(const RemoteSet& set, const FetchOptions&) {
  throw input_error("dataset fetch", 0,
                    "this build has no libcurl: install libcurl4-openssl-dev and libssl-dev and build again, "
                    "or fetch by hand",
                    set.files.empty() ? "" : set.files.front().url);
}

#else

namespace fs = std::filesystem;
namespace {

struct CurlFree {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};

// One transfer into an open file.
struct Transfer {
  const FetchOptions* options = nullptr;
  const std::string* file = nullptr;
  int fd = -1;
  int write_error = 0;      // errno of a failed write
  std::int64_t before = 0;  // bytes that an earlier call left
};

std::size_t on_data(char* data, std::size_t size, std::size_t count, void* to) {
  auto* transfer = static_cast<Transfer*>(to);
  std::size_t left = size * count;
  while (left > 0) {
    const ssize_t done = ::write(transfer->fd, data, left);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      transfer->write_error = errno;
      return 0;  // curl ends the transfer
    }
    data += done;
    left -= static_cast<std::size_t>(done);
  }
  return size * count;
}

int on_progress(void* to, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
  const auto* transfer = static_cast<Transfer*>(to);
  if (transfer->options->progress) {
    transfer->options->progress(*transfer->file, transfer->before + now,
                                total > 0 ? transfer->before + total : -1);
  }
  return 0;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// FILE.part, held by one fetch at a time: others wait, and then find FILE or go on with what was left.
class Part {
 public:
  Part(const std::string& path, const std::function<void(const std::string&)>& say) : path_(path + ".part") {
    for (;;) {
      fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
      if (fd_ < 0) throw input_error(path_, 0, "cannot write", std::strerror(errno));
      if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        if (say) say(path_ + ": another fetch is at work on it; waiting");
        while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {}
      }
      // Who held it may have renamed or removed it: then this descriptor is of a file without a name.
      struct stat here {};
      struct stat there {};
      if (::fstat(fd_, &here) == 0 && ::stat(path_.c_str(), &there) == 0 && here.st_ino == there.st_ino)
        return;
      ::close(fd_);
    }
  }
  ~Part() { ::close(fd_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::int64_t size() const {
    struct stat about {};
    return ::fstat(fd_, &about) == 0 ? static_cast<std::int64_t>(about.st_size) : 0;
  }
  void clear() const {
    if (::ftruncate(fd_, 0) != 0) throw input_error(path_, 0, "cannot write", std::strerror(errno));
  }
  void remove() const { ::unlink(path_.c_str()); }

 private:
  std::string path_;
  int fd_ = -1;
};

void set_options(CURL* c, const std::string& url, Transfer& transfer) {
  curl_easy_setopt(c, CURLOPT_URL, url.c_str());
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(c, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(c, CURLOPT_MAXREDIRS, 8L);
  curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(c, CURLOPT_USERAGENT, "plumbline");
  curl_easy_setopt(c, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.before));
  // A redirect must not lead from the network into this machine's files. libcurl 7.85 renamed the option.
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https,file");
  curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(c, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE);
  curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

// Downloads `url` into the part, going on from what an earlier call left.
void download(const std::string& url, const std::string& name, const Part& part,
              const FetchOptions& options) {
  for (;;) {
    Transfer transfer;
    transfer.options = &options;
    transfer.file = &name;
    transfer.before = part.size();
    transfer.fd = part.fd();
    const std::unique_ptr<CURL, CurlFree> curl(curl_easy_init());
    if (!curl) throw input_error(url, 0, "cannot fetch", "libcurl does not start");
    std::array<char, CURL_ERROR_SIZE> message{};
    set_options(curl.get(), url, transfer);
    curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, message.data());
    const CURLcode code = curl_easy_perform(curl.get());
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    if (::fsync(transfer.fd) != 0 && transfer.write_error == 0) transfer.write_error = errno;
    if (transfer.write_error != 0) {
      part.remove();
      throw input_error(part.path(), 0, "cannot write", std::strerror(transfer.write_error));
    }
    // Servers that support no ranges, and files that are no longer than the part that is here, are fetched from the
    // start. 416: the range begins at or after the end.
    const bool no_resume = code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME || status == 416;
    if (transfer.before > 0 && no_resume) {
      part.clear();
      continue;
    }
    if (code == CURLE_OK) return;
    const std::int64_t kept = part.size();
    const std::string why = message[0] != '\0' ? message.data() : curl_easy_strerror(code);
    if (kept == 0) part.remove();
    if (kept == 0) throw input_error(url, 0, "cannot fetch", why);
    throw input_error(
        url, 0, "broke off after " + std::to_string(kept) + " bytes, which are kept: run again to go on",
        why);
  }
}

void unpack(const RemoteFile& file, const std::string& archive, const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_source(archive);
  TarReader tar(*source);
  TarReader::Member member;
  while (tar.next(member)) {
    if (member.name != file.member) continue;
    const std::string content = tar.content();
    OutputFile out(path);
    out.write(content.data(), content.size());
    out.commit();
    return;
  }
  throw input_error(archive, 0, "no such member in the archive", file.member);
}

using Say = std::function<void(const std::string&)>;

// True where the file is in place, and then it is checked.
bool is_there(const RemoteFile& file, const std::string& path, const Say& say) {
  if (!fs::exists(path)) return false;
  try {
    file.member.empty() ? check_download(file, path, path) : check_unpacked(file, path);
  } catch (const Error& e) {
    throw Error(std::string(e.what()) + " (dataset fetch --force fetches it again)");
  }
  say(path + ": is there");
  return true;
}

void fetch_file(const RemoteFile& file, const fs::path& folder, const std::string& path,
                const FetchOptions& options, const Say& say) {
  if (!options.force && is_there(file, path, say)) return;
  const std::string last = file.url.substr(file.url.rfind('/') + 1);
  const std::string slash = ends_with(options.mirror, "/") ? "" : "/";
  const std::string url = options.mirror.empty() ? file.url : options.mirror + slash + last;
  // An archive is fetched beside its member and goes when that is in place.
  const Part part(file.member.empty() ? path : (folder / last).string(), say);
  if (!options.force && is_there(file, path, say)) {  // another fetch brought it meanwhile
    if (part.size() == 0) part.remove();
    return;
  }
  say(url);
  download(url, last, part, options);
  try {
    check_download(file, url, part.path());
    if (file.member.empty()) {
      fs::rename(part.path(), path);
    } else {
      say("unpacking " + file.member);
      unpack(file, part.path(), path);
      part.remove();
    }
  } catch (...) {
    part.remove();  // going on from damaged bytes would never end well
    throw;
  }
}

}  // namespace

bool fetch_built() { return true; }

std::vector<std::string> fetch(const RemoteSet& set, const FetchOptions& options) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK)
    throw input_error("dataset fetch", 0, "libcurl does not start", curl_easy_strerror(started));
  const fs::path folder = fs::path(options.folder) / set.folder;
  std::error_code made;
  fs::create_directories(folder, made);
  if (made) throw input_error(folder.string(), 0, "cannot make the folder", made.message());

  const auto say = [&](const std::string& text) {
    if (options.say) options.say(text);
  };
  std::vector<std::string> paths;
  for (const RemoteFile& file : set.files) {
    paths.push_back((folder / file.file).string());
    fetch_file(file, folder, paths.back(), options, say);
  }
  return paths;
}

#endif

}  // namespace plumb
