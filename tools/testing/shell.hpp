// A program as a person runs it: what it says and how it ends.
#pragma once
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// The command on a terminal of so many columns: what it sends there, colours and the steps of a progress line too.
inline Outcome on_terminal(const std::string& command, unsigned short columns) {
  Outcome outcome;
  winsize size{};
  size.ws_row = 24, size.ws_col = columns;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  char buffer[4096];
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;)  // it fails when the child has gone
    outcome.text.append(buffer, static_cast<std::size_t>(n));
  close(terminal);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// What a terminal's lines held one after the other: text between line ends and returns to the first column, without colours.
inline std::vector<std::string> written_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = text.find_first_of("mKJ", i);
    else if (text[i] == '\n' || text[i] == '\r')
      lines.emplace_back();
    else
      lines.back() += text[i];
  }
  return lines;
}

}  // namespace plumb::testing
