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
  /// A text behind the last row's cells; on lines of its own where that row would be too long.
  void add_remark(std::string text);
  /// Lines of at most `columns` characters (0: no limit), notes apart: where a name leaves the cells too little room, names have lines
  /// of their own; cells that still do not fit continue on further lines, those of the heads, too.
  [[nodiscard]] std::vector<std::string> lines(std::size_t columns) const;

 private:
  struct Row {
    std::string name;
    std::vector<TextCell> cells;
    std::string remark;
    std::vector<std::string> notes;
  };
  // Cells [begin, end), which stand on one line.
  struct Group {
    std::size_t begin = 0, end = 0, width = 0;
  };
  [[nodiscard]] std::vector<Group> groups(std::size_t columns) const;
  [[nodiscard]] std::string cells_of(const Row&, const Group&) const;
  static void append_remark(std::vector<std::string>& lines, const Row&, std::size_t width,
                            std::size_t columns);

  std::vector<std::size_t> widths_;
  std::vector<Row> rows_;  // the first: the heads
};

}  // namespace plumb
