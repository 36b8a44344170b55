// A program as a person runs it: what it says and how it ends.
#pragma once
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace plumb::testing {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string text;    // stdout and stderr

  [[nodiscard]] bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
  [[nodiscard]] std::size_t longest_line() const {
    std::size_t longest = 0, begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      longest = std::max(longest, end - begin);
    return std::max(longest, text.size() - begin);
  }
  /// From 0; -1: the last.
  [[nodiscard]] std::string line(int index) const {
    std::string body = text;
    while (!body.empty() && body.back() == '\n') body.pop_back();
    if (index < 0) return body.substr(body.rfind('\n') + 1);
    std::size_t begin = 0;
    for (; index > 0; --index) begin = body.find('\n', begin) + 1;
    return body.substr(begin, body.find('\n', begin) - begin);
  }
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) outcome.text += buffer;
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// Checks how a program ended and that it said each of `parts`; returns the same.
inline Outcome expect(Outcome outcome, int exit_code, const std::vector<std::string>& parts = {}) {
  CAPTURE(outcome.text);
  CHECK(outcome.exit_code == exit_code);
  for (const std::string& part : parts) CHECK_MESSAGE(outcome.has(part), part);
  return outcome;
}

}  // namespace plumb::testing
