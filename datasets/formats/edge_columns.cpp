#include "datasets/formats/edge_columns.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "datasets/io/text.hpp"
#include "reference/core/error.hpp"

namespace plumb {
namespace {

using Fields = std::vector<std::string_view>;
constexpr std::size_t kSampled = std::size_t{64} << 10;  // bytes
constexpr std::size_t kNone = EdgeColumns::kNone;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text::is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && text::is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? trimmed(text.substr(1, text.size() - 2)) : text;
}

bool is_comment(std::string_view line) {
  return line.empty() || line[0] == '#' || line[0] == '%' || line.substr(0, 2) == "//";
}

void split_at_blanks(std::string_view line, Fields& fields) {
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && text::is_blank(line[at])) ++at;
    if (at == line.size()) return;
    std::size_t stop = line[at] == '{' ? line.size() : at;  // a dictionary is one field
    while (stop < line.size() && !text::is_blank(line[stop])) ++stop;
    fields.push_back(unquoted(line.substr(at, stop - at)));
    at = stop;
  }
}

/// `line` without blanks around it.
void split(std::string_view line, char delimiter, Fields& fields) {
  fields.clear();
  if (delimiter == ' ') return split_at_blanks(line, fields);
  char quote = '\0';
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"') {
      quote = c;
    } else if (c == delimiter) {
      fields.push_back(unquoted(line.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  fields.push_back(unquoted(line.substr(begin)));
}

bool is_integer(std::string_view field) {
  if (!field.empty() && (field[0] == '-' || field[0] == '+')) field.remove_prefix(1);
  return !field.empty() &&
         std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<double> number_in(std::string_view field) {
  double value = 0;
  if (text::parse_real(field.data(), field.data() + field.size(), value) != text::Real::ok) return {};
  return value;
}

/// Seconds, milli-, micro- or nanoseconds since 1970, of 1973 or later.
bool is_time(std::string_view field) {
  constexpr double kFirst = 1e8;
  const std::optional<double> value = number_in(field);
  return value && *value >= kFirst && *value == std::floor(*value);
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& known) {
  const std::string w = text::lower(word);
  return std::find(known.begin(), known.end(), w) != known.end();
}

bool names_source(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 15>{"source", "src", "from", "fromnodeid",
                                                          "from_node_id", "u", "i", "node1", "node_1", "id1",
                                                          "id_1", "row", "start", "tail", "sender"});
}
bool names_target(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 17>{"target", "tgt", "dst", "dest", "destination", "to",
                                                          "tonodeid", "to_node_id", "v", "j", "node2",
                                                          "node_2", "id2", "id_2", "col", "end", "receiver"});
}
bool names_weight(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 9>{"weight", "weights", "w", "value", "val", "score",
                                                         "sign", "rating", "data"});
}
bool names_time(std::string_view word) {
  return is_one_of(word, std::array<std::string_view, 8>{"time", "timestamp", "unixts", "ts", "t", "date",
                                                         "datetime", "unixtime"});
}

struct Line {
  std::int64_t number = 0;  // from 1
  std::string_view text;    // without blanks around it
};

/// The lines of the first bytes that are no comments; the last one may be cut, and is left out unless it is the only one.
std::vector<Line> first_lines(ByteSource& source) {
  constexpr std::size_t kMost = 200;
  const std::string_view held = source.peek(kSampled);
  std::vector<Line> lines;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < held.size() && lines.size() < kMost;) {
    const std::size_t stop = std::min(held.find('\n', at), held.size());
    ++number;
    const std::string_view line = trimmed(held.substr(at, stop - at));
    const bool cut = stop == held.size() && held.size() == kSampled;
    if (!is_comment(line) && (!cut || lines.empty())) lines.push_back({number, line});
    at = stop + 1;
  }
  return lines;
}

bool edges_when_split(const std::vector<Line>& lines, char delimiter) {
  Fields fields;
  for (std::size_t k = lines.size() > 1 ? 1 : 0; k < lines.size(); ++k) {
    split(lines[k].text, delimiter, fields);
    if (fields.size() < 2 || !is_integer(fields[0]) || !is_integer(fields[1])) return false;
  }
  return true;
}

