// Reporters: each receives every record when it is made, and the totals at the end.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "verify/judge/verdict.hpp"

namespace plumb {

/// What a report says about the whole run.
struct RunInfo {
  std::string command;  // as typed
  std::string version;  // of Plumbline
  std::string host;     // cores, compiler
  std::vector<std::string>
      devices;               // what runs the variants, a line each: "cpu: ...", "gpu: ...", "simt: ..."
  std::int64_t planned = 0;  // records to come
};

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void begin(const RunInfo&) {}
  virtual void record(const Record&) = 0;
  virtual void end(const Totals&, double seconds) { (void)seconds; }
  /// What went wrong while writing ("report.json: No space left on device"), or "". The judging goes on nevertheless.
  [[nodiscard]] virtual std::string write_error() const { return {}; }
};

struct ConsoleOptions {
  bool color = false, progress = false, verbose = false, quiet = false;
  std::FILE* out = stdout;  // stderr where a report takes standard output
  bool all = false;         // every failure in full, at once
};
[[nodiscard]] std::unique_ptr<Reporter> make_console(ConsoleOptions);
/// One JSON object per line, written whole and at once: after a kill -9 every line is a record, and none is half. The
/// last line has the totals, and `complete`: whether all planned records are there.
[[nodiscard]] std::unique_ptr<Reporter> make_json_lines(const std::string& path);
/// JUnit XML, closed again after every record: a valid document at every moment, with an error of its own until all planned records are
/// there.
[[nodiscard]] std::unique_ptr<Reporter> make_junit(const std::string& path);
[[nodiscard]] std::unique_ptr<Reporter> make_csv(const std::string& path);
/// One self-contained page; a whole page at every moment, replaced at intervals.
[[nodiscard]] std::unique_ptr<Reporter> make_html(const std::string& path);
/// A table per operator, for a pull request.
[[nodiscard]] std::unique_ptr<Reporter> make_markdown(const std::string& path);

/// An error divided by its bound, for people: "0.25", "7.5e+14", "infinite (the bound is 0)".
[[nodiscard]] std::string ratio_words(double ratio);

/// A failure's further lines, without what the reason has said already; and without the map, where `map` is false.
[[nodiscard]] std::vector<std::string> further_lines(const Record&, bool map = true);

/// "verify: P passed, F failed, S skipped (N runs, T s)".
[[nodiscard]] std::string last_line(const Totals&, double seconds, bool color = false);

}  // namespace plumb
