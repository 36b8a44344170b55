#include "verify/report/mutant_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/core/error.hpp"
#include "tools/terminal.hpp"
#include "verify/report/page.hpp"
#include "verify/report/record_file.hpp"
#include "verify/report/table.hpp"

namespace plumb {
namespace {

std::string mutant_number(const MutantLine& line) {
  return line.number > 0 ? std::to_string(line.number) : "";
}

std::string page_of(const MutantTable& t) {
  std::string out = page_head("Plumbline mutants");
  out += fmt::format(
      "<h1>mutants: <b class={}>{} of {}</b> killed</h1>\n<p><code>{}</code></p>\n<div class=wide><table "
      "class=rows>\n<tr><th>operator<th>mutant<th>no.",
      t.killed == t.counted ? "pt" : "ft", t.killed, t.counted, escape_markup(t.command));
  for (const std::string& i : t.instruments) out += "<th>" + escape_markup(i);
  out += "<th>what was changed</tr>\n";
  for (const MutantLine& line : t.lines) {
    out += fmt::format("<tr><td>{}<th title=\"seen in: {}\">{}<td class=n>{}", escape_markup(line.op),
                       escape_markup(line.incident), escape_markup(line.name), mutant_number(line));
    for (const std::string& c : line.cells) {
      out += fmt::format("<td class={} title=\"{}\">{}",
                         c == "killed"     ? "p"
                         : c == "survived" ? "f"
                                           : "k",
                         escape_markup(c == "killed" ? line.how : ""), escape_markup(c));
    }
    out += fmt::format("<td>{}</tr>\n", escape_markup(line.fault));
  }
  out += "</table></div>\n<h2>mutants of the judge itself</h2>\n<table class=rows>\n";
  for (const auto& [fault, noticed] : t.judges) {
    out += fmt::format("<tr><th>{}<td class={}>{}</tr>\n", escape_markup(fault),
                       noticed == "SURVIVED" ? "f" : "k", escape_markup(noticed));
  }
  return out + "</table>\n" + page_foot();
}

std::string markdown_of(const MutantTable& t) {
  std::string out = fmt::format("**mutants: {} of {} killed**\n\n| operator | mutant | no. |", t.killed,
                                t.counted),
              rule = "|---|---|---:|";
  for (const std::string& i : t.instruments) out += " " + i + " |", rule += "---|";
  out += "\n" + rule + "\n";
  for (const MutantLine& line : t.lines) {
    out += fmt::format("| {} | {} | {} |", line.op, line.name, mutant_number(line));
    for (const std::string& c : line.cells) out += c == "survived" ? " **survived** |" : " " + c + " |";
    out += "\n";
  }
  out += "\n| mutant of the judge | noticed by |\n|---|---|\n";
  for (const auto& [fault, noticed] : t.judges) out += fmt::format("| {} | {} |\n", fault, noticed);
  return out;
}

std::string json_line(const MutantTable& t, const MutantLine& line) {
  nlohmann::json j{{"operator", line.op},
                   {"mutant", line.name},
                   {"number", line.number},
                   {"fault", line.fault},
                   {"how", line.how}};
  for (std::size_t i = 0; i < line.cells.size(); ++i) j[t.instruments[i]] = line.cells[i];
  return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

void write_json(const std::string& path, const MutantTable& t, std::vector<std::string>& write_errors) {
  RecordFile file(path, "", "");
  for (const MutantLine& line : t.lines) file.append(json_line(t, line));
  if (!file.write_error().empty()) write_errors.push_back(file.write_error());
}

void write_page(const std::string& path, const std::string& text, std::vector<std::string>& write_errors) {
  PageFile page(path);
  page.finish(text);
  if (!page.write_error().empty()) write_errors.push_back(page.write_error());
}

}  // namespace

void print_mutant_table(const MutantTable& t, bool verbose, bool color) {
  std::size_t longest = 8;
  for (const MutantLine& line : t.lines) longest = std::max(longest, line.op.size());
  const auto names = [&](const std::string& op, const std::string& name) {
    return fmt::format("{:<{}}  {}", op, longest, name);
  };
  std::vector<std::string> heads{"no."};
  heads.insert(heads.end(), t.instruments.begin(), t.instruments.end());
  TextTable table(names("operator", "mutant"), heads);
  for (const MutantLine& line : t.lines) {
    std::vector<TextCell> cells{{mutant_number(line)}};
    for (const std::string& cell : line.cells)
      cells.push_back({cell, !color ? "" : cell == "killed" ? "32" : cell == "survived" ? "31" : ""});
    table.add(names(line.op, line.name), std::move(cells));
    if (verbose && line.judged && !line.how.empty()) table.add_note(names("", line.how));
    if (!line.survived) continue;
    table.add_note(fmt::format("{}  {}  {}: {}", painted("SURVIVED", color ? "31" : ""), line.op, line.name,
                               line.fault));
    table.add_note("          repro: " + line.repro);
  }
  const std::size_t columns = terminal_columns(stdout);
  for (const std::string& line : table.lines(columns)) fmt::print("{}\n", line);
  fmt::print("\n");
  TextTable judges("mutants of the judge itself", {});
  for (const auto& [fault, noticed] : t.judges) {
    judges.add("  " + fault, {});
    judges.add_note("    " + (noticed == "SURVIVED" ? noticed : "noticed: " + noticed));
  }
  for (const std::string& line : judges.lines(columns)) fmt::print("{}\n", line);
}

std::vector<std::string> write_mutant_reports(const MutantReports& to, const MutantTable& t) {
  std::vector<std::string> write_errors;
  const auto attempt = [&](const std::string& path, const auto& write) {
    if (path.empty()) return;
    try {
      write();
    } catch (const Error& e) { write_errors.emplace_back(e.what()); }
  };
  attempt(to.json, [&] { write_json(to.json, t, write_errors); });
  attempt(to.html, [&] { write_page(to.html, page_of(t), write_errors); });
  attempt(to.markdown, [&] { write_page(to.markdown, markdown_of(t), write_errors); });
  return write_errors;
}

}  // namespace plumb
