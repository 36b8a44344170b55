#include "datasets/remote/check_download.hpp"

#if defined(PLUMB_WITH_FETCH)
#include <openssl/evp.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "datasets/formats/edge_list.hpp"
#include "datasets/formats/idx_images.hpp"
#include "datasets/formats/matrix_market.hpp"
#include "datasets/formats/sdnn_files.hpp"
#include "datasets/io/byte_source.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

// The first bytes of a file as they stand, nothing inflated.
std::string first_bytes(const std::string& path) {
  std::string first(512, '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  first.resize(file ? std::fread(first.data(), 1, first.size(), file.get()) : 0);
  return first;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Another source under the name that messages shall carry.
class Renamed final : public ByteSource {
 public:
  Renamed(std::unique_ptr<ByteSource> of, std::string name)
      : ByteSource(std::move(name)), of_(std::move(of)) {}

 protected:
  std::size_t pull(char* to, std::size_t bytes) override { return of_->read(to, bytes); }

 private:
  std::unique_ptr<ByteSource> of_;
};

// The lines up to the last whole one of the first 64 KiB: enough to see that a list is one, whatever its size.
std::string first_lines(ByteSource& source) {
  const std::string_view first = source.peek(std::size_t{1} << 16);
  const std::size_t newline = first.rfind('\n');
  return std::string(first.substr(0, newline == std::string_view::npos ? first.size() : newline + 1));
}

void refuse_web_page(std::string_view first, const std::string& shown) {
  const std::size_t at = first.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (at == std::string_view::npos || first[at] != '<') return;
  throw input_error(shown, 0, "is a web page, not data (a login page of the network, or an error page)",
                    first.substr(at, 40));
}

// A challenge's archive: layers nN-lK.tsv of the requested size and nothing missing before the last; known layers are compared.
void check_weights(const RemoteFile& file, ByteSource& source) {
  TarReader tar(source);
  TarReader::Member member;
  std::int64_t layers = 0, last = 0;
  while (tar.next(member)) {
    const auto name = sdnn_layer_name(member.name);
    if (!name) continue;
    if (name->neurons != file.neurons) {
      throw input_error(tar.label(), 0, "layer of another size than " + std::to_string(file.neurons),
                        std::to_string(name->neurons));
    }
    ++layers;
    last = std::max(last, name->layer);
    if (name->layer != 1) continue;
    const std::string text = tar.content();
    const auto layer = memory_source(tar.label(), text);
    if (!file.content_sha256.empty()) {
      const std::string sum = sha256_of(*memory_source(tar.label(), text));
      if (sum != file.content_sha256)
        throw input_error(tar.label(), 0, "sha256 differs from " + file.content_sha256, sum);
    }
    (void)read_sdnn_layer(*layer, file.neurons);
  }
  if (layers == 0 || layers != last) {
    throw input_error(source.name(), 0, "layers found, number of the last one",
                      std::to_string(layers) + ", " + std::to_string(last));
  }
}

void check_content(const RemoteFile& file, ByteSource& source) {
  switch (file.content) {
    case Content::any:
      break;
    case Content::categories:
      (void)read_sdnn_categories(source, 0);
      return;
    case Content::images: {
      (void)read_sdnn_images(*memory_source(source.name(), first_lines(source)), file.neurons, 0);
      break;
    }
    case Content::edge_list: {
      const std::string lines = first_lines(source);
      (void)read_edge_list<float>(*memory_source(source.name(), lines));
      break;
    }
    case Content::weights:
      check_weights(file, source);
      return;
    case Content::matrix_archive:
      if (!looks_like_tar(source.peek(512))) throw input_error(source.name(), 0, "no tar archive");
      break;
  }
  if (file.content == Content::images && !file.content_sha256.empty()) {
    const std::string sum = sha256_of(source);
    if (sum != file.content_sha256)
      throw input_error(source.name(), 0, "sha256 differs from " + file.content_sha256, sum);
  }
  drain(source);
}

}  // namespace

std::string sha256_of(ByteSource& source) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> sum(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(sum.get(), EVP_sha256(), nullptr);
  std::vector<char> block(std::size_t{1} << 20);
  for (std::size_t got = 0; (got = source.read(block.data(), block.size())) > 0;)
    EVP_DigestUpdate(sum.get(), block.data(), got);
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

void check_download(const RemoteFile& file, const std::string& shown, const std::string& path) {
  const std::string first = first_bytes(path);
  refuse_web_page(first, shown);
  if (const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path));
      file.bytes >= 0 && size != file.bytes) {
    throw input_error(shown, 0, "must have " + std::to_string(file.bytes) + " bytes, has",
                      std::to_string(size));
  }
  if (!file.sha256.empty()) {
    const std::string sum = sha256_of(*open_raw_source(path));
    if (sum != file.sha256) throw input_error(shown, 0, "sha256 differs from " + file.sha256, sum);
    return;
  }
  if (ends_with(file.url, ".gz") && first.substr(0, 2) != "\x1f\x8b") {
    throw input_error(shown, 0, "the name ends in .gz, but the content is not gzip; it begins with",
                      first.substr(0, 20));
  }
  Renamed source(open_source(path), shown);
  check_content(file, source);
}

void check_unpacked(const RemoteFile& file, const std::string& path) {
  const std::string first = first_bytes(path);
  refuse_web_page(first, path);
  if (ends_with(file.file, ".mtx") && first.rfind("%%MatrixMarket", 0) != 0) {
    throw input_error(path, 1, "not Matrix Market: the first line does not begin with %%MatrixMarket",
                      first.substr(0, 40));
  }
}

}  // namespace plumb
#endif
