#include "verify/judge/sanitizer_report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "reference/core/text.hpp"

namespace plumb {
namespace {

// The five entities of XML and characters by number; anything else stays as it is written.
std::string decoded(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '&' ? text.find(';', i) : std::string_view::npos;
    if (end == std::string_view::npos || end - i > 10) {
      out += text[i];
      continue;
    }
    const std::string_view word = text.substr(i + 1, end - i - 1);
    const auto* known = std::find_if(std::begin(kEntities), std::end(kEntities),
                                     [&](const auto& e) { return e.first == word; });
    if (known != std::end(kEntities)) {
      out += known->second;
    } else if (word.size() > 1 && word.front() == '#') {
      const bool hex = word[1] == 'x' || word[1] == 'X';
      const long code = std::strtol(std::string(word.substr(hex ? 2 : 1)).c_str(), nullptr, hex ? 16 : 10);
      out += code > 0 && code < 128 ? static_cast<char>(code) : '?';
    } else {
      out += text.substr(i, end - i + 1);
    }
    i = end;
  }
  return out;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  XmlNode root() {
    XmlNode node;
    while (next()) {
      if (kind_ == Kind::open) {
        node = element();
        break;
      }
      if (kind_ == Kind::closed_at_once) {
        node.name = std::string(name_);
        break;
      }
    }
    whole_ = whole_ && !node.name.empty();
    return node;
  }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  enum class Kind : std::uint8_t { text, open, close, closed_at_once };
  static constexpr int kDeepest = 200;  // a file with deeper nesting must not overflow the stack

  XmlNode element() {
    XmlNode node;
    node.name = std::string(name_);
    ++depth_;
    std::string raw;
    while (true) {
      if (!next()) {
        whole_ = false;
        break;
      }
      if (kind_ == Kind::close) {
        if (name_ == node.name) break;
        whole_ = false;  // an end tag without its start: ignored
      } else if (kind_ == Kind::text) {
        raw += piece_;
      } else if (kind_ == Kind::closed_at_once) {
        node.children.emplace_back().name = std::string(name_);
      } else if (depth_ < kDeepest) {
        node.children.push_back(element());
      } else {
        whole_ = false;
      }
    }
    --depth_;
    node.text = trimmed(raw);
    return node;
  }

  // The next piece of the text; false at its end.
  bool next() {
    while (at_ < text_.size()) {
      if (text_[at_] != '<') {
        const std::size_t end = std::min(text_.find('<', at_), text_.size());
        piece_ = decoded(text_.substr(at_, end - at_));
        at_ = end;
        kind_ = Kind::text;
        return true;
      }
      if (skip("<!--", "-->") || skip("<?", "?>")) continue;
      if (const std::string_view cdata = between("<![CDATA[", "]]>"); cdata.data() != nullptr) {
        piece_ = std::string(cdata);
        kind_ = Kind::text;
        return true;
      }
      if (skip("<!", ">")) continue;
      // the end of a tag is no '>' inside of an attribute's quotes
      std::size_t end = at_ + 1;
      char quote = '\0';
      while (end < text_.size() && (quote != '\0' || text_[end] != '>')) {
        if (quote != '\0' ? text_[end] == quote : text_[end] == '"' || text_[end] == '\'')
          quote = quote != '\0' ? '\0' : text_[end];
        ++end;
      }
      if (end >= text_.size()) break;
      std::string_view tag = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      kind_ = Kind::open;
      if (!tag.empty() && tag.front() == '/') {
        kind_ = Kind::close;
        tag.remove_prefix(1);
      } else if (!tag.empty() && tag.back() == '/') {
        kind_ = Kind::closed_at_once;
        tag.remove_suffix(1);
      }
      name_ = tag.substr(0, std::min(tag.find_first_of(" \t\r\n"), tag.size()));
      return true;
    }
    at_ = text_.size();
    return false;
  }

  std::string_view between(std::string_view begin, std::string_view end) {
    if (text_.substr(at_, begin.size()) != begin) return {};
    const std::size_t from = at_ + begin.size(), to = text_.find(end, from);
    whole_ = whole_ && to != std::string_view::npos;
    at_ = to == std::string_view::npos ? text_.size() : to + end.size();
    return text_.substr(from, std::min(to, text_.size()) - from);
  }
  bool skip(std::string_view begin, std::string_view end) { return between(begin, end).data() != nullptr; }

