// Text or bytes into an OutputFile, gzipped or not: buffered, numbers in the shortest digits that read back to the same value.
#pragma once
#include <zlib.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "datasets/io/output_file.hpp"

namespace plumb {

class OutputText {
 public:
  /// Errors: as OutputFile.
  OutputText(const std::string& path, bool gzip);
  ~OutputText();
  OutputText(const OutputText&) = delete;
  OutputText& operator=(const OutputText&) = delete;

  void write(std::string_view text) {
    pending_ += text;
    if (pending_.size() >= kBlock) flush(Z_NO_FLUSH);
  }
  template <class N>
  void number(N value, char end) {
    std::array<char, 40> digits;
    char* last = std::to_chars(digits.data(), digits.data() + digits.size() - 1, value).ptr;
    *last++ = end;
    write({digits.data(), static_cast<std::size_t>(last - digits.data())});
  }
  /// Writes what is buffered and ends the file. Errors: as OutputFile::commit.
  void commit();

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;  // bytes written at a time

  void flush(int mode);

  std::string path_;
  OutputFile file_;
  bool gzip_;
  std::string pending_;
  z_stream stream_{};
  std::array<Bytef, std::size_t{1} << 16> out_{};
};

}  // namespace plumb
