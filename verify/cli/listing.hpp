// verify --list, --describe, --explain.
#pragma once
#include <string>

#include "verify/selection/tier_cases.hpp"

namespace plumb {

struct ListOptions {
  std::string cases;        // as --case takes them; "": all
  Tier tier = Tier::smoke;  // whose covering arrays are shown beside the cases of the contract
  CaseSpeed speed = CaseSpeed::device;
  bool why = false;  // the class that each case covers, per parameter
};

/// what: ops, variants, cases, or an operator's name. Returns the exit code.
int print_list(const std::string& what, const ListOptions& options);
int print_description(const std::string& op);
int print_explanation(const std::string& word);

}  // namespace plumb
