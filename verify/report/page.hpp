// Parts of every HTML page: the head with its style (light and dark, nothing fetched from elsewhere), the foot, escaping, and
// the file it is written to.
#pragma once
#include <string>
#include <string_view>

namespace plumb {

/// For XML and HTML, in text and in quoted attributes; control characters become '?'.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// The text with each absolute path cut to its last part: a page that is passed on tells no folders of the machine that made it.
[[nodiscard]] std::string without_folders(std::string_view text);

[[nodiscard]] std::string page_head(std::string_view title);
[[nodiscard]] std::string page_foot();

/// One whole page. A regular file always holds one whole state: each write() replaces it. A device, a pipe or /dev/stdout cannot be
/// replaced and gets the finished page alone.
class PageFile {
 public:
  /// Throws Error when the place cannot be written to.
  explicit PageFile(std::string path);
  /// A state that may be followed by others; on failure the old one stays, and write_error() says why.
  void write(std::string_view contents);
  /// The last state.
  void finish(std::string_view contents);
  [[nodiscard]] const std::string& write_error() const { return write_error_; }

 private:
  std::string path_, write_error_;
  bool replaceable_ = true;
};

}  // namespace plumb
