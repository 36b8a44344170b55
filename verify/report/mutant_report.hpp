// verify --mutants as a page and as Markdown: planted faults by instruments.
#pragma once
#include <string>
#include <vector>

namespace plumb {

struct MutantLine {
  std::string op, name, number, fault, incident, how;
  std::vector<std::string> cells;  // one per instrument: killed, survived, not run, -
};

struct MutantTable {
  std::string command;
  std::vector<std::string> instruments;
  std::vector<MutantLine> lines;                            // planted in operators
  std::vector<std::pair<std::string, std::string>> judges;  // planted in the judge: fault, what noticed it or "SURVIVED"
  int killed = 0, counted = 0;
};

/// Both return what went wrong, or "".
[[nodiscard]] std::string write_mutant_page(const std::string& path, const MutantTable&);
[[nodiscard]] std::string write_mutant_markdown(const std::string& path, const MutantTable&);

}  // namespace plumb
