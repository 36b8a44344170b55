// What every page of ours is made of: the head with its style (light and dark, nothing fetched from elsewhere), the foot, escaping,
// and a file that is replaced whole.
#pragma once
#include <string>
#include <string_view>

namespace plumb {

/// For XML and HTML, in text and in quoted attributes; control characters become '?'.
[[nodiscard]] std::string escape_markup(std::string_view text);

[[nodiscard]] std::string page_head(std::string_view title);
[[nodiscard]] std::string page_foot();

/// A file that always holds one whole state: written under another name in the same folder, then renamed.
class PageFile {
 public:
  /// Throws Error when the folder cannot be written to.
  explicit PageFile(std::string path);
  /// Replaces the contents; on failure the old ones stay, and trouble() says why.
  void write(std::string_view contents);
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::string path_, trouble_;
};

}  // namespace plumb
