// The options of a file that is read, the same in every program.
#pragma once
#include <string>

#include <CLI/CLI.hpp>

#include "datasets/formats/format_table.hpp"
#include "datasets/formats/load_matrix.hpp"
#include "reference/core/text.hpp"

namespace plumb {

/// `file`: what the help calls it.
inline void add_read_options(CLI::App* cmd, ReadOptions& options, const std::string& file) {
  cmd->add_option("--from", options.format,
                  "format of " + file + ", where neither content nor name tell it: " + input_format_names())
      ->type_name("FORMAT");
  cmd->add_option("--base", options.edges.base,
                  "first id of an edge list, 0 or 1 (default: 0 where it occurs, else 1, which is told)")
      ->check(CLI::Range(0, 1));
  cmd->add_option_function<std::string>(
         "--columns", [&options](const std::string& words) { options.edges.columns = split(words, ','); },
         "columns of an edge list, as from,to,-,weight (default: by the header, else the first two or three)")
      ->type_name("LIST");
}

}  // namespace plumb
