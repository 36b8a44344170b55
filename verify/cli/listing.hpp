// verify --list, --describe, --explain.
#pragma once
#include <string>

namespace plumb {

/// what: ops, variants, cases, or an operator's name. Returns the exit code.
int print_list(const std::string& what, const std::string& case_filter);
int print_description(const std::string& op);
int print_explanation(const std::string& word);

}  // namespace plumb
