// verify --mutants as a table on the console, as JSON lines, as a page and as Markdown: mutants by instruments.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "verify/judge/verdict.hpp"

namespace plumb {

struct MutantLine {
  std::string op, name, fault, incident, how, repro;
  int number = 0;                  // in the list of incidents; 0: none
  std::vector<std::string> cells;  // one per instrument: killed, survived, not run, not tried, -
  bool judged = false, survived = false;
};

struct MutantTable {
  std::string command;
  std::vector<std::string> instruments;
  std::vector<MutantLine> lines;  // of operators
  std::vector<std::pair<std::string, std::string>>
      judges;  // of the judge: its name, and what noticed it or "SURVIVED"
  int killed = 0, counted = 0, not_judged = 0;
};

struct MutantReports {
  std::string json, html, markdown;  // paths; "": none
};

void print_mutant_table(const MutantTable&, bool verbose, bool color);
/// Writes the reports asked for; returns what went wrong, a line each.
[[nodiscard]] std::vector<std::string> write_mutant_reports(const MutantReports&, const MutantTable&);

}  // namespace plumb