char guess_delimiter(const std::vector<Line>& lines) {
  const std::string_view first = lines.front().text.substr(0, lines.front().text.find('{'));
  for (const char c : {';', ',', '|'}) {
    if (first.find(c) != std::string_view::npos) return c;
  }
  Fields by_tabs, by_blanks;
  for (const Line& line : lines) {
    split(line.text, '\t', by_tabs), split(line.text, ' ', by_blanks);
    if (by_tabs.size() > 1 && by_tabs.size() != by_blanks.size() && edges_when_split(lines, '\t'))
      return '\t';
  }
  return ' ';
}

class Guess {
 public:
  Guess(ByteSource& source, std::vector<Line> lines) : source_(source), lines_(std::move(lines)) {
    out_.delimiter = guess_delimiter(lines_);
    split(lines_.front().text, out_.delimiter, first_);
  }

  EdgeColumns given(const std::vector<std::string>& words) {
    out_.from = out_.to = out_.weight = kNone;
    for (std::size_t k = 0; k < words.size(); ++k) {
      std::size_t* const place = words[k] == "from"     ? &out_.from
                                 : words[k] == "to"     ? &out_.to
                                 : words[k] == "weight" ? &out_.weight
                                                        : nullptr;
      if ((place == nullptr && words[k] != "-") || (place != nullptr && *place != kNone))
        throw Error(fmt::format(
            "--columns takes from, to, weight and - once for each column, as from,to,-,weight: '{}'",
            printable(fmt::format("{}", fmt::join(words, ",")))));
      if (place != nullptr) *place = k;
    }
    if (out_.from == kNone || out_.to == kNone)
      throw Error("--columns needs from and to, as in --columns from,to,-");
    out_.count = words.size();
    if (has_header()) out_.header = lines_.front().number;
    return out_;
  }

  EdgeColumns guessed() {
    if (has_header()) {
      read_header();
    } else {
      by_number_of_columns();
    }
    return out_;
  }

 private:
  [[nodiscard]] std::string_view field(const Fields& fields, std::size_t k) const {
    return k < fields.size() ? fields[k] : std::string_view{};
  }
  /// The first line has no ids, the second has.
  [[nodiscard]] bool has_header() const {
    if (lines_.size() < 2) return false;
    const auto from = std::min(out_.from, out_.to);
    if (is_integer(field(first_, from))) return false;
    Fields next;
    split(lines_[1].text, out_.delimiter, next);
    return std::count_if(next.begin(), next.end(), is_integer) >= 2;
  }

  void read_header() {
    out_.header = lines_.front().number;
    out_.from = out_.to = out_.weight = kNone;
    std::vector<std::string> unread;
    for (std::size_t k = 0; k < first_.size(); ++k) {
      std::size_t* const place = names_source(first_[k])   ? &out_.from
                                 : names_target(first_[k]) ? &out_.to
                                 : names_weight(first_[k]) ? &out_.weight
                                                           : nullptr;
      if (place != nullptr && *place == kNone) *place = k;
    }
    if (out_.from == kNone || out_.to == kNone) {
      out_.from = 0, out_.to = 1;
      if (out_.weight == kNone && first_.size() == 3 && !names_time(first_[2])) out_.weight = 2;
      if (out_.weight < 2) out_.weight = kNone;
    }
    out_.count = first_.size();
    for (std::size_t k = 0; k < first_.size(); ++k) {
      if (k != out_.from && k != out_.to && k != out_.weight && !first_[k].empty())
        unread.push_back(printable(first_[k]));
    }
    note(fmt::format(
        "line {} names the columns: edges go from '{}' to '{}', {}{}", out_.header,
        printable(first_[out_.from]), printable(field(first_, out_.to)),
        out_.weight == kNone ? "without weights" : "weight '" + printable(first_[out_.weight]) + "'",
        unread.empty() ? "" : fmt::format("; not read: {}", fmt::join(unread, ", "))));
  }

