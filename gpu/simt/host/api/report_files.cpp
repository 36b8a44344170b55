#include "gpu/simt/host/api/report_files.hpp"

#include "gpu/simt/host/api/report_page.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace plumb::simt {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct ReportFiles {
  fs::path json_file, sarif_file, page;  // empty: not asked for
  std::uint64_t seed = 0;
  std::vector<Finding> findings;
};
ReportFiles& files() {
  static auto& all = *new ReportFiles;  // outlives the program's own statics
  return all;
}

json coordinates(uint3 v) { return {v.x, v.y, v.z}; }

json access_of(const Place& place, const ThreadId& id) {
  json out;
  if (place.line != 0) out["file"] = place.file, out["line"] = place.line;
  if (id.host) {
    out["host"] = true;
  } else {
    out["block"] = coordinates(id.block), out["thread"] = coordinates(id.thread);
  }
  return out;
}

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

template <class Each>
json list(Each&& each) {
  json out = json::array();
  for (const Finding& f : files().findings) out.push_back(each(f));
  return out;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream out(path);
  out << text << "\n";
  out.flush();
  if (!out) std::fprintf(stderr, "%s: the findings cannot be written to it\n", path.c_str());
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
}

bool page_is_asked_for() { return !files().page.empty(); }

void add_to_report_files(const Finding& finding) { files().findings.push_back(finding); }

void write_report_files() {
  if (!files().json_file.empty())
    write(files().json_file, text_of({{"seed", files().seed}, {"findings", list(to_json)}}));
  if (!files().page.empty()) write(files().page, report_page(files().findings, files().seed));
  if (files().sarif_file.empty()) return;
  const json run{{"tool", {{"driver", {{"name", "plumbline simt"}}}}}, {"results", list(to_sarif)}};
  write(files().sarif_file, text_of({{"version", "2.1.0"},
                                     {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                                     {"runs", json::array({run})}}));
}

}  // namespace plumb::simt
