// Reports for machines: JSON lines, JUnit XML, CSV.
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verify/report/page.hpp"
#include "verify/report/record_file.hpp"
#include "verify/report/reporter.hpp"

namespace plumb {
namespace {

using nlohmann::json;

// JSON has no infinity: such numbers are written as strings.
json number(double v) { return std::isfinite(v) ? json(v) : json(fmt::format("{}", v)); }

json to_json(const Record& r) {
  json out{{"case", r.case_id},    {"operator", r.op},           {"dtype", r.dtype},
           {"variant", r.variant}, {"verdict", name(r.verdict)}, {"reason", r.reason},
           {"runs", r.runs},       {"seconds", r.seconds},       {"repro", r.repro}};
  if (!r.chosen.empty()) out["chosen"] = r.chosen;
  if (r.two_callers > 0) out["two_callers"] = r.two_callers;
  if (!r.detail.empty()) out["detail"] = r.detail;
  if (r.worst.elements > 0) {
    out["output"] = r.output;
    out["elements"] = r.worst.elements;
    out["misses"] = r.worst.misses;
    out["max_err_over_bound"] = number(r.worst.max_ratio);
    out["mean_err_over_bound"] = number(r.worst.mean_ratio);
    out["max_err_over_uM"] = number(r.worst.max_unit_ratio);
    out["relative_l1"] = number(r.worst.relative_l1);
    out["relative_l2"] = number(r.worst.relative_l2);
    out["worst_element"] = r.worst.worst;
  }
  return out;
}

std::string dump(const json& j) { return j.dump(-1, ' ', true, json::error_handler_t::replace) + "\n"; }

class JsonLines final : public Reporter {
 public:
  explicit JsonLines(const std::string& path) : file_(path, "", "") {}
  void begin(const RunInfo& info) override {
    planned_ = info.planned;
    file_.append(dump({{"plumbline", info.version},
                       {"command", info.command},
                       {"host", info.host},
                       {"devices", info.devices},
                       {"begun", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                       {"planned", info.planned}}));
  }
  void record(const Record& r) override { file_.append(dump(to_json(r))); }
  void end(const Totals& t, double seconds) override {
    file_.append(dump({{"passed", t.passed},
                       {"failed", t.failed},
                       {"skipped", t.skipped},
                       {"runs", t.runs},
                       {"planned", planned_},
                       {"complete", t.all() == planned_},
                       {"total_seconds", seconds}}));
    file_.finish();
  }
  std::string write_error() const override { return file_.write_error(); }

 private:
  RecordFile file_;
  std::int64_t planned_ = 0;
};

// A line break in an attribute is a blank to a parser of XML unless it is written as a reference.
std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : escape_markup(text)) out += c == '\n' ? std::string("&#10;") : std::string(1, c);
  return out;
}

class JUnit final : public Reporter {
 public:
  explicit JUnit(const std::string& path)
      : file_(path,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"plumbline "
              "verify\">\n",
              "</testsuite>\n</testsuites>\n",
              "<testcase classname=\"verify\" name=\"all records\"><error type=\"incomplete\" "
              "message=\"records are "
              "missing: the run has not ended, or was cut\"/></testcase>\n") {}
  void begin(const RunInfo& info) override { planned_ = info.planned; }
  void record(const Record& r) override {
    std::string text = fmt::format("<testcase classname=\"{}.{}\" name=\"{} {}\" time=\"{:.6f}\"", r.op,
                                   r.dtype, escape_xml(r.variant), escape_xml(r.case_id), r.seconds);
    if (is_passed(r.verdict)) {
      text += "/>\n";
    } else if (is_skipped(r.verdict)) {
      text += fmt::format("><skipped message=\"{}\"/></testcase>\n", escape_xml(r.reason));
    } else {
      std::string body;
      for (const std::string& line : r.detail) body += line + "\n";
      body += "repro: " + r.repro + "\n";
      const bool broken =
          r.verdict == Verdict::crash || r.verdict == Verdict::timeout || r.verdict == Verdict::error;
      text +=
          fmt::format("><{0} type=\"{1}\" message=\"{2}\">{3}</{0}></testcase>\n",
                      broken ? "error" : "failure", name(r.verdict), escape_xml(r.reason), escape_xml(body));
    }
    file_.append(text);
  }
  void end(const Totals& t, double) override { file_.finish(t.all() >= planned_); }
  std::string write_error() const override { return file_.write_error(); }

 private:
  RecordFile file_;
  std::int64_t planned_ = 0;
};

std::string quote_csv(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ' ' : c);
  return out + "\"";
}

class Csv final : public Reporter {
 public:
  explicit Csv(const std::string& path)
      : file_(path,
              "case,variant,verdict,reason,max_err_over_bound,max_err_over_uM,misses,elements,runs,seconds\n",
              "") {}
  void record(const Record& r) override {
    file_.append(fmt::format("{},{},{},{},{},{},{},{},{},{:.9f}\n", quote_csv(r.case_id),
                             quote_csv(r.variant), name(r.verdict), quote_csv(r.reason), r.worst.max_ratio,
                             r.worst.max_unit_ratio, r.worst.misses, r.worst.elements, r.runs, r.seconds));
  }
  void end(const Totals&, double) override { file_.finish(); }
  std::string write_error() const override { return file_.write_error(); }

 private:
  RecordFile file_;
};

}  // namespace

std::unique_ptr<Reporter> make_json_lines(const std::string& path) {
  return std::make_unique<JsonLines>(path);
}
std::unique_ptr<Reporter> make_junit(const std::string& path) { return std::make_unique<JUnit>(path); }
std::unique_ptr<Reporter> make_csv(const std::string& path) { return std::make_unique<Csv>(path); }

}  // namespace plumb