  void by_number_of_columns() {
    require_numbers();
    const std::size_t n = columns();
    if (n == 3 && first_.size() > 2 && first_[2].substr(0, 1) == "{") {
      out_.dictionary = true, out_.count = n;
    } else if (n == 3 && all(2, is_time)) {
      out_.weight = kNone, out_.count = n;
      note("column 3 is taken for times and not read; --columns from,to,weight reads weights");
    } else if (n == 4 && all(3, is_time) && !all(2, is_time)) {
      out_.count = n;
      note("column 3 is taken for weights, column 4 for times; --columns from,to,-,- reads no weights");
    } else if (n == 3 && !number_in(weight_text(first_[2]))) {
      throw input_error(source_.name(), lines_.front().number,
                        "weight is not a number (--columns from,to,- leaves column 3 out)", first_[2]);
    } else if (n > 3) {
      throw input_error(
          source_.name(), lines_.front().number,
          fmt::format("text after the third column: name the {} columns, as in --columns from,to,weight{}", n,
                      repeated_dash(n - 3)),
          field(first_, 3));
    }
    if (out_.delimiter != ' ') out_.count = std::max<std::size_t>(n, 2);
    if (out_.delimiter != ' ' && n < 3) out_.weight = kNone;
  }

  static std::string repeated_dash(std::size_t n) {
    std::string out;
    for (std::size_t k = 0; k < n && k < 20; ++k) out += ",-";
    return out;
  }
  [[nodiscard]] std::string weight_text(std::string_view field) const {
    std::string out(field);
    if (out_.delimiter == ';') std::replace(out.begin(), out.end(), ',', '.');
    return out;
  }
  /// A delimiter at the end of a line begins no column.
  [[nodiscard]] std::size_t columns() const {
    std::size_t n = first_.size();
    while (n > 2 && first_[n - 1].empty()) --n;
    return n;
  }
  void require_numbers() const {
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      if (k >= first_.size() || is_integer(first_[k])) continue;
      const bool names = std::any_of(first_[k].begin(), first_[k].end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
      });
      throw input_error(
          source_.name(), lines_.front().number,
          fmt::format("{} vertex is not an integer{}", k == 0 ? "source" : "target",
                      names ? "; to number vertices with names: awk" + delimiter_of_awk() +
                                  " '{for(i=1;i<3;i++){if(!($i in n))n[$i]=k++;$i=n[$i]}}1' FILE"
                            : ""),
          first_[k]);
    }
  }
  [[nodiscard]] std::string delimiter_of_awk() const {
    if (out_.delimiter == ' ') return "";
    return out_.delimiter == '\t' ? " -F'\\t'" : fmt::format(" -F'{}'", out_.delimiter);
  }
  template <class Is>
  [[nodiscard]] bool all(std::size_t column, const Is& is) const {
    Fields fields;
    return std::all_of(lines_.begin(), lines_.end(), [&](const Line& line) {
      split(line.text, out_.delimiter, fields);
      return column < fields.size() && is(fields[column]);
    });
  }
  void note(std::string text) { source_.findings().notes.push_back(std::move(text)); }

  ByteSource& source_;
  std::vector<Line> lines_;
  Fields first_;
  EdgeColumns out_;
};

/// Lines are rewritten one piece after the other, on the thread that reads.
class ColumnSource final : public ByteSource {
 public:
  ColumnSource(ByteSource& source, const EdgeColumns& columns)
      : ByteSource(source.name()), columns_(columns), pieces_(source) {}

