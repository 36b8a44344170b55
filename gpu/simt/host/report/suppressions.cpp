#include "gpu/simt/host/report/suppressions.hpp"

#include <fmt/core.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>
#include <vector>

namespace plumb::simt {

namespace {

struct Clause {
  std::string key, pattern;
};
struct Rule {
  std::vector<Clause> clauses;
  int line = 0;
  bool used = false;
};
struct Suppressions {
  std::string path;
  std::vector<Rule> rules;
};
Suppressions& all() {
  static auto& it = *new Suppressions;  // outlives the program's own statics
  return it;
}

constexpr const char* kKeys[] = {"kind", "kernel", "array", "file"};

[[noreturn]] void refuse_file(const std::string& where, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", where.c_str(), why.c_str());
  std::fflush(nullptr);
  _exit(2);
}

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// A place as FILE or FILE:LINE, the file by its whole path or from some folder of it on.
bool matches_place(const std::string& pattern, const Place& place) {
  if (place.line == 0) return false;
  const std::string with_line = fmt::format("{}:{}", place.file, place.line);
  const std::string deeper = "*/" + pattern;
  return matches(pattern, place.file) || matches(pattern, with_line) || matches(deeper, place.file) ||
         matches(deeper, with_line);
}

bool matches_clause(const Clause& c, const Finding& f) {
  if (c.key == "kind") {
    std::string kind = name_of(f.kind);
    std::replace(kind.begin(), kind.end(), ' ', '-');
    return matches(c.pattern, kind);
  }
  if (c.key == "kernel") return matches(c.pattern, f.kernel) || matches(c.pattern, f.other_kernel);
  if (c.key == "array") return matches(c.pattern, f.array);
  return matches_place(c.pattern, f.place) || (f.has_other && matches_place(c.pattern, f.other_place));
}

// KEY=PATTERN ...; a pattern with spaces stands in quotes.
Rule read_rule(const std::string& text, int number, const std::string& path) {
  Rule rule;
  rule.line = number;
  std::istringstream in(text);
  const std::string where = fmt::format("{}:{}", path, number);
  while ((in >> std::ws) && in.peek() != std::char_traits<char>::eof() && in.peek() != '#') {
    Clause clause;
    std::getline(in, clause.key, '=');
    if (in.eof() || std::find(std::begin(kKeys), std::end(kKeys), clause.key) == std::end(kKeys))
      refuse_file(where, fmt::format("'{}' is none of kind=, kernel=, array=, file=", clause.key));
    in >> std::quoted(clause.pattern);
    if (clause.pattern.empty()) refuse_file(where, fmt::format("{}= has no pattern", clause.key));
    rule.clauses.push_back(std::move(clause));
  }
  return rule;
}

}  // namespace

void read_suppressions() {
  const char* path = std::getenv("PLUMB_SIMT_SUPPRESS");
  if (path == nullptr || *path == 0) return;
  std::ifstream in(path);
  if (!in) refuse_file(path, "the file of suppressions cannot be read");
  all().path = path;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    Rule rule = read_rule(text, number, path);
    if (!rule.clauses.empty()) all().rules.push_back(std::move(rule));
  }
}

std::string suppressed_by(const Finding& f) {
  for (Rule& rule : all().rules) {
    if (!std::all_of(rule.clauses.begin(), rule.clauses.end(),
                     [&](const Clause& c) { return matches_clause(c, f); }))
      continue;
    rule.used = true;
    return fmt::format("{}:{}", all().path, rule.line);
  }
  return "";
}

void tell_unused_suppressions() {
  for (const Rule& rule : all().rules) {
    if (!rule.used)
      std::fprintf(stderr, "%s:%d: this suppression named no finding\n", all().path.c_str(), rule.line);
  }
}

}  // namespace plumb::simt
