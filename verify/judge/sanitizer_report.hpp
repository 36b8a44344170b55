// Reads what compute-sanitizer writes with --xml: findings with kernel, place and threads. The format has no published schema and grows
// with every release: unknown elements are kept as text and are never an error, and a file that ends early counts up to its end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

/// An element: its text, without that of elements inside, trimmed.
struct XmlNode {
  std::string name, text;
  std::vector<XmlNode> children;
  /// The first element of that name inside, at any depth; null where there is none.
  [[nodiscard]] const XmlNode* find(std::string_view name) const;
  /// The text of find(name), or "".
  [[nodiscard]] std::string text_of(std::string_view name) const;
};

/// The root element; its name is "" where the text holds none. Comments, declarations and attributes are passed over.
/// `whole` is false where the text ended before its elements did.
[[nodiscard]] XmlNode read_xml(std::string_view text, bool* whole = nullptr);

struct SanitizerFinding {
  std::string kind, level;  // as the tool has them: "Hazard", "Warning"; "MemcheckMemoryAccess", "Error"
  std::string message;      // one line
  std::string kernel;       // without arguments; "" where the finding is of no kernel
  std::string file;         // as it was compiled; "" without -lineinfo
  int line = 0;
  std::vector<std::string> detail;  // threads, blocks, other places
};

struct SanitizerReport {
  std::vector<SanitizerFinding> findings;
  bool whole = false;  // the file ended as it should
};

[[nodiscard]] SanitizerReport read_sanitizer_report(std::string_view xml);

}  // namespace plumb
