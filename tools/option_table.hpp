// The options of a program as a table, of which tools/pages.py makes man pages and completion.
#pragma once
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/help.hpp"

namespace plumb {

/// One line of the table: words separated by tabs; tabs and line ends within a word are written as \t and \n.
inline void print_table_line(std::initializer_list<std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += '\t';
    for (const char c : word)
      line += c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  std::puts(line.c_str());
}

/// `command` with its options and, behind it, its sub-commands: "command", name, description, examples and notes; "option", its names, what it takes
/// (empty: nothing), its group, description. Hidden ones are left out.
inline void print_command(const CLI::App& command, const std::string& name) {
  const auto* const help = dynamic_cast<const HelpFormatter*>(command.get_formatter().get());
  print_table_line({"command", name, command.get_description(),
                    help != nullptr ? help->words_of(&command) : command.get_footer()});
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string takes = option->get_items_expected_max() > 0 ? option->get_type_name() : "";
    print_table_line(
        {"option", option->get_name(false, true), takes, option->get_group(), option->get_description()});
  }
  for (const CLI::App* sub : command.get_subcommands({})) print_command(*sub, name + ' ' + sub->get_name());
}

/// Whether the program is called with --option-table alone, and then prints it.
inline bool printed_option_table(const CLI::App& app, const char* name, int argc, const char* const* argv) {
  if (argc != 2 || std::string(argv[1]) != "--option-table") return false;
  print_command(app, name);
  return true;
}

}  // namespace plumb