 protected:
  std::size_t pull(char* to, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes) {
      if (used_ == out_.size() && !refill()) break;
      const std::size_t n = std::min(bytes - done, out_.size() - used_);
      std::memcpy(to + done, out_.data() + used_, n);
      done += n;
      used_ += n;
    }
    return done;
  }

 private:
  bool refill() {
    bool too_long = false;
    out_.clear();
    used_ = 0;
    while (out_.empty()) {
      if (!pieces_.next(piece_, too_long)) return false;
      if (too_long) throw input_error(name(), line_ + 1, "line is longer than 1 MiB", piece_.substr(0, 100));
      for (std::size_t at = 0; at < piece_.size();) {
        const std::size_t stop = std::min(piece_.find('\n', at), piece_.size());
        ++line_;
        add(trimmed(std::string_view(piece_).substr(at, stop - at)));
        out_ += '\n';
        at = stop + 1;
      }
    }
    return true;
  }
  void add(std::string_view line) {
    if (is_comment(line) || line_ == columns_.header) return;
    split(line, columns_.delimiter, fields_);
    while (fields_.size() > columns_.count && fields_.back().empty()) fields_.pop_back();
    if (columns_.count > 0 && fields_.size() > columns_.count)
      throw input_error(name(), line_, fmt::format("{} columns, expected {}", fields_.size(), columns_.count),
                        line);
    add_vertex("source vertex", columns_.from);
    out_ += ' ';
    add_vertex("target vertex", columns_.to);
    if (columns_.weight < fields_.size() && !fields_[columns_.weight].empty())
      add_weight(fields_[columns_.weight]);
  }
  void add_vertex(const char* what, std::size_t column) {
    if (column >= fields_.size() || fields_[column].empty())
      throw input_error(name(), line_, fmt::format("{} is missing (column {})", what, column + 1));
    for (const char c : fields_[column]) {
      if (text::is_blank(c))
        throw input_error(name(), line_, std::string(what) + " is not an integer", fields_[column]);
    }
    out_ += fields_[column];
  }
  void add_weight(std::string_view field) {
    if (columns_.dictionary) {
      std::size_t at = field.find("'weight':");
      if (at == std::string_view::npos) at = field.find("\"weight\":");
      if (at == std::string_view::npos) return;
      field = trimmed(field.substr(at + 9));
      field = trimmed(field.substr(0, field.find_first_of(",}")));
    }
    out_ += ' ';
    const std::size_t begin = out_.size();
    out_ += field;
    if (columns_.delimiter == ';')
      std::replace(out_.begin() + static_cast<std::ptrdiff_t>(begin), out_.end(), ',', '.');
  }

  EdgeColumns columns_;
  text::Chunker pieces_;
  std::string piece_, out_;
  std::size_t used_ = 0;  // of out_
  std::int64_t line_ = 0;
  Fields fields_;
};

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> out;
  Fields fields;
  split_at_blanks(text, fields);
  for (const std::string_view field : fields) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(field.data(), field.data() + field.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != field.data() + field.size()) return {};
    out.push_back(value);
  }
  return out;
}

}  // namespace

EdgeColumns guess_columns(ByteSource& source, const std::vector<std::string>& given) {
  std::vector<Line> lines = first_lines(source);
  if (lines.empty()) return {};
  Guess guess(source, std::move(lines));
  return given.empty() ? guess.guessed() : guess.given(given);
}

std::unique_ptr<ByteSource> select_columns(ByteSource& source, const EdgeColumns& columns) {
  return std::make_unique<ColumnSource>(source, columns);
}

TellTaleSize size_in_comments(ByteSource& source) {
  const std::string_view held = source.peek(kSampled);
  TellTaleSize out;
  for (std::size_t at = 0; at < held.size();) {
    const std::size_t stop = std::min(held.find('\n', at), held.size());
    const std::string_view line = trimmed(held.substr(at, stop - at));
    at = stop + 1;
    if (!is_comment(line)) break;
    if (line.empty()) continue;
    const std::string_view comment = trimmed(line.substr(1));
    if (line[0] == '%') {
      out.bipartite = out.bipartite || comment.substr(0, 3) == "bip";
      const std::vector<std::int64_t> n = numbers_in(comment);
      if (n.size() == 3) out.rows = n[1], out.cols = n[2];
    } else if (const std::string words = text::lower(comment); words.rfind("nodes", 0) == 0) {
      const std::size_t digits = words.find_first_of("0123456789");
      if (digits != std::string::npos)
        std::from_chars(words.data() + digits, words.data() + words.size(), out.rows);
      out.cols = out.rows;
    }
  }
  return out;
}

}  // namespace plumb
