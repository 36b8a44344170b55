#include "verify/report/table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace plumb {
namespace {
constexpr std::size_t kGap = 2;
}

std::string painted(const std::string& text, const char* color) {
  return *color == '\0' ? text : fmt::format("\033[{}m{}\033[0m", color, text);
}

TextTable::TextTable(std::string title, std::vector<std::string> heads) {
  widths_.resize(heads.size());
  std::vector<TextCell> cells;
  for (std::string& head : heads) cells.push_back({std::move(head)});
  add(std::move(title), std::move(cells));
}

void TextTable::add(std::string name, std::vector<TextCell> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    widths_.at(i) = std::max(widths_.at(i), cells[i].text.size() + kGap);
  rows_.push_back({std::move(name), std::move(cells), {}});
}

void TextTable::add_note(std::string line) { rows_.back().notes.push_back(std::move(line)); }

std::string TextTable::cells_of(const Row& row) const {
  std::string out;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const TextCell& cell = row.cells[i];
    out += std::string(widths_[i] - cell.text.size(), ' ') + painted(cell.text, cell.color);
  }
  return out;
}

std::vector<std::string> TextTable::lines(std::size_t columns) const {
  std::size_t longest = 0, cells = 0;
  for (const Row& row : rows_) longest = std::max(longest, row.name.size());
  for (const std::size_t width : widths_) cells += width;
  // where not all fit, a name that is too long has a line of its own
  std::size_t room = longest;
  if (columns > 0 && longest + cells > columns) room = columns > cells ? columns - cells : 0;
  std::vector<std::string> lines;
  for (const Row& row : rows_) {
    std::string name = row.name;
    if (name.size() > room) lines.push_back(std::exchange(name, ""));
    if (!row.cells.empty()) name += std::string(room - name.size(), ' ') + cells_of(row);
    if (!name.empty()) lines.push_back(std::move(name));
    lines.insert(lines.end(), row.notes.begin(), row.notes.end());
  }
  return lines;
}

}  // namespace plumb
