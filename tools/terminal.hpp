// What the programs share on a terminal: its width and colours, one line of progress, times and sizes as text, and an
// end that reports a full disk. Header only, so that a program links nothing for it.
#pragma once
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/exit_code.hpp"

namespace plumb {

/// An environment variable, "" where it is not set.
[[nodiscard]] inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Columns of the terminal that `file` is; 0 where it is none. To be asked again before each use: windows change their size.
[[nodiscard]] inline std::size_t terminal_columns(std::FILE* file) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (isatty(fileno(file)) == 0) return 0;
  return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

/// Whether colours are to be written: to a terminal that has them, unless NO_COLOR is set.
[[nodiscard]] inline bool wants_color(std::FILE* file) {
  return isatty(fileno(file)) != 0 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

/// The text as lines of at most `columns` characters (0: one line), broken at blanks, and in a longer word behind a comma: never
/// within a number. A word without either is longer than `columns`.
[[nodiscard]] inline std::vector<std::string> wrapped(std::string text, std::size_t columns) {
  std::vector<std::string> lines;
  while (columns > 0 && text.size() > columns) {
    const std::size_t first = text.find_first_not_of(' ');
    std::size_t cut = text.rfind(' ', columns), next = cut + 1;
    if (cut == std::string::npos || cut < first) {
      cut = text.rfind(',', columns - 1);
      if (cut == std::string::npos) cut = text.find_first_of(" ,", columns);
      if (cut == std::string::npos) break;
      next = text[cut] == ',' ? ++cut : cut + 1;
    }
    lines.push_back(text.substr(0, text.find_last_not_of(' ', cut - 1) + 1));
    text.erase(0, std::min(text.find_first_not_of(' ', next), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.push_back(std::move(text));
  return lines;
}

/// wrapped() as one text: each line behind `indent` blanks, and ended.
[[nodiscard]] inline std::string wrapped_text(const std::string& text, std::size_t columns,
                                              std::size_t indent = 0) {
  std::string all;
  for (const std::string& line : wrapped(text, columns > indent ? columns - indent : columns))
    all += fmt::format("{:{}}{}\n", "", indent, line);
  return all;
}

/// One line on stderr that is written over, and only on a terminal. It is never wrapped: it fits in the width that the
/// terminal has at that moment, and in kMostColumns, so that a window made narrower up to there leaves no piece of it.
class Progress {
 public:
  explicit Progress(bool quiet = false) : on_(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void say(const std::string& text) {
    if (!on_) return;
    // a character in the last column would make some terminals begin a line
    const std::size_t columns = std::min(terminal_columns(stderr) - 1, kMostColumns);
    fmt::print(stderr, "\r\x1b[K{}", printable(text, kMostColumns).substr(0, columns));
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
    shown_ = false;
  }

 private:
  static constexpr std::size_t kMostColumns = 79;
  bool on_, shown_ = false;
};

/// Seconds since it was made.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "1.23 s", "45.6 ms", "7.8 us".
[[nodiscard]] inline std::string show_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

/// Memory: "812 B", "5 KiB", "812 MiB", "12.3 GiB".
[[nodiscard]] inline std::string show_bytes(std::int64_t bytes) {
  constexpr std::int64_t kLimit = 10240;  // of one unit, before the next larger one is used
  if (bytes < kLimit) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < kLimit) return fmt::format("{:.0f} KiB", kib);
  const double mib = kib / 1024;
  return mib < kLimit ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

/// "1,234,567".
[[nodiscard]] inline std::string show_grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

/// Peak resident memory of this process in bytes; 0 where the system does not tell.
[[nodiscard]] inline std::int64_t peak_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::int64_t>(usage.ru_maxrss) * 1024 : 0;
}

/// "error: WHAT" on stderr. Unlike fmt::print it does not throw where stderr cannot be written.
inline void say_error(const char* what) { std::fprintf(stderr, "error: %s\n", what); }

/// Flushes standard output and ends the program at once with `code`; with kUsage where standard output could not
/// be written. Libraries' destructors do not run: OpenBLAS would wait there for threads that the system refused to start.
[[noreturn]] inline void end_program(int code) {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0 || failed_before) {
    say_error("standard output: cannot write");
    code = code == kOk ? static_cast<int>(kUsage) : code;
  }
  std::fflush(stderr);
  _exit(code);
}

/// Runs `run()` and ends the program with what it returns; an exception is one line `error: ...` and kUsage. `advice`: what a person
/// can do about too little memory. `before_end` as end_where_memory_is_exhausted() takes it.
template <class Run>
[[noreturn]] void run_program(Run&& run, void (*before_end)() noexcept, const std::string& advice = "") {
  end_where_memory_is_exhausted(before_end);
  int code = kUsage;
  try {
    code = run();
  } catch (const std::exception& e) { say_error(ending_text(e, advice).c_str()); }
  end_program(code);
}

}  // namespace plumb