  std::string_view text_, name_;
  std::string piece_;
  Kind kind_ = Kind::text;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool whole_ = true;
};

// "void plumb::(anonymous namespace)::gemm_tile<float, 32>(float const*, long)" as "gemm_tile<float, 32>".
std::string short_kernel(std::string name) {
  static constexpr std::string_view kUnnamed[] = {
      "(anonymous namespace)::", "<unnamed>::", "_NV_ANON_NAMESPACE::"};
  for (const std::string_view u : kUnnamed) {
    for (std::size_t at; (at = name.find(u)) != std::string::npos;) name.erase(at, u.size());
  }
  int depth = 0;
  std::size_t begin = 0, end = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (depth != 0) continue;
    if (name[i] == '(') {
      end = i;
      break;
    }
    if (name[i] == ' ' || name[i] == ':') begin = i + 1;
  }
  return name.substr(begin, end - begin);
}

// "(3, 0, 0)" of an element with x, y and z, in order.
std::string axes(const XmlNode* node) {
  if (node == nullptr) return {};
  std::string out;
  for (const char* axis : {"x", "y", "z"}) {
    if (const XmlNode* at = node->find(axis)) out += (out.empty() ? "" : ", ") + at->text;
  }
  return out.empty() ? node->text : "(" + out + ")";
}

std::string path_of(const XmlNode& node) {
  const std::string path = node.text_of("path");
  return path.empty() ? node.text_of("file") : path;
}

bool same_place(const SanitizerFinding& a, const SanitizerFinding& b) {
  return a.message == b.message && a.kernel == b.kernel && a.file == b.file && a.line == b.line;
}

std::string message_of(const XmlNode& record, const SanitizerFinding& f) {
  const XmlNode* what = record.find("what");
  std::string message;
  if (what != nullptr) message = what->text_of("text").empty() ? what->text : what->text_of("text");
  if (message.empty()) message = fmt::format("{} {}", f.kind, f.level);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

// Kernel, file and line. An inlined call stands in `where`, the kernel at the end of the stack around it.
void take_place(const XmlNode& record, SanitizerFinding& f) {
  const XmlNode* where = record.find("where");
  if (const XmlNode* stack = record.find("deviceStack"); stack != nullptr && !stack->children.empty()) {
    if (where != nullptr) f.detail.push_back("within " + where->text_of("func"));
    where = &stack->children.back();
  }
  if (where == nullptr) return;
  f.kernel = short_kernel(where->text_of("func"));
  f.file = path_of(*where), f.line = std::atoi(where->text_of("line").c_str());
}

// "read at FILE:LINE, 12 times", of one end of a race.
std::string describe_end(const XmlNode& node) {
  const std::string file = path_of(node), count = node.text_of("count");
  const std::string place = file.empty() ? "" : fmt::format(" at {}:{}", file, node.text_of("line"));
  return fmt::format("{}{}{}", node.text_of("direction"), place,
                     count.empty() ? "" : fmt::format(", {} times", count));
}

SanitizerFinding finding_of(const XmlNode& record) {
  SanitizerFinding f;
  f.kind = record.text_of("kind"), f.level = record.text_of("level");
  f.message = message_of(record, f);
  take_place(record, f);
  if (const std::string size = record.text_of("size"); !size.empty())
    f.detail.push_back(fmt::format("{} bytes", size));
  if (const XmlNode* who = record.find("who")) {
    f.detail.push_back(
        fmt::format("block {} thread {}", axes(who->find("blockIdx")), axes(who->find("threadIdx"))));
  }
  for (const char* end : {"source", "destination"}) {
    if (const XmlNode* node = record.find(end)) f.detail.push_back(describe_end(*node));
  }
  return f;
}

}  // namespace

const XmlNode* XmlNode::find(std::string_view wanted) const {
  for (const XmlNode& child : children) {
    if (child.name == wanted) return &child;
    if (const XmlNode* inside = child.find(wanted)) return inside;
  }
  return nullptr;
}

std::string XmlNode::text_of(std::string_view wanted) const {
  const XmlNode* node = find(wanted);
  return node != nullptr ? node->text : "";
}

XmlNode read_xml(std::string_view text, bool* whole) {
  Reader reader(text);
  XmlNode root = reader.root();
  if (whole != nullptr) *whole = reader.whole();
  return root;
}

SanitizerReport read_sanitizer_report(std::string_view xml) {
  SanitizerReport report;
  const XmlNode root = read_xml(xml, &report.whole);
  std::vector<int> times;
  for (const XmlNode& record : root.children) {
    if (record.name != "record") continue;
    SanitizerFinding f = finding_of(record);
    // a line of a kernel is reported once, however many threads and launches met it
    const auto same = std::find_if(report.findings.begin(), report.findings.end(),
                                   [&](const SanitizerFinding& other) { return same_place(other, f); });
    if (same == report.findings.end()) {
      report.findings.push_back(std::move(f));
      times.push_back(1);
    } else {
      ++times[static_cast<std::size_t>(same - report.findings.begin())];
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 1) report.findings[i].detail.push_back(fmt::format("reported {} times", times[i]));
  }
  return report;
}

}  // namespace plumb
