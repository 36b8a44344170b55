// Tables of the console: a name, then cells, in columns as wide as they must be.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace plumb {

struct TextCell {
  std::string text;
  const char* color = "";  // as in "31"; "": none
};

/// "\033[31mtext\033[0m".
[[nodiscard]] std::string painted(const std::string& text, const char* color);

class TextTable {
 public:
  TextTable(std::string title, std::vector<std::string> heads);
  /// As many cells as heads.
  void add(std::string name, std::vector<TextCell> cells);
  /// A line behind the last row.
  void add_note(std::string line);
  /// Lines of at most `columns` characters (0: no limit), as far as the cells alone fit: where a name leaves them too little room, names
  /// have lines of their own.
  [[nodiscard]] std::vector<std::string> lines(std::size_t columns) const;

 private:
  struct Row {
    std::string name;
    std::vector<TextCell> cells;
    std::vector<std::string> notes;
  };
  [[nodiscard]] std::string cells_of(const Row&) const;

  std::vector<std::size_t> widths_;
  std::vector<Row> rows_;  // the first: the heads
};

}  // namespace plumb
