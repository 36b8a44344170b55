#include "verify/judge/thread_sanitizer.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

constexpr std::string_view kBegin = "WARNING: ThreadSanitizer: data race";
constexpr std::string_view kEnd = "SUMMARY: ThreadSanitizer:";

// One side of a race: "  Previous write of size 4 at 0x7b04 by thread T1:" and the frames under it.
struct Access {
  std::string what, who;
  std::string where = "a place without source lines";
};

bool begins(std::string_view line, std::string_view with) { return line.substr(0, with.size()) == with; }

std::optional<Access> access_in(const std::string& line) {
  const std::size_t size = line.find(" of size "), by = line.rfind(" by ");
  if (!begins(line, "  ") || begins(line, "   ") || size == std::string::npos || by == std::string::npos)
    return std::nullopt;
  std::string what = line.substr(2, size - 2), who = line.substr(by + 4);
  if (!who.empty() && who.back() == ':') who.pop_back();
  constexpr std::string_view kBefore = "Previous ";
  if (begins(what, kBefore)) what = what.substr(kBefore.size());
  if (!what.empty() && what[0] >= 'A' && what[0] <= 'Z') what[0] = static_cast<char>(what[0] + ('a' - 'A'));
  return Access{what, who};
}

// "FILE:LINE" of a frame "    #0 NAME FILE:LINE:COLUMN (MODULE+0x12) (BuildId: ...)", or "": frames of a runtime have no source.
std::string source_of(const std::string& frame) {
  const std::string text = frame.substr(0, frame.substr(0, frame.find(" (BuildId")).rfind(" ("));
  const std::size_t absolute = text.find(" /");  // a folder's name may hold spaces
  const std::size_t file = absolute != std::string::npos ? absolute : text.rfind(' ');
  if (file == std::string::npos) return "";
  const std::vector<std::string> parts = split(text.substr(file + 1), ':');
  if (parts.size() < 2 || parts[0] == "<null>") return "";
  return parts[0] + ":" + parts[1];
}

// The lines of the first report.
std::vector<std::string> report_in(const std::string& said) {
  const std::size_t from = said.find(kBegin), end = said.find(kEnd, from);
  if (from == std::string::npos || end == std::string::npos) return {};
  return split(said.substr(from, said.find('\n', end) - from), '\n');
}

std::vector<Access> accesses_in(const std::vector<std::string>& report) {
  std::vector<Access> all;
  bool named = true;
  for (const std::string& line : report) {
    if (std::optional<Access> access = access_in(line)) {
      all.push_back(*std::move(access)), named = false;
    } else if (begins(line, "    #") && !named) {
      const std::string source = source_of(line);
      if (!source.empty()) all.back().where = source, named = true;
    } else if (begins(line, "  ") && !begins(line, "    ")) {
      named = true;  // stacks of threads and of allocations
    }
  }
  return all;
}

}  // namespace

std::optional<Finding> race_in(const std::string& said) {
  std::vector<std::string> report = report_in(said);
  const std::vector<Access> accesses = accesses_in(report);
  if (accesses.size() < 2) return std::nullopt;
  const Access &first = accesses[0], &second = accesses[1];
  Finding finding{Verdict::race, fmt::format("race: {} at {} by {}, {} at {} by {}", first.what, first.where,
                                             first.who, second.what, second.where, second.who)};
  for (const std::string& line : report) {
    if (!line.empty()) finding.detail.push_back(printable(line, 300));
  }
  return finding;
}

}  // namespace plumb
