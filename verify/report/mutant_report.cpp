#include "verify/report/mutant_report.hpp"

#include <fmt/format.h>

#include "verify/report/page.hpp"

namespace plumb {

std::string write_mutant_page(const std::string& path, const MutantTable& t) {
  std::string out = page_head("Plumbline mutants");
  out += fmt::format("<h1>mutants: <b class={}>{} of {}</b> killed</h1>\n<p><code>{}</code></p>\n<div class=wide><table class=rows>\n<tr><th>operator<th>planted fault<th>no.",
                     t.killed == t.counted ? "pt" : "ft", t.killed, t.counted, escape_markup(t.command));
  for (const std::string& i : t.instruments) out += "<th>" + escape_markup(i);
  out += "<th>what was changed</tr>\n";
  for (const MutantLine& line : t.lines) {
    out += fmt::format("<tr><td>{}<th title=\"seen in: {}\">{}<td class=n>{}", escape_markup(line.op), escape_markup(line.incident), escape_markup(line.name),
                       escape_markup(line.number));
    for (const std::string& c : line.cells) {
      out += fmt::format("<td class={} title=\"{}\">{}", c == "killed" ? "p" : c == "survived" ? "f" : "k", escape_markup(c == "killed" ? line.how : ""),
                         escape_markup(c));
    }
    out += fmt::format("<td>{}</tr>\n", escape_markup(line.fault));
  }
  out += "</table></div>\n<h2>planted in the judge itself</h2>\n<table class=rows>\n";
  for (const auto& [fault, noticed] : t.judges) {
    out += fmt::format("<tr><th>{}<td class={}>{}</tr>\n", escape_markup(fault), noticed == "SURVIVED" ? "f" : "k", escape_markup(noticed));
  }
  PageFile page(path);
  page.write(out + "</table>\n" + page_foot());
  return page.trouble();
}

std::string write_mutant_markdown(const std::string& path, const MutantTable& t) {
  std::string out = fmt::format("**mutants: {} of {} killed**\n\n| operator | planted fault | no. |", t.killed, t.counted), rule = "|---|---|---:|";
  for (const std::string& i : t.instruments) out += " " + i + " |", rule += "---|";
  out += "\n" + rule + "\n";
  for (const MutantLine& line : t.lines) {
    out += fmt::format("| {} | {} | {} |", line.op, line.name, line.number);
    for (const std::string& c : line.cells) out += c == "survived" ? " **survived** |" : " " + c + " |";
    out += "\n";
  }
  out += "\n| planted in the judge | noticed by |\n|---|---|\n";
  for (const auto& [fault, noticed] : t.judges) out += fmt::format("| {} | {} |\n", fault, noticed);
  PageFile page(path);
  page.write(out);
  return page.trouble();
}

}  // namespace plumb
