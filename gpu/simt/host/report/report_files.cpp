#include "gpu/simt/host/report/report_files.hpp"

#include "gpu/simt/host/report/ledger.hpp"
#include "gpu/simt/host/report/report_page.hpp"
#include "gpu/simt/race/race.hpp"

#include <unistd.h>

#include <fmt/core.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace plumb::simt {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct ReportFiles {
  fs::path json_file, sarif_file, page;  // empty: not asked for
  std::uint64_t seed = 0;
  std::vector<Finding> findings;  // of this process
  bool is_refused = false;        // one could not be written, which is told once
};
ReportFiles& files() {
  static auto& all = *new ReportFiles;  // outlives the program's own statics
  return all;
}

json coordinates(uint3 v) { return {v.x, v.y, v.z}; }

json access_of(const Place& place, const ThreadId& id) {
  json out;
  if (place.line != 0) out["file"] = place.file, out["line"] = place.line;
  if (!place.by.empty()) out["by"] = place.by;
  if (id.host) {
    out["host"] = true;
  } else {
    out["block"] = coordinates(id.block), out["thread"] = coordinates(id.thread);
  }
  return out;
}

}  // namespace

json to_json(const Finding& f) {
  json out{{"kind", name_of(f.kind)},
           {"note", f.is_note},
           {"kernel", f.kernel},
           {"text", f.text},
           {"at", access_of(f.place, f.thread)},
           {"repeats", f.repeats}};
  if (f.has_other) out["other"] = access_of(f.other_place, f.other_thread);
  if (!f.other_kernel.empty()) out["other"]["kernel"] = f.other_kernel;
  if (!f.hint.empty()) out["hint"] = f.hint;
  if (!f.suppressed.empty()) out["suppressed"] = f.suppressed;
  if (!f.array.empty()) out["array"] = f.array, out["offset_bytes"] = f.offset;
  return out;
}

namespace {

json location(const Place& place) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", place.file}}}, {"region", {{"startLine", place.line}}}}}};
}

json to_sarif(const Finding& f) {
  std::string message = f.kernel.empty() ? f.text : "in " + f.kernel + ": " + f.text;
  if (!f.hint.empty()) message += "; " + f.hint;
  json out{
      {"ruleId", name_of(f.kind)}, {"level", f.is_note ? "note" : "error"}, {"message", {{"text", message}}}};
  if (f.place.line != 0) out["locations"] = {location(f.place)};
  if (!f.suppressed.empty()) out["suppressions"] = {{{"kind", "external"}, {"justification", f.suppressed}}};
  if (f.has_other && f.other_place.line != 0) out["relatedLocations"] = {location(f.other_place)};
  return out;
}

// What one writing of the files says.
struct State {
  std::vector<Finding> findings;  // of all processes
  bool has_ended = false;
  RunEnd end;
};

template <class Each>
json list(const State& state, Each&& each) {
  json out = json::array();
  for (const Finding& f : state.findings) out.push_back(each(f));
  return out;
}

json invocation(const RunEnd& end) {
  json out{{"executionSuccessful", end.is_complete}};
  if (!end.is_complete) out["exitCodeDescription"] = end.how;
  return out;
}

bool put(const fs::path& path, const std::string& text) {
  std::ofstream out(path);
  out << text << "\n";
  out.close();
  return !out.fail();
}

// In its place at once: a reader, and who looks after the process was killed, sees the text of one call.
bool replace(const fs::path& path, const std::string& text) {
  std::error_code failed;
  const fs::path target = fs::is_symlink(path, failed) ? fs::canonical(path, failed) : path;
  const fs::path next = target.string() + fmt::format(".{}", getpid());
  bool done = put(next, text);
  if (done) fs::rename(next, target, failed), done = !failed;
  if (!done) fs::remove(next, failed);
  return done;
}

void write(const fs::path& path, const State& state, const std::string& text) {
  std::error_code none;
  const bool is_stream = fs::exists(path, none) && !fs::is_regular_file(path, none);
  if (is_stream && !state.has_ended) return;  // what goes to a pipe goes once
  if (is_stream ? put(path, text) : replace(path, text)) return;
  if (!std::exchange(files().is_refused, true))
    std::fprintf(stderr, "%s: the findings cannot be written to it\n", path.c_str());
}

std::string text_of(const json& what) { return what.dump(1, ' ', true, json::error_handler_t::replace); }

fs::path named_by(const char* variable) {
  const char* name = std::getenv(variable);
  return name == nullptr || *name == 0 ? fs::path() : fs::absolute(name);
}

}  // namespace

void open_report_files(std::uint64_t seed) {
  files().json_file = named_by("PLUMB_SIMT_JSON");
  files().sarif_file = named_by("PLUMB_SIMT_SARIF");
  files().page = named_by("PLUMB_SIMT_HTML");
  files().seed = seed;
  write_report_files(nullptr);  // who looks after a kill finds no older run's
}

bool page_is_asked_for() { return !named_by("PLUMB_SIMT_HTML").empty(); }

bool files_are_asked_for() {
  return page_is_asked_for() || !named_by("PLUMB_SIMT_JSON").empty() || !named_by("PLUMB_SIMT_SARIF").empty();
}

bool add_to_report_files(const Finding& finding) {
  std::vector<Finding>& all = files().findings;
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const Finding& f) { return same_finding(f, finding); });
  if (same == all.end()) {
    all.push_back(finding);
    return true;
  }
  if (!same->is_note || finding.is_note) return false;
  *same = finding;
  return true;
}

void forget_own_findings() { files().findings.clear(); }

namespace {

RunEnd end_of(const char* ended, const OfOthers& others) {
  if (ended == nullptr) return {false, "has not ended, or was killed"};
  const std::string how = ended;
  if (how != "exit" && how != "exec") return {false, how};
  if (others.any_cut) return {false, "a process of the program was cut"};
  if (others.any_open) return {false, "a process of the program has not ended, or was killed"};
  return {true, how};
}

}  // namespace

void write_report_files(const char* ended) {
  const ReportFiles& all = files();
  if (all.json_file.empty() && all.page.empty() && all.sarif_file.empty()) return;
  const LedgerLock lock;
  OfOthers others = of_others();
  State state{std::move(others.findings), ended != nullptr, {}};
  for (const Finding& f : all.findings) {
    state.findings.push_back(f);
    state.findings.back().repeats = repeats_of(f);
  }
  state.end = end_of(ended, others);
  if (!all.json_file.empty())
    write(all.json_file, state,
          text_of({{"seed", all.seed},
                   {"complete", state.end.is_complete},
                   {"ended", state.end.how},
                   {"findings", list(state, to_json)}}));
  if (!all.page.empty()) write(all.page, state, report_page(state.findings, all.seed, state.end));
  if (all.sarif_file.empty()) return;
  const json run{{"tool", {{"driver", {{"name", "plumbline simt"}}}}},
                 {"invocations", json::array({invocation(state.end)})},
                 {"results", list(state, to_sarif)}};
  write(all.sarif_file, state,
        text_of({{"version", "2.1.0"},
                 {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"runs", json::array({run})}}));
}

}  // namespace plumb::simt
