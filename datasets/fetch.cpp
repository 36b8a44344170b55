#include "datasets/fetch.hpp"

#include "reference/core/error.hpp"

#if defined(PLUMB_WITH_FETCH)
#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "datasets/atomic_file.hpp"
#include "datasets/byte_source.hpp"
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
  if (transfer->options->stop != nullptr && *transfer->options->stop) return 1;
  if (transfer->options->progress) {
    transfer->options->progress(*transfer->file, transfer->before + now,
                                total > 0 ? transfer->before + total : -1);
  }
  return 0;
}

std::string sha256_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw input_error(path, 0, "cannot open", std::strerror(errno));
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> sum(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(sum.get(), EVP_sha256(), nullptr);
  std::vector<char> block(std::size_t{1} << 20);
  ssize_t got = 0;
  while ((got = ::read(fd, block.data(), block.size())) > 0)
    EVP_DigestUpdate(sum.get(), block.data(), static_cast<std::size_t>(got));
  const int reason = errno;
  ::close(fd);
  if (got < 0) throw input_error(path, 0, "cannot read", std::strerror(reason));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(sum.get(), digest.data(), &length);
  std::string hex;
  for (unsigned i = 0; i < length; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Throws when the file is not what the manifest says, or where it says nothing, when its gzip is damaged.
void check(const RemoteFile& file, const std::string& url, const std::string& path) {
  if (const auto size = static_cast<std::int64_t>(fs::file_size(path));
      file.bytes >= 0 && size != file.bytes) {
    throw input_error(url, 0, "must have " + std::to_string(file.bytes) + " bytes, has",
                      std::to_string(size));
  }
  if (!file.sha256.empty()) {
    const std::string sum = sha256_of(path);
    if (sum != file.sha256) throw input_error(url, 0, "sha256 differs from " + file.sha256, sum);
    return;
  }
  if (ends_with(url, ".gz")) {
    const std::unique_ptr<ByteSource> source = open_source(path);
    std::vector<char> block(std::size_t{1} << 20);
    while (source->read(block.data(), block.size()) > 0) {}
  }
}

// Downloads `url` to `path`, going on from what an earlier call left.
void download(const std::string& url, const std::string& name, const std::string& path,
              const FetchOptions& options) {
  const std::string part = path + ".part";
  const auto left = [&part] {
    std::error_code none;
    const auto size = fs::file_size(part, none);
    return none ? std::int64_t{0} : static_cast<std::int64_t>(size);
  };
  for (bool again = true; again;) {
    again = false;
    Transfer transfer;
    transfer.options = &options;
    transfer.file = &name;
    transfer.before = left();
    transfer.fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (transfer.fd < 0) throw input_error(part, 0, "cannot write", std::strerror(errno));
    const std::unique_ptr<CURL, CurlFree> curl(curl_easy_init());
    if (!curl) throw input_error(url, 0, "cannot fetch", "libcurl does not start");
    std::array<char, CURL_ERROR_SIZE> message{};
    CURL* c = curl.get();
    curl_easy_setopt(c, CURLOPT_URL, url.c_str());
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, &transfer);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, message.data());
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
    const CURLcode code = curl_easy_perform(c);
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    const bool synced = ::fsync(transfer.fd) == 0;
    if (!synced && transfer.write_error == 0) transfer.write_error = errno;
    ::close(transfer.fd);

    if (transfer.write_error != 0) {
      fs::remove(part);
      throw input_error(part, 0, "cannot write", std::strerror(transfer.write_error));
    }
    // Servers that know no ranges, and files that are no longer than what is here, are fetched from the
    // start. 416: the range begins at or after the end.
    const bool no_resume = code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME || status == 416;
    if (transfer.before > 0 && no_resume) {
      fs::remove(part);
      again = true;
      continue;
    }
    if (code != CURLE_OK) {
      const std::int64_t kept = left();
      if (kept == 0) fs::remove(part);
      std::string why = message[0] != '\0' ? message.data() : curl_easy_strerror(code);
      if (code == CURLE_ABORTED_BY_CALLBACK) why = "interrupted";
      if (kept > 0)
        throw input_error(
            url, 0, "broke off after " + std::to_string(kept) + " bytes, which are kept: run again to go on",
            why);
      throw input_error(url, 0, "cannot fetch", why);
    }
  }
}

void unpack(const RemoteFile& file, const std::string& archive, const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_source(archive);
  TarReader tar(*source);
  TarReader::Member member;
  while (tar.next(member)) {
    if (member.name != file.member) continue;
    const std::string content = tar.content();
    AtomicFile out(path);
    out.write(content.data(), content.size());
    out.commit();
    return;
  }
  throw input_error(archive, 0, "no such member in the archive", file.member);
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
    const std::string path = (folder / file.file).string();
    paths.push_back(path);
    const std::string last = file.url.substr(file.url.rfind('/') + 1);
    const std::string url = options.mirror.empty()           ? file.url
                            : ends_with(options.mirror, "/") ? options.mirror + last
                                                             : options.mirror + "/" + last;
    if (fs::exists(path) && !options.force) {
      if (file.member.empty() && !file.sha256.empty()) check(file, path, path);
      say(path + ": is there");
      continue;
    }
    // An archive is fetched beside its member and goes when that is in place.
    const std::string arrived = file.member.empty() ? path : (folder / last).string();
    say(url);
    download(url, last, arrived, options);
    try {
      check(file, url, arrived + ".part");
      if (file.member.empty()) {
        fs::rename(arrived + ".part", path);
      } else {
        say("unpacking " + file.member);
        unpack(file, arrived + ".part", path);
        fs::remove(arrived + ".part");
      }
    } catch (...) {
      fs::remove(arrived + ".part");  // going on from damaged bytes would never end well
      throw;
    }
  }
  return paths;
}

#endif

}  // namespace plumb
