#include "verify/report/table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tools/terminal.hpp"

namespace plumb {
namespace {
constexpr std::size_t kGap = 2, kRemarkGap = 3, kRemarkIndent = 6;
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
  rows_.push_back({std::move(name), std::move(cells), {}, {}});
}

void TextTable::add_note(std::string line) { rows_.back().notes.push_back(std::move(line)); }
void TextTable::add_remark(std::string text) { rows_.back().remark = std::move(text); }

std::vector<TextTable::Group> TextTable::groups(std::size_t columns) const {
  std::vector<Group> all(1);
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    if (columns > 0 && all.back().width > 0 && all.back().width + widths_[i] > columns)
      all.push_back({i, i, 0});
    all.back().end = i + 1, all.back().width += widths_[i];
  }
  return all;
}

std::string TextTable::cells_of(const Row& row, const Group& group) const {
  std::string out;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const TextCell& cell = row.cells[i];
    out += std::string(widths_[i] - cell.text.size(), ' ') + painted(cell.text, cell.color);
  }
  return out;
}

// `width`: of the row's last line as it is seen, colours apart.
void TextTable::append_remark(std::vector<std::string>& lines, const Row& row, std::size_t width,
                              std::size_t columns) {
  if (row.remark.empty()) return;
  if (columns == 0 || width + kRemarkGap + row.remark.size() <= columns) {
    lines.back() += std::string(kRemarkGap, ' ') + row.remark;
    return;
  }
  for (const std::string& line : wrapped(row.remark, std::max(columns, 2 * kRemarkIndent) - kRemarkIndent))
    lines.push_back(std::string(kRemarkIndent, ' ') + line);
}

std::vector<std::string> TextTable::lines(std::size_t columns) const {
  const std::vector<Group> parts = groups(columns);
  std::size_t longest = 0, cells = 0;
  for (const Row& row : rows_) longest = std::max(longest, row.name.size());
  for (const Group& part : parts) cells = std::max(cells, part.width);
  // where not all fit, a name that is too long has a line of its own
  std::size_t room = longest;
  if (columns > 0 && longest + cells > columns) room = columns > cells ? columns - cells : 0;
  std::vector<std::string> lines;
  for (const Row& row : rows_) {
    std::string name = row.name;
    if (name.size() > room) lines.push_back(std::exchange(name, ""));
    if (row.cells.empty() && !name.empty()) lines.push_back(name);
    for (const Group& part : parts) {
      if (row.cells.empty()) break;
      lines.push_back(name + std::string(room - name.size(), ' ') + cells_of(row, part));
      name.clear();
    }
    append_remark(lines, row, row.cells.empty() ? row.name.size() : room + parts.back().width, columns);
    lines.insert(lines.end(), row.notes.begin(), row.notes.end());
  }
  return lines;
}

}  // namespace plumb
